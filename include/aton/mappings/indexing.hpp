// SPDX-License-Identifier: MIT
// Reading by index: aten's slice, select, index, gather, take, diagonal, as_strided, unfold ...
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr auto slice_dim = [](graph<13> g, value self, std::int64_t dim, std::optional<sym_int> start,
                                     std::optional<sym_int> end, sym_int step) {
    return slice(g, self, dim, start.value_or(0), end.value_or(to_the_end), step);
};
inline constexpr auto select_dim = [](graph<13> g, value self, std::int64_t dim, sym_int index) {
    return select(g, self, dim, index);
};

/// Indices in a dtype that ONNX supports: int32 or int64.
inline value as_index(graph<13> g, value index) {
    return index.dtype() == dtype::int32 ? index : g.cast(index, dtype::int64);
}

/// The index tensors of x and the axes that they index; a mask is replaced by the indices of its true elements.
struct index_tensors {
    safe_vector<std::int64_t> axes;
    safe_vector<value> values;

    /// Whether the axes are adjacent; if not, the indexed dimensions of the result come first.
    [[nodiscard]] bool adjacent() const {
        return axes.back() - axes.front() + 1 == static_cast<std::int64_t>(axes.size());
    }
};

inline bool is_mask(value index) { return index.dtype() == dtype::bool_ || index.dtype() == dtype::uint8; }

inline index_tensors read_indices(graph<13> g, value x, safe_span<optional_value const> indices) {
    index_tensors out;
    std::int64_t axis = 0;
    for (optional_value const& index : indices) {
        if (!index) {
            ++axis;
        } else if (!is_mask(*index)) {
            out.axes.push_back(axis++);
            out.values.push_back(g.cast(*index, dtype::int64));
        } else {
            if (index->rank() == 0) throw unsupported_error("a mask without dimensions");
            value const positions = g.op<"NonZero">(g.cast(*index, dtype::bool_));
            for (std::int64_t i = 0; i != index->rank(); ++i) {
                out.axes.push_back(axis++);
                out.values.push_back(select(g, positions, 0, i));
            }
        }
    }
    if (axis > x.rank()) throw unsupported_error("more indices than dimensions");
    return out;
}

/// The indices, broadcast to one shape and stacked along a new last axis, as GatherND and ScatterND expect them.
inline value coordinates(graph<13> g, index_tensors const& by) {
    if (by.values.size() == 1) return unsqueeze(g, by.values[0], by.values[0].rank());
    value const shape = broadcast_shape(g, by.values);
    safe_vector<value> columns;
    for (value const& v : by.values) {
        value const column = expand_to(g, v, shape);
        columns.push_back(unsqueeze(g, column, column.rank()));
    }
    return g.op<"Concat">(columns, attr::axis_i(columns[0].rank() - 1));
}

/// A permutation of 0 ... rank - 1 that starts with the given axes.
inline safe_vector<std::int64_t> axes_first(safe_span<std::int64_t const> axes, std::int64_t rank) {
    safe_vector<std::int64_t> perm(axes.begin(), axes.end());
    for (std::int64_t a = 0; a != rank; ++a)
        if (std::find(axes.begin(), axes.end(), a) == axes.end()) perm.push_back(a);
    return perm;
}

/// aten::index, x[indices]: the dimensions of adjacent indices stay in place, those of separated indices move to the front.
inline value index_with(graph<13> g, value x, safe_span<optional_value const> indices) {
    auto const given =
        std::count_if(indices.begin(), indices.end(), [](optional_value const& v) { return v.has_value(); });
    if (given == 0) return x;
    auto const first =
        std::find_if(indices.begin(), indices.end(), [](optional_value const& v) { return v.has_value(); });
    std::int64_t const axis = first - indices.begin();
    if (given == 1 && !is_mask(**first)) return gather(g, x, as_index(g, **first), axis);
    if (given == 1 && (*first)->rank() == 1)
        return g.op<"Compress">(x, g.cast(**first, dtype::bool_), attr::axis_i(axis));

    index_tensors const by = read_indices(g, x, indices);
    value const from = permute(g, x, axes_first(by.axes, x.rank()));
    value const found = g.op<"GatherND">(from, coordinates(g, by));
    std::int64_t const depth = found.rank() - (x.rank() - static_cast<std::int64_t>(by.axes.size()));
    if (!by.adjacent() || by.axes.front() == 0) return found;
    safe_vector<std::int64_t> const positions = iota(depth);
    safe_vector<std::int64_t> to;
    for (std::int64_t i = 0; i != depth; ++i) to.push_back(by.axes.front() + i);
    return move_axes(g, found, positions, to);
}
inline constexpr auto index_tensor = [](graph<13> g, value self, safe_span<optional_value const> indices) {
    return index_with(g, self, indices);
};

