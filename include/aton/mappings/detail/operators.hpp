// SPDX-License-Identifier: MIT
// ONNX operators whose inputs, attributes or dtypes changed since opset 7, as functions for every opset.
// Internal header.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <aton/mappings/detail/common.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The graphs whose range starts at the first opset, from 7 on, that has the operator.
template <fixed_string Op>
using graph_with = graph<(onnx::first_version("", Op.view()) > 7 ? onnx::first_version("", Op.view()) : 7)>;
/// The graph that a body takes, or a function of values.
template <class Function>
struct graph_of_function : dsl::detail::body_traits<Function> {};
template <class Return, class... Parameters>
struct graph_of_function<Return (*)(Parameters...)> : dsl::detail::function_traits<Return (*)(Parameters...)> {};
template <auto Function>
using graph_of = typename graph_of_function<dsl::detail::type_of<Function>>::graph_type;

[[noreturn]] inline void refuse_below(int opset, std::string_view what) {
    throw unsupported_error(std::string(what) + " needs opset " + std::to_string(opset));
}

/// The number in a constant with one element; nullopt for other values.
inline std::optional<double> known_number(value v) {
    if (!v.is_constant() || v.constant().element_count() != 1 || !tensor::can_hold(v.dtype())) return std::nullopt;
    return v.constant<double>();
}

} // namespace detail

/// Normalized axes if the rank is known: ONNX Runtime cannot reduce empty tensors along negative axes.
inline safe_vector<std::int64_t> positive_axes(value x, safe_span<std::int64_t const> axes) {
    return x.has_rank() ? normalize_axes(axes, x.rank()) : safe_vector<std::int64_t>(axes.begin(), axes.end());
}

/// Up to opset 10, axes are counted from the front, and ONNX's inference expects them in ascending order.
inline value squeeze(graph<7> g, value x, safe_span<std::int64_t const> axes) {
    if (g.opset() >= 13) return g.within<13>().op<"Squeeze">(x, g.ints(axes));
    safe_vector<std::int64_t> along(axes.begin(), axes.end());
    if (g.opset() < 11) {
        along = positive_axes(x, axes);
        std::sort(along.begin(), along.end());
    }
    return g.within<7, 12>().op<"Squeeze">(x, attr::axes_i(along));
}
inline value squeeze(graph<7> g, value x, std::int64_t axis) { return squeeze(g, x, safe_span(&axis, 1)); }
inline value unsqueeze(graph<7> g, value x, safe_span<std::int64_t const> axes) {
    if (g.opset() >= 13) return g.within<13>().op<"Unsqueeze">(x, g.ints(axes));
    safe_vector<std::int64_t> along(axes.begin(), axes.end());
    if (g.opset() < 11) along = normalize_axes(axes, x.rank() + static_cast<std::int64_t>(axes.size()));
    return g.within<7, 12>().op<"Unsqueeze">(x, attr::axes_i(along));
}
inline value unsqueeze(graph<7> g, value x, std::int64_t axis) { return unsqueeze(g, x, safe_span(&axis, 1)); }

/// ReduceMax and similar operators, whose axes are an attribute up to opset 17. Returns x if `axes` is empty.
template <fixed_string Reduce>
value reduce(graph<7> g, value x, safe_span<std::int64_t const> axes, bool keepdims) {
    if (axes.empty()) return x;
    safe_vector<std::int64_t> const along = positive_axes(x, axes);
    if (g.opset() >= 18) return g.within<18>().op<Reduce>(x, g.ints(along), attr::keepdims_i(keepdims));
    return g.within<7, 17>().op<Reduce>(x, attr::axes_i(along), attr::keepdims_i(keepdims));
}

/// ReduceSum, whose axes are an input since opset 13. Returns x if `axes` is empty.
/// Integers below 32 bits, which ReduceSum does not support, are summed in int32.
inline value reduce_sum(graph<7> g, value x, safe_span<std::int64_t const> axes, bool keepdims) {
    if (axes.empty()) return x;
    if (is_integral(x.dtype()) && bits(x.dtype()) < 32)
        return g.cast(reduce_sum(g, g.cast(x, dtype::int32), axes, keepdims), x.dtype());
    safe_vector<std::int64_t> const along = positive_axes(x, axes);
    if (g.opset() >= 13) return g.within<13>().op<"ReduceSum">(x, g.ints(along), attr::keepdims_i(keepdims));
    return g.within<7, 12>().op<"ReduceSum">(x, attr::axes_i(along), attr::keepdims_i(keepdims));
}

/// Softmax and LogSoftmax along one axis. Up to opset 12, they flatten to two dimensions, so the axis has to be the last.
template <fixed_string Op>
value along_axis(graph<7> g, value x, std::int64_t axis) {
    if (g.opset() >= 13) return g.within<13>().op<Op>(x, attr::axis_i(axis));
    auto const before = g.within<7, 12>();
    std::int64_t const last = x.rank() - 1;
    axis = normalize_axis(axis, x.rank());
    if (axis == last) return before.op<Op>(x, attr::axis_i(last));
    safe_vector<std::int64_t> swapped = iota(x.rank());
    swapped[static_cast<std::size_t>(axis)] = last;
    swapped[static_cast<std::size_t>(last)] = axis;
    value const y = before.op<Op>(g.op<"Transpose">(x, attr::perm_i(swapped)), attr::axis_i(last));
    return g.op<"Transpose">(y, attr::perm_i(swapped));
}

namespace detail {

/// Whether x is not NaN, for opsets without IsNaN.
inline value is_number(graph<7> g, value x) { return g.op<"Or">(g.op<"Less">(x, 1), g.op<"Greater">(x, 0)); }

} // namespace detail

