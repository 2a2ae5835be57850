// SPDX-License-Identifier: MIT
// What the rows of one-operand functions share: the dtype they compute in, expm1 and log1p, tensors of one number.
// Internal header.
#pragma once

#include <numbers>

#include <aton/mappings/common.hpp>
#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/shaping.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Runs `f` on x; half types in float32, rounded once, as ATen does.
template <class Function>
value in_opmath(graph<13> g, value x, Function f) {
    dtype const type = x.dtype();
    return g.cast(f(g.cast(x, opmath_type(type))), type);
}

/// Runs `f` on x; bfloat16 in float32, since many operators have taken it only since opset 16 (Where) or 22 (Sin).
template <class Function>
value without_bfloat16(graph<13> g, value x, Function f) {
    dtype const type = x.dtype();
    return g.cast(f(type == dtype::bfloat16 ? g.cast(x, dtype::float32) : x), type);
}

/// ONNX has complex tensors, but next to no operators for them.
inline constexpr auto real_only = [](graph<13> g, value x) -> value {
    if (is_complex(x.dtype())) return g.unsupported("complex numbers");
    return x;
};

inline value to_floats(graph<13> g, value x) { return g.cast(real_only(g, x), to_floating(x.dtype())); }

/// One operator, on integers and bools in float32.
template <fixed_string Op>
inline constexpr auto floating = [](graph<13> g, value x) -> value {
    return without_bfloat16(g, to_floats(g, x), [&](value v) -> value { return g.op<Op>(v); });
};

/// A composed function of one value, on integers and bools in float32, on half types in float32 too.
template <auto Function>
inline constexpr auto composed = [](graph<13> g, value x) -> value {
    return in_opmath(g, to_floats(g, x), [&](value v) { return Function(g, v); });
};

inline constexpr auto unchanged = [](graph<1>, value x) -> value { return x; };

/// exp(x) - 1 = tanh(x / 2) (exp(x) + 1): nothing cancels near 0.
inline value expm1(graph<13> g, value x) {
    return g.op<"Mul">(g.op<"Tanh">(g.op<"Mul">(x, 0.5)), g.op<"Add">(g.op<"Exp">(x), 1));
}

/// log(1 + x). Where 1 + x rounds, log(1 + x) / ((1 + x) - 1) has the same error above and below the line (W. Kahan).
inline value log1p(graph<13> g, value x) {
    value const u = g.op<"Add">(x, 1);
    value const log = g.op<"Log">(u);
    value const kept = g.op<"Sub">(u, 1);
    value const rounded = g.op<"Where">(g.op<"Equal">(kept, 0), x, g.op<"Mul">(log, g.op<"Div">(x, kept)));
    return g.op<"Where">(g.op<"Equal">(kept, x), log, rounded);
}

/// A tensor of x's shape full of one number.
inline value filled_like(graph<13> g, value x, scalar n, dtype type) {
    if (x.shape().is_static()) return filled(g, g.sizes(x), n, type);
    value const sizes = g.op<"Shape">(x);
    if (type == dtype::bfloat16 && g.opset() < 20)
        return g.op<"Expand">(element(g, n, type), sizes); // ConstantOfShape: from 20
    return g.op<"ConstantOfShape">(sizes, attr::value_t(one_element(n, type)));
}

} // namespace detail

} // namespace ATON_NAMESPACE::mappings
