// SPDX-License-Identifier: MIT
// Max, Min, Clip, Pad, Split, GatherElements and ScatterElements as functions for every opset.
// Internal header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Max and Min of floats up to opset 7, which do not broadcast.
template <fixed_string Op>
value extreme_of_one_shape(graph<7, 7> g, value x, value y) {
    if (same_shape(x, y)) return g.op<Op>(x, y);
    if (!x.shape().is_static() || !y.shape().is_static()) refuse_below(8, "broadcasting of a maximum or a minimum");
    value const both[] = {x, y};
    value const to = g.ints(common_sizes(both));
    return g.op<Op>(expand_to(g, x, to), expand_to(g, y, to));
}

/// Max and Min of two operands of one dtype: NaN if either is. They broadcast since opset 8 and take integers since
/// opset 12.
template <fixed_string Op>
value extreme_of(graph<7> g, value x, value y) {
    if (g.opset() >= 12 || (g.opset() >= 8 && is_floating(x.dtype()))) return g.within<8>().op<Op>(x, y);
    if (is_floating(x.dtype())) return extreme_of_one_shape<Op>(g.within<7, 7>(), x, y);
    if (g.opset() < 9) refuse_below(9, "the maximum or minimum of integers");
    value const is_first = Op.view() == "Max" ? g.op<"Greater">(x, y) : g.op<"Less">(x, y);
    return g.within<9>().op<"Where">(is_first, x, y);
}

} // namespace detail

inline value max_of(graph<7> g, value x, value y) { return detail::extreme_of<"Max">(g, x, y); }
inline value max_of(graph<7> g, value x, number const& n) { return max_of(g, x, g.scalar_like(n, x)); }
inline value min_of(graph<7> g, value x, value y) { return detail::extreme_of<"Min">(g, x, y); }
inline value min_of(graph<7> g, value x, number const& n) { return min_of(g, x, g.scalar_like(n, x)); }

/// Clip to [low, high]. The bounds are inputs since opset 11, and the operator takes integers since opset 12. ONNX
/// Runtime has no Clip of float64 at opset 11.
inline value clip(graph<7> g, value x, value low, value high) {
    bool const by_inputs = g.opset() >= 11 && is_floating(x.dtype()) && x.dtype() != dtype::float64;
    if (g.opset() >= 12 || by_inputs) return g.within<11>().op<"Clip">(x, low, high);
    return min_of(g, max_of(g, x, low), high);
}
inline value clip(graph<7> g, value x, number const& low, number const& high) {
    value const least = g.scalar_like(low, x);
    return clip(g, x, least, g.scalar_like(high, x));
}

namespace detail {

/// Pad up to opset 10: widths and filler are attributes, and only floats are padded. Integers of up to 32 bits are
/// padded as floats that hold them exactly.
inline value pad_by_attributes(graph<7> g, value x, size_list pads, double filler, std::string_view mode) {
    dtype const type = x.dtype();
    bool const is_exact = std::isnan(filler) || exactly_equal(static_cast<double>(static_cast<float>(filler)), filler);
    if (!all_constant(pads)) refuse_below(11, "padding of a computed width");
    if (!is_exact || (!is_floating(type) && bits(type) > 32)) refuse_below(11, "padding of or with 64-bit numbers");
    value const y = g.cast(x, is_floating(type) ? type : bits(type) < 32 ? dtype::float32 : dtype::float64);
    auto const until_10 = g.within<7, 10>();
    auto const widths = attr::pads_i(constants(pads));
    if (mode == "constant") return g.cast(until_10.op<"Pad">(y, widths, attr::value_f(filler)), type);
    return g.cast(until_10.op<"Pad">(y, widths, attr::mode_s(mode)), type);
}

} // namespace detail