inline value is_nan(graph<7> g, value x) {
    if (g.opset() >= 9) return g.within<9>().op<"IsNaN">(x);
    return g.op<"Not">(detail::is_number(g, x));
}

/// Whether NaN in x must be treated as ATen does, with nodes of its own.
inline bool watches_nan(graph<7> g, value x) { return is_floating(x.dtype()) && g.exact_nan(); }

namespace detail {

/// Less or Greater, which take integers since opset 9; below, those of up to 32 bits are compared as float64.
template <fixed_string Op>
value in_order(graph<7> g, value x, value y) {
    bool const widens = g.opset() < 9 && is_integral(x.dtype()) && bits(x.dtype()) <= 32;
    dtype const type = widens ? dtype::float64 : x.dtype();
    return g.op<Op>(g.cast(x, type), g.cast(y, type));
}

} // namespace detail

inline value is_less(graph<7> g, value x, value y) { return detail::in_order<"Less">(g, x, y); }
inline value is_less(graph<7> g, value x, number const& n) { return is_less(g, x, g.scalar_like(n, x)); }
inline value is_greater(graph<7> g, value x, value y) { return detail::in_order<"Greater">(g, x, y); }
inline value is_greater(graph<7> g, value x, number const& n) { return is_greater(g, x, g.scalar_like(n, x)); }

/// x == y. Up to opset 10, Equal takes bool, int32 and int64 only: narrower integers are widened, and floats are equal
/// if they are ordered and neither is less.
inline value is_equal(graph<7> g, value x, value y) {
    dtype const type = x.dtype();
    if (g.opset() >= 11 || type == dtype::bool_) return g.op<"Equal">(x, y);
    if (is_integral(type)) {
        dtype const wide = bits(type) < 32 ? dtype::int32 : type == dtype::uint32 ? dtype::int64 : type;
        return g.op<"Equal">(g.cast(x, wide), g.cast(y, wide));
    }
    value const equal = g.op<"Not">(g.op<"Or">(g.op<"Less">(x, y), g.op<"Greater">(x, y)));
    value const ordered = g.op<"And">(equal, detail::is_number(g, x));
    auto const n = detail::known_number(y);
    return n && !std::isnan(*n) ? ordered : g.op<"And">(ordered, detail::is_number(g, y));
}
inline value is_equal(graph<7> g, value x, number const& n) { return is_equal(g, x, g.scalar_like(n, x)); }

/// x <= y and x >= y, which are operators since opset 12.
inline value is_at_most(graph<7> g, value x, value y) {
    if (g.opset() >= 12) return g.within<12>().op<"LessOrEqual">(x, y);
    if (!is_floating(x.dtype())) return g.op<"Not">(is_greater(g, x, y));
    return g.op<"Or">(is_less(g, x, y), is_equal(g, x, y));
}
inline value is_at_most(graph<7> g, value x, number const& n) { return is_at_most(g, x, g.scalar_like(n, x)); }
inline value is_at_least(graph<7> g, value x, value y) {
    if (g.opset() >= 12) return g.within<12>().op<"GreaterOrEqual">(x, y);
    if (!is_floating(x.dtype())) return g.op<"Not">(is_less(g, x, y));
    return g.op<"Or">(is_greater(g, x, y), is_equal(g, x, y));
}
inline value is_at_least(graph<7> g, value x, number const& n) { return is_at_least(g, x, g.scalar_like(n, x)); }

/// Whether x is infinite, of either sign; IsInf was added in opset 10.
inline value is_infinite(graph<7> g, value x) {
    if (g.opset() >= 10) return g.within<10>().op<"IsInf">(x);
    return is_equal(g, g.op<"Abs">(x), std::numeric_limits<double>::infinity());
}

/// The remainder of integers of the same sign; Mod was added in opset 10.
inline value remainder_of(graph<7> g, value x, value y) {
    if (g.opset() >= 10) return g.within<10>().op<"Mod">(x, y);
    return g.op<"Sub">(x, g.op<"Mul">(g.op<"Div">(x, y), y));
}

/// The remainder of integers with the sign of the divisor, as in Python. Needs opset 9.
inline value floor_remainder(graph<7> g, value x, value y) {
    if (g.opset() < 9) detail::refuse_below(9, "a remainder of sizes");
    if (g.opset() >= 10) return g.within<10>().op<"Mod">(x, y);
    value const rest = remainder_of(g, x, y);
    auto const since = g.within<9>(); // Sign, Where
    value const is_off = g.op<"Less">(g.op<"Mul">(since.op<"Sign">(rest), since.op<"Sign">(y)), 0);
    return since.op<"Where">(is_off, g.op<"Add">(rest, y), rest);
}

/// Where, which was added in opset 9.
inline value where(graph<7> g, value condition, value x, value y) {
    if (g.opset() < 9) detail::refuse_below(9, "a choice between values");
    return g.within<9>().op<"Where">(condition, x, y);
}

/// Round to the nearest integer, halves to even: an operator since opset 11.
inline value round_to_even(graph<7> g, value x) {
    if (g.opset() >= 11) return g.within<11>().op<"Round">(x);
    value const below = g.op<"Floor">(x);
    value const rest = g.op<"Sub">(x, below);
    value const half = g.op<"Mul">(below, 0.5);
    value const is_odd = g.op<"Less">(g.op<"Floor">(half), half);
    value const up = g.op<"Or">(g.op<"Greater">(rest, 0.5), g.op<"And">(is_odd, g.op<"Not">(g.op<"Less">(rest, 0.5))));
    return g.op<"Add">(below, g.cast(up, x.dtype()));
}

} // namespace ATON_NAMESPACE::mappings
