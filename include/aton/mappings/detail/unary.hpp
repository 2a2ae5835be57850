// SPDX-License-Identifier: MIT
// Helpers of unary operators: the dtype to compute in, expm1 and log1p, tensors full of one number.
// Internal header.
#pragma once

#include <numbers>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Applies `f` to x; half-precision dtypes in float32, rounded once, as in ATen.
template <class Function>
value in_opmath(graph<7> g, value x, Function f) {
    dtype const type = x.dtype();
    return g.cast(f(g.cast(x, opmath_type(type))), type);
}

/// Applies `f` to x; bfloat16 in float32, because many operators support it only since opset 16 (Where) or 22 (Sin).
template <class Function>
value without_bfloat16(graph<7> g, value x, Function f) {
    dtype const type = x.dtype();
    return g.cast(f(type == dtype::bfloat16 ? g.cast(x, dtype::float32) : x), type);
}

inline value to_floats(graph<7> g, value x) { return g.cast(x, to_floating(x.dtype())); }

/// The body of one operator; integers and bools in float32.
template <fixed_string Op>
inline constexpr auto floating = [](graph_with<Op> g, value x) -> value {
    return without_bfloat16(g, to_floats(g, x), [&](value v) -> value { return g.template op<Op>(v); });
};

/// The body of a composed function; integers, bools and half-precision dtypes in float32.
template <auto Function>
inline constexpr auto composed = [](graph_of<Function> g, value x) -> value {
    return in_opmath(g, to_floats(g, x), [&](value v) { return Function(g, v); });
};

inline constexpr auto unchanged = [](graph<1>, value x) -> value { return x; };

/// exp(x) - 1 as tanh(x / 2) * (exp(x) + 1), which does not cancel near 0.
inline value expm1(graph<7> g, value x) {
    return g.op<"Mul">(g.op<"Tanh">(g.op<"Mul">(x, 0.5)), g.op<"Add">(g.op<"Exp">(x), 1));
}

/// log(1 + x). If 1 + x is rounded to u, log(u) * x / (u - 1) is accurate: numerator and denominator have the same
/// error (W. Kahan).
inline value log1p(graph<9> g, value x) {
    value const u = g.op<"Add">(x, 1);
    value const log = g.op<"Log">(u);
    value const kept = g.op<"Sub">(u, 1);
    value const rounded = g.op<"Where">(is_equal(g, kept, 0), x, g.op<"Mul">(log, g.op<"Div">(x, kept)));
    return g.op<"Where">(is_equal(g, kept, x), log, rounded);
}

/// The bits of floats as integers of the same width, whose sign is that of the float, also of a NaN.
inline value bits_of_float(graph<26> g, value x) {
    dtype const type = bits(x.dtype()) == 64 ? dtype::int64 : bits(x.dtype()) == 32 ? dtype::int32 : dtype::int16;
    return g.op<"BitCast">(x, attr::to_i(type));
}

/// A tensor with the shape of x, full of one number.
inline value filled_like(graph<7> g, value x, number const& n, dtype type) {
    if (x.shape().is_static()) return filled(g, g.sizes(x), n, type);
    value const sizes = g.op<"Shape">(x);
    if (!n.is_constant() || g.opset() < (type == dtype::bfloat16 ? 20 : 9))
        return expand_by(g, element(g, n, type), sizes);
    return g.within<9>().op<"ConstantOfShape">(sizes, attr::value_t(one_element(n.constant(), type)));
}

} // namespace detail

} // namespace ATON_NAMESPACE::mappings
