// SPDX-License-Identifier: MIT
// Parts of a tensor by position: aten's slice, select, narrow, as_strided and unfold.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline constexpr auto slice_dim = [](graph<7> g, value self, std::int64_t dim, std::optional<sym_int> start,
                                     std::optional<sym_int> end, sym_int step) {
    return slice(g, self, dim, start.value_or(0), end.value_or(to_the_end), step);
};

inline constexpr auto select_dim = [](graph<7> g, value self, std::int64_t dim, sym_int index) {
    return select(g, self, dim, index);
};

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

/// The same where the program computes sizes, strides or the offset.
inline value computed_positions(graph<7> g, size_list size, size_list stride, sym_int offset) {
    value at = g.to_value(offset);
    for (std::size_t i = 0; i != size.size(); ++i) {
        value const along = g.op<"Mul">(arithmetic_sequence(g, 0, size[i]), g.to_value(stride[i]));
        at = g.op<"Add">(unsqueeze(g, at, static_cast<std::int64_t>(i)), along);
    }
    return at;
}

inline value strided_view(graph<7> g, value x, axis_list size, axis_list stride, std::int64_t offset) {
    tensor positions = strided_positions(size, stride, offset);
    std::int64_t const count = x.shape().element_count_or(-1);
    for (std::size_t i = 0; i != static_cast<std::size_t>(positions.element_count()); ++i)
        if (count >= 0 && positions.at(i).to<std::int64_t>() >= count)
            throw unsupported_error("as_strided past the last element of its input");
    if (positions.element_count() == 0) return empty_constant(g, size, x.dtype());
    return gather_of(g, flat(g, x), g.constant(std::move(positions)), 0);
}

/// Whether the strides are those of a contiguous tensor of these sizes, some of which are computed. Ignores dimensions
/// of size 1.
inline bool is_row_major(size_list size, size_list stride) {
    std::int64_t expected = 1; // -1: depends on a computed size
    for (std::size_t i = size.size(); i-- != 0;) {
        if (size[i].is(1)) continue;
        if (expected < 0 || !stride[i].is(expected)) return false;
        expected = size[i].is_constant() ? checked_multiply(expected, size[i].constant()) : -1;
    }
    return true;
}

inline constexpr auto as_strided = [](graph<7> g, value self, size_list size, size_list stride,
                                      std::optional<sym_int> storage_offset) -> value {
    sym_int const offset = storage_offset.value_or(0);
    if (size.size() != stride.size()) return g.unsupported("as_strided with different numbers of sizes and strides");
    if (all_constant(size) && all_constant(stride) && offset.is_constant())
        return strided_view(g, self, constants(size), constants(stride), offset.constant());
    if (offset.is(0) && is_row_major(size, stride)) // the first elements, or all
        return reshape(g, slice(g, flat(g, self), 0, 0, product(size)), size);
    return gather_of(g, flat(g, self), computed_positions(g, size, stride, offset), 0);
};

/// The positions of the elements of every window, as (windows, size).
inline value window_positions(graph<7> g, sym_int n, std::int64_t size, std::int64_t step, std::int64_t dilation = 1) {
    if (size < 0 || step < 1 || dilation < 1)
        throw unsupported_error("windows of negative size, or with a step or dilation below 1");
    std::int64_t const extent = checked_int(dilation) * (checked_int(size) - 1) + 1;
    if (n.is_constant() && extent > n.constant()) throw unsupported_error("windows larger than their dimension");
    sym_int const windows = (n - extent) / step + 1;
    if (!windows.is_constant())
        return g.op<"Add">(unsqueeze(g, arithmetic_sequence(g, 0, windows, step), 1),
                           arithmetic_sequence(g, 0, size, dilation));
    std::int64_t const sizes[] = {windows.constant(), size};
    std::int64_t const strides[] = {step, dilation};
    return g.constant(strided_positions(sizes, strides, 0));
}

inline constexpr auto unfold_dim = [](graph<7> g, value self, std::int64_t dimension, std::int64_t size,
                                      std::int64_t step) {
    value const x = at_least_1d(g, self);
    std::int64_t const axis = normalize_axis(dimension, x.rank());
    value const windows = gather_of(g, x, window_positions(g, g.size(x, axis), size, step), axis);
    // The result for a 0-d tensor has only the dimension of the window size.
    if (self.rank() == 0) return flat(g, windows);
    std::int64_t const within = axis + 1;
    std::int64_t const last = -1;
    return move_axes(g, windows, {&within, 1}, {&last, 1});
};

inline value narrow_axis(graph<7> g, value x, std::int64_t axis, sym_int start, sym_int length) {
    axis = normalize_axis(axis, x.rank());
    if (start.is_constant() && start.constant() < 0) start = start + g.size(x, axis);
    if (!start.is_constant()) { // may be negative at run time
        if (g.opset() < 10) refuse_below(10, "a slice with a computed bound");
        value const s = start.as_value();
        start = value(g.within<10>().op<"Where">(is_less(g, s, 0), g.to_value(start + g.size(x, axis)), s));
    }
    return slice(g, x, axis, start, start + length);
}

inline constexpr auto narrow_dim = [](graph<7> g, value self, std::int64_t dim, sym_int start, sym_int length) {
    return narrow_axis(g, self, dim, start, length);
};

inline constexpr auto narrow_from =
    symbolic<"aten::narrow.Tensor(self, dim, start, length)">([](graph<10> g, value self, std::int64_t dim, value start,
                                                                 sym_int length) {
        value const at = g.cast(start, dtype::int64);
        return narrow_axis(g, self, dim, at.rank() == 0 ? at : reshape(g, at, safe_vector<sym_int>{}), length);
    }).by_parts<"self">();

} // namespace detail

inline constexpr auto slicing =
    table(symbolic<"aten::slice.Tensor(self, dim, start, end, step)">(detail::slice_dim).by_parts<"self">(),
          symbolic<"aten::slice_copy.Tensor(self, dim, start, end, step)">(detail::slice_dim).by_parts<"self">(),
          symbolic<"aten::select.int(self, dim, index)">(detail::select_dim).by_parts<"self">(),
          symbolic<"aten::select_copy.int(self, dim, index)">(detail::select_dim).by_parts<"self">(),
          symbolic<"aten::as_strided(self, size, stride, storage_offset)">(detail::as_strided).by_parts<"self">(),
          symbolic<"aten::as_strided_copy(self, size, stride, storage_offset)">(detail::as_strided).by_parts<"self">(),
          symbolic<"aten::unfold(self, dimension, size, step)">(detail::unfold_dim).by_parts<"self">(),
          symbolic<"aten::unfold_copy(self, dimension, size, step)">(detail::unfold_dim).by_parts<"self">(),
          symbolic<"aten::narrow(self, dim, start, length)">(detail::narrow_dim).by_parts<"self">(),
          symbolic<"aten::narrow_copy(self, dim, start, length)">(detail::narrow_dim).by_parts<"self">(),
          detail::narrow_from);

} // namespace ATON_NAMESPACE::mappings
