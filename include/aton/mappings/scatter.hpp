// SPDX-License-Identifier: MIT
// Writing by index: aten's scatter, index_put, index_add, slice_scatter ...
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/complex.hpp>
#include <aton/mappings/detail/repeated_writes.hpp>
#include <aton/mappings/detail/slice_writes.hpp>
#include <aton/mappings/diagonals.hpp>
#include <aton/mappings/indexing.hpp>
#include <aton/mappings/slicing.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Crops x to the sizes of another tensor: ATen's index may be smaller than its source.
inline value crop_to(graph<7> g, value x, value other) {
    for (std::int64_t i = 0; i != x.rank(); ++i)
        if (!x.size(i).same_as(other.size(i))) x = slice(g, x, i, 0, g.size(other, i));
    return x;
}

/// ScatterElements without a reduction. 0-d tensors count as 1-d.
inline constexpr auto write_elements =
    symbolic<"aten::scatter.src(self, dim, index, src)">([](graph<9> g, value x, std::int64_t dim, value index,
                                                            value source) -> value {
        if (is_empty(index)) return x;
        std::int64_t const axis = normalize_axis(dim, x.rank());
        value const at = at_least_1d(g, as_index(g, index));
        value const from = crop_to(g, at_least_1d(g, g.cast(source, x.dtype())), at);
        value const y = write_elements_at(g, at_least_1d(g, x), at, from, axis);
        return x.rank() == 0 ? reshape(g, y, safe_vector<sym_int>{}) : y;
    }).by_parts<"self", "src">();
/// ScatterElements with a reduction: "add" and "mul" since opset 16, "max" and "min" since opset 18, before that a Loop.
inline value reduce_elements(graph<11> g, value x, std::int64_t dim, value index, value source,
                             std::string_view reduction) {
    if (is_empty(index)) return x;
    // Bools are reduced in int32 and cast back. Half-precision dtypes are rounded once.
    bool const sums = reduction == "add" || reduction == "mul";
    dtype const type = x.dtype() == dtype::bool_ ? dtype::int32 : sums ? opmath_type(x.dtype()) : x.dtype();
    if (type != x.dtype())
        return g.cast(reduce_elements(g, g.cast(x, type), dim, index, g.cast(source, type), reduction), x.dtype());
    std::int64_t const axis = normalize_axis(dim, x.rank());
    value const at = at_least_1d(g, as_index(g, index));
    value const from = crop_to(g, at_least_1d(g, g.cast(source, x.dtype())), at);
    value const into = at_least_1d(g, x);
    value y = g.opset() < (sums ? 16 : 18) ? reduce_elements_by_loop(g, into, at, from, axis, reduction)
                                           : value(g.within<16>().op<"ScatterElements">(
                                                 into, at, from, attr::axis_i(axis), attr::reduction_s(reduction)));
    if (!sums && g.opset() >= 18 && watches_nan(g, x)) y = with_written_nan(g.within<18>(), y, into, at, from, axis);
    return x.rank() == 0 ? reshape(g, y, safe_vector<sym_int>{}) : y;
}
/// A tensor full of one number, with the dtype of x and the shape of `other`.
inline value filled_as(graph<7> g, value x, value other, number const& n) {
    return filled(g, g.sizes(other), n, x.dtype());
}

inline std::string_view reduction_named(std::string_view reduce) {
    if (reduce == "add" || reduce == "sum") return "add";
    if (reduce == "multiply" || reduce == "prod") return "mul";
    if (reduce == "amax") return "max";
    if (reduce == "amin") return "min";
    throw unsupported_error("the reduction " + std::string(reduce));
}

/// aten::scatter_reduce. Without `include_self`, the elements that are written start from the identity of the reduction.
inline value scatter_reduced(graph<11> g, value x, std::int64_t dim, value index, value source, std::string_view reduce,
                             bool include_self) {
    bool const mean = reduce == "mean";
    if (dtype const type = opmath_type(x.dtype()); mean && type != x.dtype())
        return g.cast(scatter_reduced(g, g.cast(x, type), dim, index, g.cast(source, type), reduce, include_self),
                      x.dtype());
    std::string_view const reduction = mean ? "add" : reduction_named(reduce);
    value const start =
        include_self ? x : write_elements(g, x, dim, index, filled_as(g, x, index, neutral(reduction, x.dtype())));
    value const y = reduce_elements(g, start, dim, index, source, reduction);
    if (!mean || is_empty(index)) return y;
    value const before = filled_as(g, x, x, 1);
    value const none = include_self ? before : write_elements(g, before, dim, index, filled_as(g, x, index, 0));
    value const count = reduce_elements(g, none, dim, index, filled_as(g, x, index, 1), "add");
    if (is_floating(x.dtype())) return g.op<"Div">(y, count);
    // ATen rounds means of integers down, Div truncates; the divisor is positive.
    value const quotient = g.op<"Div">(y, count);
    if (is_unsigned_integral(x.dtype())) return quotient;
    value const rest = g.op<"Sub">(y, g.op<"Mul">(quotient, count));
    return g.op<"Sub">(quotient, g.cast(is_less(g, rest, 0), x.dtype()));
}