/// Pad with a constant; `pads` has the widths before all dimensions, then those after.
inline value pad(graph<7> g, value x, size_list pads, value filler) {
    if (x.dtype() == dtype::bool_ && g.opset() < 13)
        return g.cast(pad(g, g.cast(x, dtype::int32), pads, g.cast(filler, dtype::int32)), dtype::bool_);
    if (g.opset() >= 11) return g.within<11>().op<"Pad">(x, g.ints(pads), filler);
    if (!filler.is_constant()) detail::refuse_below(11, "padding with a computed number");
    return detail::pad_by_attributes(g, x, pads, filler.constant<double>(), "constant");
}
inline value pad(graph<7> g, value x, safe_span<std::int64_t const> pads, scalar const& filler) {
    return pad(g, x, safe_vector<sym_int>(pads.begin(), pads.end()), g.scalar(filler, x.dtype()));
}
/// x with n elements along an axis: cut, or with zeros at the end.
inline value with_length(graph<11> g, value x, std::int64_t axis, sym_int const& n) {
    auto const rank = static_cast<std::size_t>(x.rank());
    safe_vector<sym_int> pads(2 * rank, 0);
    pads[rank + static_cast<std::size_t>(axis)] = max(n - g.size(x, axis), 0);
    return slice(g, pad(g, x, pads, g.scalar_like(0, x)), axis, 0, n);
}
/// Pad in the mode "reflect" or "edge".
inline value pad_by_mode(graph<7> g, value x, size_list pads, std::string_view mode) {
    if (g.opset() >= 11) return g.within<11>().op<"Pad">(x, g.ints(pads), absent, attr::mode_s(mode));
    return detail::pad_by_attributes(g, x, pads, 0, mode);
}

/// x in pieces of these sizes along an axis. Up to opset 12, the sizes are an attribute; computed ones need a slice for
/// each piece.
inline safe_vector<value> split(graph<7> g, value x, safe_span<sym_int const> sizes, std::int64_t axis) {
    if (g.opset() >= 13)
        return g.within<13>().op<"Split">(x, g.ints(sizes), attr::axis_i(axis), output_list(sizes.size()));
    axis = normalize_axis(axis, x.rank());
    if (all_constant(sizes))
        return g.within<7, 12>().op<"Split">(
            x, attr::split_i(constants(sizes)), attr::axis_i(axis), output_list(sizes.size()));
    safe_vector<value> pieces;
    sym_int start = 0;
    for (sym_int const& size : sizes) {
        sym_int const end = start + size;
        pieces.push_back(slice(g, x, axis, start, end));
        start = end;
    }
    return pieces;
}
inline safe_vector<value> split(graph<7> g, value x, safe_span<std::int64_t const> sizes, std::int64_t axis) {
    return split(g, x, safe_vector<sym_int>(sizes.begin(), sizes.end()), axis);
}

/// GatherElements, which was added in opset 11; below, Gather of positions in the flattened tensor. The indices count
/// from the front.
inline value elements_at(graph<9> g, value x, value index, std::int64_t axis) {
    if (g.opset() >= 11) return g.within<11>().op<"GatherElements">(x, index, attr::axis_i(axis));
    axis = normalize_axis(axis, x.rank());
    value position;
    sym_int stride = 1;
    for (std::int64_t i = x.rank() - 1; i >= 0; --i) {
        value term;
        if (i == axis) term = g.op<"Mul">(g.cast(index, dtype::int64), g.to_value(stride));
        else term = arithmetic_sequence(g, 0, g.size(index, i), stride);
        if (i != axis && i != x.rank() - 1) {
            safe_vector<sym_int> column(static_cast<std::size_t>(x.rank() - i), 1);
            column[0] = -1;
            term = reshape(g, term, column);
        }
        position = position.id() == no_value ? term : value(g.op<"Add">(position, term));
        stride = stride * g.size(x, i);
    }
    return g.op<"Gather">(flat(g, x), position, attr::axis_i(0));
}

/// ScatterElements, which was called Scatter up to opset 10.
inline value write_elements_at(graph<9> g, value x, value index, value from, std::int64_t axis) {
    if (g.opset() >= 11) return g.within<11>().op<"ScatterElements">(x, index, from, attr::axis_i(axis));
    return g.within<9, 10>().op<"Scatter">(x, index, from, attr::axis_i(axis));
}

} // namespace ATON_NAMESPACE::mappings
