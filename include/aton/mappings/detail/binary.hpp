// SPDX-License-Identifier: MIT
// Helpers of binary operators: promoted operands, Python numbers as operands, one body for all overloads.
// Internal header.
#pragma once

#include <limits>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

/// A Python number as an operand: a 0-d value that promotes weakly, as in `x + 2`.
inline value wrapped_number(graph<1> g, number const& n) {
    return {g.data(), dsl::detail::append_wrapped_number(g.data(), n)};
}

namespace detail {

/// Two operands converted to one dtype.
struct operands {
    value a;
    value b;
    dtype type = dtype::undefined;
};

inline operands cast_both(graph<7> g, value a, value b, dtype type) { return {g.cast(a, type), g.cast(b, type), type}; }
/// Casts to `type` before `wide`, so that numbers wrap around first: -2 as uint8 is 254.
inline operands cast_through(graph<7> g, value a, value b, dtype type, dtype wide) {
    return {g.cast(g.cast(a, type), wide), g.cast(g.cast(b, type), wide), wide};
}
/// Like ATen, rounds operands to a floating-point result dtype before it widens them, including numbers beside
/// half-precision tensors.
inline operands cast_rounded(graph<7> g, value a, value b, dtype type, dtype wide) {
    return is_floating(type) ? cast_through(g, a, b, type, wide) : cast_both(g, a, b, wide);
}
inline operands promoted(graph<7> g, value a, value b) { return cast_both(g, a, b, promote(a, b)); }

/// ATen's opmath_type: half-precision dtypes are computed in float32 and rounded once.
constexpr dtype opmath_type(dtype t) { return t == dtype::float16 || t == dtype::bfloat16 ? dtype::float32 : t; }

/// The dtype for arithmetic: int32 for integers of 8 and 16 bits, which ONNX's arithmetic operators support late or
/// never, and for which ONNX Runtime has no kernels before version 1.21, and none for CUDA.
constexpr dtype arithmetic_type(dtype t) { return is_integral(t) && bits(t) < 32 ? dtype::int32 : t; }

/// arithmetic_type of opmath_type.
constexpr dtype computing_type(dtype t) { return arithmetic_type(opmath_type(t)); }

/// Where, with bfloat16 through float32 below opset 16, and bools as logic: ONNX Runtime has no bool kernel for it.
inline value choose(graph<9> g, value condition, value a, value b) {
    if (a.dtype() == dtype::bool_) return g.op<"Xor">(b, g.op<"And">(condition, g.op<"Xor">(a, b)));
    if (a.dtype() != dtype::bfloat16 || g.opset() >= 16) return g.op<"Where">(condition, a, b);
    value const chosen = g.op<"Where">(condition, g.cast(a, dtype::float32), g.cast(b, dtype::float32));
    return g.cast(chosen, dtype::bfloat16);
}

/// y, or NaN where `marks` is above 0. (Not so in padding, whose mark is lower.)
inline value marked_as_nan(graph<7> g, value y, value marks) {
    if (g.opset() >= 9) {
        value const nan = g.scalar(std::numeric_limits<double>::quiet_NaN(), y.dtype());
        return choose(g.within<9>(), is_greater(g, marks, 0), nan, y);
    }
    value const found = g.cast(is_greater(g, marks, 0), y.dtype());
    return g.op<"Add">(y, g.op<"Div">(g.scalar(0, y.dtype()), g.op<"Sub">(g.scalar(1, y.dtype()), found)));
}

/// Operands of products and quotients. ATen does not round a Python number to a half-precision dtype here: if it is out
/// of range, both operands are widened.
inline operands cast_factors(graph<7> g, value a, value b, dtype type) {
    auto const n = known_number(b);
    bool const is_beyond = n && is_floating(type) && bits(type) == 16 && !fits(*n, type);
    dtype const wide = is_beyond ? opmath_type(type) : arithmetic_type(type);
    return {g.cast(is_beyond ? g.cast(a, type) : a, wide), g.cast(b, wide), wide};
}

/// x reshaped to 1-d.
inline value in_one_dimension(graph<7> g, value x) { return x.rank() == 1 ? x : g.op<"Reshape">(x, g.ints({-1})); }

/// Bodies of the overloads .Tensor, .Scalar and .Scalar_Tensor, made from one function of two values.
template <auto Function>
inline constexpr auto of_tensors = [](graph_of<Function> g, value a, value b) -> value { return Function(g, a, b); };
template <auto Function>
inline constexpr auto with_number =
    [](graph_of<Function> g, value a, number b) -> value { return Function(g, a, wrapped_number(g, b)); };
template <auto Function>
inline constexpr auto number_first =
    [](graph_of<Function> g, number a, value b) -> value { return Function(g, wrapped_number(g, a), b); };

/// Applies `Function` to the operands in the floating-point dtype that ATen computes in, and rounds once.
template <auto Function>
value in_floats(graph_of<Function> g, value a, value b) {
    dtype const type = to_floating(promote(a, b));
    dtype const wide = opmath_type(type);
    auto const [x, y, same] = cast_rounded(g, a, b, type, wide);
    return g.cast(Function(g, x, y), type);
}

} // namespace detail

} // namespace ATON_NAMESPACE::mappings