/// A 1-d index along an axis, expanded to the shape of a source.
inline value index_along(graph<7> g, value index, value source, std::int64_t axis) {
    safe_vector<sym_int> column(static_cast<std::size_t>(source.rank()), 1);
    column[static_cast<std::size_t>(axis)] = -1;
    return expand_to(g, reshape(g, as_index(g, index), column), g.shape_of(source));
}

/// The operands of index_copy, index_add and index_reduce, where 0-d tensors count as 1-d.
struct indexed_source {
    value index;
    value source;
};
inline indexed_source along(graph<7> g, value x, std::int64_t dim, value index, value source) {
    value const from = at_least_1d(g, source);
    return {index_along(g, at_least_1d(g, index), from, normalize_axis(dim, x.rank())), from};
}

inline constexpr auto fill_index =
    symbolic<"aten::index_fill.int_Tensor(self, dim, index, value)">([](graph<9> g, value x, std::int64_t dim,
                                                                        value index, value number) -> value {
        std::int64_t const axis = normalize_axis(dim, x.rank());
        safe_vector<sym_int> sizes = g.sizes(at_least_1d(g, x));
        sizes[static_cast<std::size_t>(axis)] = element_count(g, index);
        value const source = expand(g, reshape(g, g.cast(number, x.dtype()), safe_vector<sym_int>{}), sizes);
        return write_elements(g, x, dim, index_along(g, at_least_1d(g, index), source, axis), source);
    }).by_parts<"self", "value">();

inline value write_slice(graph<9> g, value x, value source, std::int64_t dim, sym_int start, sym_int end,
                         sym_int step) {
    std::int64_t const axis = normalize_axis(dim, x.rank());
    if (step.is_constant() && step.constant() < 1) throw unsupported_error("a slice with a step below 1");
    if (bool const range = step.is(1); !range || !limited_by_slice(start, end)) {
        start = clamp_index(g, start, g.size(x, axis));
        if (!range || !end.is(to_the_end)) end = clamp_index(g, end, g.size(x, axis));
    }
    if (!end.is(to_the_end)) end = max(end, start);
    if (step.is(1)) return is_empty(source) ? x : replace_range(g, x, source, axis, start, end);
    sym_int const count = (end - start + (step - 1)) / step;
    value const positions = arithmetic_sequence(g, start, count, step);
    return write_elements(g, x, axis, index_along(g, positions, source, axis), source);
}
inline constexpr auto write_selected = [](graph<9> g, value x, value source, std::int64_t dim, sym_int index) -> value {
    std::int64_t const axis = normalize_axis(dim, x.rank());
    sym_int const at = index.is_constant() ? index : clamp_index(g, index, g.size(x, axis));
    return replace_range(g, x, unsqueeze(g, source, axis), axis, at, at.is(-1) ? sym_int(to_the_end) : at + 1);
};

/// Writes the source to positions of the flattened x.
inline value write_positions(graph<9> g, value x, value positions, value source) {
    if (is_empty(source)) return x;
    value const y = write_elements_at(g, flat(g, x), positions, flat(g, g.cast(source, x.dtype())), 0);
    return reshape(g, y, g.sizes(x));
}
/// The axes of a diagonal, which write_diagonal moves to the end.
struct diagonal_axes {
    std::int64_t from[2];
    std::int64_t last[2];
    diagonal_axes(std::int64_t rank, std::int64_t dim1, std::int64_t dim2)
        : from{normalize_axis(dim1, rank), normalize_axis(dim2, rank)},
          last{rank - 2, rank - 1} {
        if (rank < 2) throw unsupported_error("a diagonal of a tensor with fewer than 2 dimensions");
    }
};
/// Writes the diagonals of matrices, of which `merged` makes a tensor whose last dimension has all elements of a matrix.
template <class Merged>
value write_diagonals(graph<9> g, safe_span<sym_int const> sizes, Merged const& merged, value source,
                      std::int64_t offset) {
    std::int64_t const last = static_cast<std::int64_t>(sizes.size()) - 2;
    safe_vector<sym_int> flat(sizes.begin(), sizes.end() - 1);
    flat.back() = sizes[sizes.size() - 2] * sizes.back();
    value const positions = diagonal_positions(g, sizes[sizes.size() - 2], sizes.back(), offset);
    return reshape(g, write_elements(g, merged(flat), last, index_along(g, positions, source, last), source), sizes);
}
inline constexpr auto write_diagonal = [](graph<9> g, value x, value source, std::int64_t offset, std::int64_t dim1,
                                          std::int64_t dim2) -> value {
    diagonal_axes const axes(x.rank(), dim1, dim2);
    value const matrices = move_axes(g, x, axes.from, axes.last);
    auto const merged = [&](safe_vector<sym_int> const& sizes) { return reshape(g, matrices, sizes); };
    return move_axes(g, write_diagonals(g, g.sizes(matrices), merged, source, offset), axes.last, axes.from);
};

