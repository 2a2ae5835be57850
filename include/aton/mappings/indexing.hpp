// SPDX-License-Identifier: MIT
// Reading by index: aten's index, index_select, gather, take and take_along_dim.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Indices in a dtype that ONNX supports: int32 or int64.
inline value as_index(graph<7> g, value index) {
    return index.dtype() == dtype::int32 ? index : g.cast(index, dtype::int64);
}

/// The index tensors of x and the axes that they index; a mask is replaced by the indices of its true elements.
struct index_tensors {
    safe_vector<std::int64_t> axes;
    safe_vector<value> values;
    optional_value stacked = absent; ///< coordinates() of a mask that is the only index

    /// Whether the axes are adjacent; if not, the indexed dimensions of the result come first.
    [[nodiscard]] bool adjacent() const {
        return axes.back() - axes.front() + 1 == static_cast<std::int64_t>(axes.size());
    }
};

inline bool is_mask(value index) { return index.dtype() == dtype::bool_ || index.dtype() == dtype::uint8; }

inline index_tensors read_indices(graph<9> g, value x, safe_span<optional_value const> indices) {
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
            if (std::count_if(indices.begin(), indices.end(), [](optional_value const& v) { return v.has_value(); }) ==
                1)
                out.stacked = g.op<"Transpose">(positions, attr::perm_i({1, 0}));
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
inline value coordinates(graph<7> g, index_tensors const& by) {
    if (by.stacked) return *by.stacked;
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
inline value index_with(graph<11> g, value x, safe_span<optional_value const> indices) {
    auto const given =
        std::count_if(indices.begin(), indices.end(), [](optional_value const& v) { return v.has_value(); });
    if (given == 0) return x;
    auto const first =
        std::find_if(indices.begin(), indices.end(), [](optional_value const& v) { return v.has_value(); });
    std::int64_t const axis = first - indices.begin();
    if (given == 1 && !is_mask(**first)) return gather_of(g, x, as_index(g, **first), axis);
    if (given == 1 && (*first)->rank() == 1)
        return g.op<"Compress">(x, g.cast(**first, dtype::bool_), attr::axis_i(axis));
    if (given == 1 && (*first)->rank() == x.rank() && x.rank() != 0)
        return g.op<"Compress">(x, flat(g, g.cast(**first, dtype::bool_)));

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
inline constexpr auto index_tensor = [](graph<11> g, value self, safe_span<optional_value const> indices) {
    return index_with(g, self, indices);
};

/// GatherElements. 0-d tensors count as 1-d, and an empty index of any rank gives an empty result.
inline value gather_elements(graph<9> g, value x, std::int64_t dim, value index) {
    if (is_empty(index)) return filled(g, g.sizes(index), 0, x.dtype());
    std::int64_t const axis = normalize_axis(dim, x.rank());
    value const found = elements_at(g, at_least_1d(g, x), at_least_1d(g, as_index(g, index)), axis);
    return index.rank() == 0 ? reshape(g, found, safe_vector<sym_int>{}) : found;
}

inline constexpr auto take_along =
    symbolic<"aten::take_along_dim(self, indices, dim)">([](graph<9> g, value self, value indices,
                                                            std::optional<std::int64_t> dim) {
        if (!dim) return gather_of(g, flat(g, self), flat(g, as_index(g, indices)), 0);
        auto const axis = static_cast<std::size_t>(normalize_axis(*dim, self.rank()));
        safe_vector<sym_int> from = g.sizes(self);
        safe_vector<sym_int> to = g.sizes(indices);
        for (std::size_t i = 0; i != from.size(); ++i) {
            if (i == axis) continue;
            sym_int const wide = from[i].is(1) ? to[i] : to[i].is(1) ? from[i] : max(from[i], to[i]);
            from[i] = wide;
            to[i] = wide;
        }
        return gather_elements(g, expand(g, self, from), *dim, expand(g, indices, to));
    }).by_parts<"self">();

inline constexpr auto index_select =
    symbolic<"aten::index_select(self, dim, index)">([](graph<7> g, value self, std::int64_t dim, value index) {
        value const at = at_least_1d(g, as_index(g, index));
        value const found = gather_of(g, at_least_1d(g, self), at, normalize_axis(dim, self.rank()));
        return self.rank() == 0 ? reshape(g, found, safe_vector<sym_int>{}) : found;
    }).by_parts<"self">();

inline constexpr auto gather =
    symbolic<"aten::gather(self, dim, index, sparse_grad)">([](graph<9> g, value self, std::int64_t dim, value index,
                                                               bool) {
        return gather_elements(g, self, dim, index);
    }).by_parts<"self">();

inline constexpr auto take_row =
    symbolic<"aten::take(self, index)">([](graph<7> g, value self, value index) {
        return gather_of(g, flat(g, self), from_front(g, as_index(g, index), element_count(g, self)), 0);
    }).by_parts<"self">();

} // namespace detail

inline constexpr auto indexing =
    table(symbolic<"aten::index.Tensor(self, indices)">(detail::index_tensor).by_parts<"self">(),
          symbolic<"aten::_unsafe_index.Tensor(self, indices)">(detail::index_tensor).by_parts<"self">(),
          detail::index_select, detail::gather, detail::take_row, detail::take_along);

} // namespace ATON_NAMESPACE::mappings