/// GatherElements. 0-d tensors count as 1-d, and an empty index of any rank gives an empty result.
inline value gather_elements(graph<13> g, value x, std::int64_t dim, value index) {
    if (is_empty(index)) {
        safe_vector<sym_int> const sizes = g.sizes(index);
        return empty_constant(g, constants(sizes), x.dtype());
    }
    std::int64_t const axis = normalize_axis(dim, x.rank());
    value const found =
        g.op<"GatherElements">(at_least_1d(g, x), at_least_1d(g, as_index(g, index)), attr::axis_i(axis));
    return index.rank() == 0 ? reshape(g, found, safe_vector<sym_int>{}) : found;
}

inline constexpr auto take_along = [](graph<13> g, value self, value indices, std::optional<std::int64_t> dim) {
    if (!dim) return gather(g, flat(g, self), flat(g, as_index(g, indices)), 0);
    auto const axis = static_cast<std::size_t>(normalize_axis(*dim, self.rank()));
    safe_vector<sym_int> from = g.sizes(self);
    safe_vector<sym_int> to = g.sizes(indices);
    for (std::size_t i = 0; i != from.size(); ++i) {
        if (i == axis) continue;
        sym_int const wide = from[i].is(1) ? to[i] : to[i].is(1) ? from[i] : larger(g, from[i], to[i]);
        from[i] = wide;
        to[i] = wide;
    }
    return gather_elements(g, expand(g, self, from), *dim, expand(g, indices, to));
};

/// The positions of a diagonal's elements in a flattened matrix of m rows and n columns.
inline value diagonal_positions(graph<13> g, sym_int m, sym_int n, std::int64_t offset) {
    sym_int const below = offset < 0 ? checked_subtract(0, offset) : 0;
    sym_int const right = offset > 0 ? offset : 0;
    sym_int const length = larger(g, smaller(g, subtract(g, m, below), subtract(g, n, right)), 0);
    return arithmetic_sequence(g, add(g, multiply(g, below, n), right), length, add(g, n, 1));
}
inline value diagonal_of(graph<13> g, value x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    std::int64_t const rank = x.rank();
    if (rank < 2) throw unsupported_error("a diagonal of a tensor with fewer than 2 dimensions");
    std::int64_t const axes[] = {normalize_axis(dim1, rank), normalize_axis(dim2, rank)};
    std::int64_t const last[] = {rank - 2, rank - 1};
    value const matrices = move_axes(g, x, axes, last);
    safe_vector<sym_int> sizes = g.sizes(matrices);
    sym_int const n = sizes.back();
    sizes.pop_back();
    sym_int const m = sizes.back();
    sizes.back() = multiply(g, m, n);
    return gather(g, reshape(g, matrices, sizes), diagonal_positions(g, m, n, offset), rank - 2);
}
inline constexpr auto diagonal_dims = [](graph<13> g, value self, std::int64_t offset, std::int64_t dim1,
                                         std::int64_t dim2) { return diagonal_of(g, self, offset, dim1, dim2); };

/// The positions of a strided view's elements in the storage.
inline tensor strided_positions(safe_span<std::int64_t const> size, safe_span<std::int64_t const> stride,
                                std::int64_t offset) {
    tensor positions{dtype::int64, {size.begin(), size.end()}, {}};
    std::int64_t const n = positions.element_count();
    budget::expect("a table of positions", n); // also where a size is negative
    budget::expect("a list of strides", static_cast<std::int64_t>(size.size()), budget::max_rank);
    for (std::int64_t i = 0; i != n; ++i) {
        checked_int at = offset;
        std::int64_t rest = i;
        for (std::size_t k = size.size(); k-- != 0; rest /= size[k]) at = at + checked_int(rest % size[k]) * stride[k];
        if (at < 0) throw unsupported_error("a strided view that starts before the first element");
        positions.append(std::int64_t{at});
    }
    return positions;
}
inline value strided_view(graph<13> g, value x, axis_list size, axis_list stride, std::int64_t offset) {
    tensor positions = strided_positions(size, stride, offset);
    std::int64_t const count = x.shape().element_count();
    for (std::size_t i = 0; i != static_cast<std::size_t>(positions.element_count()); ++i)
        if (count >= 0 && positions.at(i).to<std::int64_t>() >= count)
            throw unsupported_error("as_strided past the last element of its input");
    if (positions.element_count() == 0) return empty_constant(g, size, x.dtype());
    return gather(g, flat(g, x), g.constant(std::move(positions)), 0);
}
/// Whether the strides are those of a contiguous tensor of these sizes, some of which are computed. Ignores dimensions of size 1.
inline bool is_row_major(size_list size, size_list stride) {
    std::int64_t expected = 1; // -1: depends on a computed size
    for (std::size_t i = size.size(); i-- != 0;) {
        if (size[i].is(1)) continue;
        if (expected < 0 || !stride[i].is(expected)) return false;
        expected = size[i].is_constant() ? checked_multiply(expected, size[i].constant()) : -1;
    }
    return true;
}
inline constexpr auto as_strided = [](graph<13> g, value self, size_list size, size_list stride,
                                      std::optional<std::int64_t> storage_offset) -> value {
    safe_vector<std::int64_t> sizes;
    safe_vector<std::int64_t> strides;
    if (size.size() != stride.size()) return g.unsupported("as_strided with different numbers of sizes and strides");
    for (std::size_t i = 0; i != size.size(); ++i) {
        if (size[i].is_constant()) sizes.push_back(size[i].constant());
        if (stride[i].is_constant()) strides.push_back(stride[i].constant());
    }
    if (sizes.size() == size.size() && strides.size() == size.size())
        return strided_view(g, self, sizes, strides, storage_offset.value_or(0));
    if (storage_offset.value_or(0) == 0 && is_row_major(size, stride)) return reshape(g, self, size);
    return g.unsupported("computed sizes or strides, unless they are those of a contiguous tensor");
};