/// Writes or adds the source, whose first axes are those of the positions, to x.
inline value write_coordinates(graph<11> g, value x, value positions, value source, bool accumulate) {
    if (!accumulate) return g.op<"ScatterND">(x, positions, source);
    if (x.dtype() == dtype::bool_)
        return g.cast(write_coordinates(g, g.cast(x, dtype::int32), positions, g.cast(source, dtype::int32), true),
                      dtype::bool_);
    if (g.opset() < 16) return add_at_positions_by_loop(g, x, positions, source);
    return add_at_positions(g.within<16>(), x, positions, source);
}

/// x with a mask over some axes, from `axis` on, replaced by the source. Absent if the source differs between true elements.
inline optional_value put_mask(graph<9> g, value x, std::int64_t axis, value mask, value source, bool accumulate) {
    std::int64_t const after = x.rank() - axis - mask.rank();
    if (source.rank() > after && !source.size(source.rank() - after - 1).is(1)) return absent;
    value from = source;
    safe_vector<std::int64_t> ones;
    for (std::int64_t i = 1; source.rank() > after && i < mask.rank(); ++i)
        ones.push_back(source.rank() - after - 1 + i);
    if (!ones.empty()) from = unsqueeze(g, from, ones);
    value at = g.cast(mask, dtype::bool_);
    safe_vector<std::int64_t> last;
    for (std::int64_t i = 0; i != after; ++i) last.push_back(mask.rank() + i);
    if (!last.empty()) at = unsqueeze(g, at, last);
    if (!accumulate) return value(g.op<"Where">(at, from, x)).set_shape(x.shape()); // those of the mask are equal
    value const more = g.op<"Where">(at, from, g.scalar_like(0, x));
    value const y = x.dtype() == dtype::bool_ ? value(g.op<"Or">(x, more)) : g.op<"Add">(x, more);
    return y.set_shape(x.shape());
}

/// aten::index_put: x[indices] = source, or += if `accumulate`.
inline value put_with(graph<11> g, value x, safe_span<optional_value const> indices, value source, bool accumulate) {
    source = g.cast(source, x.dtype());
    auto const has = [](optional_value const& v) { return v.has_value(); };
    auto const first = std::find_if(indices.begin(), indices.end(), has);
    if (first == indices.end()) throw unsupported_error("index_put without an index tensor");
    if (std::count_if(indices.begin(), indices.end(), has) == 1 && is_mask(**first) && (*first)->rank() != 0)
        if (optional_value const y = put_mask(g, x, first - indices.begin(), **first, source, accumulate); y) return *y;

    index_tensors const by = read_indices(g, x, indices);
    value const positions = coordinates(g, by);
    if (is_empty(positions)) return x;
    safe_vector<std::int64_t> const perm = axes_first(by.axes, x.rank());
    value const into = permute(g, x, perm);
    // The source is broadcast to the shape of x[indices]; then the indexed axes are moved to the front for ScatterND.
    safe_vector<sym_int> shape = g.sizes(positions);
    shape.pop_back();
    auto const depth = static_cast<std::int64_t>(shape.size());
    std::int64_t const front = by.adjacent() && source.rank() != 0 ? by.axes.front() : 0; // 0-d: in any order
    safe_vector<sym_int> const rest = g.sizes(into);
    auto const kept = rest.begin() + static_cast<std::ptrdiff_t>(by.axes.size());
    shape.insert(shape.end(), kept + front, rest.end());
    shape.insert(shape.begin(), kept, kept + front);
    safe_vector<std::int64_t> indexed;
    for (std::int64_t i = 0; i != depth; ++i) indexed.push_back(front + i);
    value const updates =
        permute(g, expand(g, source, shape), axes_first(indexed, static_cast<std::int64_t>(shape.size())));
    safe_vector<std::int64_t> back(perm.size());
    for (std::size_t i = 0; i != perm.size(); ++i)
        back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    return permute(g, write_coordinates(g, into, positions, updates, accumulate), back);
}
inline constexpr auto index_put = [](graph<11> g, value self, safe_span<optional_value const> indices, value values,
                                     bool accumulate) { return put_with(g, self, indices, values, accumulate); };

/// `unsafe`: ATen does not check the indices.
inline constexpr auto index_put_impl =
    symbolic<"aten::_index_put_impl(self, indices, values, accumulate, unsafe)">(
        [](graph<11> g, value self, safe_span<optional_value const> indices, value values, bool accumulate,
           bool /*unsafe*/) { return put_with(g, self, indices, values, accumulate); })
        .by_parts<"self", "values">();

inline constexpr auto put =
    symbolic<"aten::put(self, index, source, accumulate)">([](graph<11> g, value self, value index, value source,
                                                              bool accumulate) {
        if (is_empty(index)) return self;
        value const positions = reshape(g, g.cast(index, dtype::int64), {-1, 1});
        value const y =
            write_coordinates(g, flat(g, self), positions, flat(g, g.cast(source, self.dtype())), accumulate);
        return reshape(g, y, g.sizes(self));
    }).by_parts<"self", "source">();

inline constexpr auto scatter_value =
    symbolic<"aten::scatter.value(self, dim, index, value)">([](graph<9> g, value self, std::int64_t dim, value index,
                                                                number n) {
        return write_elements(g, self, dim, index, filled_as(g, self, index, n));
    }).by_parts<"self", "value">();

inline constexpr auto scatter_reduce = symbolic<"aten::scatter.reduce(self, dim, index, src, reduce)">(
    [](graph<11> g, value self, std::int64_t dim, value index, value src, std::string_view reduce) -> value {
        return reduce_elements(g, self, dim, index, src, reduction_named(reduce));
    });

inline constexpr auto scatter_value_reduce = symbolic<"aten::scatter.value_reduce(self, dim, index, value, reduce)">(
    [](graph<11> g, value self, std::int64_t dim, value index, number n, std::string_view reduce) -> value {
        value const source = filled_as(g, self, index, n);
        return reduce_elements(g, self, dim, index, source, reduction_named(reduce));
    });

inline constexpr auto scatter_add =
    symbolic<"aten::scatter_add(self, dim, index, src)">([](graph<11> g, value self, std::int64_t dim, value index,
                                                            value src) {
        return reduce_elements(g, self, dim, index, src, "add");
    }).by_parts<"self", "src">();

inline constexpr auto scatter_reduce_two =
    symbolic<"aten::scatter_reduce.two(self, dim, index, src, reduce, include_self)">(
        [](graph<11> g, value self, std::int64_t dim, value index, value src, std::string_view reduce,
           bool include_self) -> value { return scatter_reduced(g, self, dim, index, src, reduce, include_self); });

inline constexpr auto index_copy = symbolic<"aten::index_copy(self, dim, index, source)">(
    [](graph<9> g, value self, std::int64_t dim, value index, value source) {
        auto const [at, from] = along(g, self, dim, index, source);
        return write_elements(g, self, dim, at, from);
    });

inline constexpr auto index_add = symbolic<"aten::index_add(self, dim, index, source, alpha)">(
    [](graph<11> g, value self, std::int64_t dim, value index, value source, number alpha) {
        auto const [at, from] = along(g, self, dim, index, source);
        value const factor = element(g, alpha, from.dtype());
        value const scaled = alpha == 1                     ? from
                             : from.dtype() == dtype::bool_ ? value(g.op<"And">(from, factor))
                                                            : g.op<"Mul">(from, factor);
        return reduce_elements(g, self, dim, at, scaled, "add");
    });

inline constexpr auto complex_index_add = [](graph<11> g, complex_value self, std::int64_t dim, value index,
                                             complex_value source, number alpha) {
    complex_operands const o = promoted(g, self, source);
    complex_value const scaled = scaled_complex(g, o.b, alpha);
    return g.complex(index_add(g, g.real(o.a), dim, index, g.real(scaled), 1),
                     index_add(g, g.imag(o.a), dim, index, g.imag(scaled), 1));
};

inline constexpr auto index_reduce = symbolic<"aten::index_reduce(self, dim, index, source, reduce, include_self)">(
    [](graph<11> g, value self, std::int64_t dim, value index, value source, std::string_view reduce,
       bool include_self) {
        auto const [at, from] = along(g, self, dim, index, source);
        return scatter_reduced(g, self, dim, at, from, reduce, include_self);
    });