/// The positions of the elements of every window, as (windows, size).
inline value window_positions(graph<13> g, sym_int n, std::int64_t size, std::int64_t step, std::int64_t dilation = 1) {
    if (size < 0 || step < 1 || dilation < 1)
        throw unsupported_error("windows of negative size, or with a step or dilation below 1");
    std::int64_t const extent = checked_int(dilation) * (checked_int(size) - 1) + 1;
    if (n.is_constant() && extent > n.constant()) throw unsupported_error("windows larger than their dimension");
    sym_int const windows = add(g, divide(g, subtract(g, n, extent), step), 1);
    if (!windows.is_constant())
        return g.op<"Add">(unsqueeze(g, arithmetic_sequence(g, 0, windows, step), 1),
                           arithmetic_sequence(g, 0, size, dilation));
    std::int64_t const sizes[] = {windows.constant(), size};
    std::int64_t const strides[] = {step, dilation};
    return g.constant(strided_positions(sizes, strides, 0));
}
inline constexpr auto unfold_dim = [](graph<13> g, value self, std::int64_t dimension, std::int64_t size,
                                      std::int64_t step) {
    value const x = at_least_1d(g, self);
    std::int64_t const axis = normalize_axis(dimension, x.rank());
    value const windows = gather(g, x, window_positions(g, g.size(x, axis), size, step), axis);
    // The result for a 0-d tensor has only the dimension of the window size.
    if (self.rank() == 0) return flat(g, windows);
    std::int64_t const within = axis + 1;
    std::int64_t const last = -1;
    return move_axes(g, windows, {&within, 1}, {&last, 1});
};

} // namespace detail

inline constexpr auto slicing =
    table(symbolic<"aten::slice.Tensor(self, dim, start, end, step)">(detail::slice_dim),
          symbolic<"aten::slice_copy.Tensor(self, dim, start, end, step)">(detail::slice_dim),
          symbolic<"aten::select.int(self, dim, index)">(detail::select_dim),
          symbolic<"aten::select_copy.int(self, dim, index)">(detail::select_dim),
          symbolic<"aten::diagonal(self, offset, dim1, dim2)">(detail::diagonal_dims),
          symbolic<"aten::diagonal_copy(self, offset, dim1, dim2)">(detail::diagonal_dims),
          symbolic<"aten::linalg_diagonal(A, offset, dim1, dim2)">(detail::diagonal_dims),
          symbolic<"aten::trace(self)">([](graph<13> g, value self) {
              return reduce_sum(g,
                                g.cast(detail::diagonal_of(g, self, 0, 0, 1), to_accumulating(self.dtype())),
                                safe_vector<std::int64_t>{0},
                                false);
          }),
          symbolic<"aten::as_strided(self, size, stride, storage_offset)">(detail::as_strided),
          symbolic<"aten::as_strided_copy(self, size, stride, storage_offset)">(detail::as_strided),
          symbolic<"aten::unfold(self, dimension, size, step)">(detail::unfold_dim),
          symbolic<"aten::unfold_copy(self, dimension, size, step)">(detail::unfold_dim));

inline constexpr auto gathering =
    table(symbolic<"aten::index.Tensor(self, indices)">(detail::index_tensor),
          symbolic<"aten::_unsafe_index.Tensor(self, indices)">(detail::index_tensor),
          symbolic<"aten::index_select(self, dim, index)">([](graph<13> g, value self, std::int64_t dim, value index) {
              value const at = at_least_1d(g, detail::as_index(g, index));
              value const found = gather(g, at_least_1d(g, self), at, normalize_axis(dim, self.rank()));
              return self.rank() == 0 ? reshape(g, found, safe_vector<sym_int>{}) : found;
          }),
          symbolic<"aten::gather(self, dim, index, sparse_grad)">(
              [](graph<13> g, value self, std::int64_t dim, value index, bool) {
                  return detail::gather_elements(g, self, dim, index);
              }),
          symbolic<"aten::take(self, index)">([](graph<13> g, value self, value index) {
              return gather(g, flat(g, self), detail::as_index(g, index), 0);
          }),
          symbolic<"aten::take_along_dim(self, indices, dim)">(detail::take_along));

inline constexpr auto indexing = slicing + gathering;

} // namespace ATON_NAMESPACE::mappings