inline constexpr auto fill_index_with =
    symbolic<"aten::index_fill.int_Scalar(self, dim, index, value)">([](graph<9> g, value self, std::int64_t dim,
                                                                        value index, number n) {
        return fill_index(g, self, dim, index, element(g, n, self.dtype()));
    }).by_parts<"self", "value">();

inline constexpr auto slice_scatter = [](graph<9> g, value self, value src, std::int64_t dim,
                                         std::optional<sym_int> start, std::optional<sym_int> end, sym_int step) {
    return write_slice(g, self, src, dim, start.value_or(0), end.value_or(to_the_end), step);
};

inline constexpr auto as_strided_scatter = [](graph<9> g, value self, value src, size_list size, size_list stride,
                                              std::optional<sym_int> storage_offset) -> value {
    sym_int const offset = storage_offset.value_or(0);
    if (size.size() != stride.size()) return g.unsupported("different numbers of sizes and strides");
    if (!all_constant(size) || !all_constant(stride) || !offset.is_constant())
        return write_positions(g, self, flat(g, computed_positions(g, size, stride, offset)), src);
    tensor positions = strided_positions(constants(size), constants(stride), offset.constant());
    positions.sizes = {positions.element_count()};
    return write_positions(g, self, g.constant(std::move(positions)), src);
};

/// The gradients of views: zeros, with the gradient in the place of the view.
inline constexpr auto slice_backward =
    symbolic<"aten::slice_backward(grad_output, input_sizes, dim, start, end, step)">(
        [](graph<9> g, value grad, size_list input_sizes, std::int64_t dim, sym_int start, sym_int end, sym_int step) {
            return write_slice(g, filled(g, input_sizes, 0, grad.dtype()), grad, dim, start, end, step);
        });
inline constexpr auto select_backward = symbolic<"aten::select_backward(grad_output, input_sizes, dim, index)">(
    [](graph<9> g, value grad, size_list input_sizes, std::int64_t dim, sym_int index) {
        return write_selected(g, filled(g, input_sizes, 0, grad.dtype()), grad, dim, index);
    });
inline constexpr auto diagonal_backward =
    symbolic<"aten::diagonal_backward(grad_output, input_sizes, offset, dim1, dim2)">(
        [](graph<9> g, value grad, size_list input_sizes, std::int64_t offset, std::int64_t dim1,
           std::int64_t dim2) -> value {
            diagonal_axes const axes(static_cast<std::int64_t>(input_sizes.size()), dim1, dim2);
            safe_vector<sym_int> sizes;
            for (std::size_t i = 0; i != input_sizes.size(); ++i)
                if (auto const axis = static_cast<std::int64_t>(i); axis != axes.from[0] && axis != axes.from[1])
                    sizes.push_back(input_sizes[i]);
            for (std::int64_t const axis : axes.from) sizes.push_back(input_sizes[static_cast<std::size_t>(axis)]);
            auto const zeros = [&](safe_vector<sym_int> const& merged) { return filled(g, merged, 0, grad.dtype()); };
            return move_axes(g, write_diagonals(g, sizes, zeros, grad, offset), axes.last, axes.from);
        });

} // namespace detail

inline constexpr auto scatter = table(
    symbolic<"aten::index_put(self, indices, values, accumulate)">(detail::index_put).by_parts<"self", "values">(),
    symbolic<"aten::_unsafe_index_put(self, indices, values, accumulate)">(detail::index_put)
        .by_parts<"self", "values">(),
    detail::index_put_impl, detail::put, detail::write_elements, detail::scatter_value, detail::scatter_reduce,
    detail::scatter_value_reduce, detail::scatter_add, detail::scatter_reduce_two, detail::index_copy,
    detail::index_add.for_complex(detail::complex_index_add), detail::index_reduce, detail::fill_index_with,
    detail::fill_index,
    symbolic<"aten::slice_scatter(self, src, dim, start, end, step)">(detail::slice_scatter)
        .for_complex(detail::both_parts<detail::slice_scatter>),
    symbolic<"aten::select_scatter(self, src, dim, index)">(detail::write_selected)
        .for_complex(detail::both_parts<detail::write_selected>),
    symbolic<"aten::diagonal_scatter(self, src, offset, dim1, dim2)">(detail::write_diagonal)
        .for_complex(detail::both_parts<detail::write_diagonal>),
    symbolic<"aten::as_strided_scatter(self, src, size, stride, storage_offset)">(detail::as_strided_scatter)
        .for_complex(detail::both_parts<detail::as_strided_scatter>),
    detail::slice_backward, detail::select_backward, detail::diagonal_backward);

} // namespace ATON_NAMESPACE::mappings
