// SPDX-License-Identifier: MIT
// Functions of two real numbers: aten's atan2, hypot, copysign, xlogy, logaddexp ..., correct at zeros, infinities and NaN.
// Public header.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Applies `Function` to the operands in the floating-point dtype that ATen computes in, and rounds once.
template <binary_function Function>
value in_floats(graph<13> g, value a, value b) {
    dtype const type = to_floating(promote(a, b));
    dtype const wide = opmath_type(type);
    auto const [x, y, same] = cast_rounded(g, a, b, type, wide);
    return g.cast(Function(g, x, y), type);
}

/// Whether the sign bit is set, including for -0 (1 / -0 is -inf). ONNX cannot read the sign of a NaN, which counts as positive.
inline value sign_bit(graph<13> g, value x) {
    if (auto const n = known_number(x)) return g.scalar(std::signbit(*n) && !std::isnan(*n), dtype::bool_);
    return g.op<"Less">(g.op<"Min">(x, g.op<"Reciprocal">(x)), 0);
}

inline value copysign(graph<13> g, value magnitude, value sign) {
    value const m = g.op<"Abs">(magnitude);
    if (auto const n = known_number(sign)) return std::signbit(*n) ? g.op<"Neg">(m) : m;
    return g.op<"Where">(sign_bit(g, sign), g.op<"Neg">(m), m);
}

/// The angle in the first quadrant, mirrored by the signs of x and y. The case |y| = |x| covers 0 / 0 and inf / inf.
inline value atan2(graph<13> g, value y, value x) {
    value const height = g.op<"Abs">(y);
    value const width = g.op<"Abs">(x);
    value const diagonal = g.op<"Mul">(g.op<"Sign">(height), std::numbers::pi / 4);
    value const acute = g.op<"Where">(g.op<"Equal">(height, width), diagonal, g.op<"Atan">(g.op<"Div">(height, width)));
    value const angle = g.op<"Where">(sign_bit(g, x), g.op<"Sub">(g.scalar(std::numbers::pi, x.dtype()), acute), acute);
    return g.op<"Where">(sign_bit(g, y), g.op<"Neg">(angle), angle);
}

/// larger * sqrt(1 + (smaller / larger)^2), which avoids overflow. Equal operands cover 0 / 0; infinity takes precedence over NaN.
inline value hypot(graph<13> g, value a, value b) {
    value const x = g.op<"Abs">(a);
    value const y = g.op<"Abs">(b);
    value const larger = g.op<"Max">(x, y);
    value const smaller = g.op<"Min">(x, y);
    value const ratio = g.op<"Where">(g.op<"Equal">(x, y), g.scalar(1, x.dtype()), g.op<"Div">(smaller, larger));
    value const length = g.op<"Mul">(larger, g.op<"Sqrt">(g.op<"Add">(g.op<"Mul">(ratio, ratio), 1)));
    value const infinity = g.scalar_like(std::numeric_limits<double>::infinity(), x);
    return g.op<"Where">(g.op<"Or">(g.op<"Equal">(x, infinity), g.op<"Equal">(y, infinity)), infinity, length);
}

/// x * log, except 0 where x is 0 and y is not NaN.
inline value times_log(graph<13> g, value x, value y, value log) {
    value const zero = g.op<"Where">(g.op<"IsNaN">(y), y, g.scalar(0, y.dtype()));
    return g.op<"Where">(g.op<"Equal">(x, 0), zero, g.op<"Mul">(x, log));
}
inline value xlogy(graph<13> g, value x, value y) { return times_log(g, x, y, g.op<"Log">(y)); }

inline value xlog1py(graph<13> g, value x, value y) { return times_log(g, x, y, log1p(g, y)); }

/// -|a - b|; 0 for equal infinities.
inline value negative_distance(graph<13> g, value a, value b) {
    value const difference = g.op<"Where">(g.op<"Equal">(a, b), g.scalar(0, a.dtype()), g.op<"Sub">(a, b));
    return g.op<"Neg">(g.op<"Abs">(difference));
}
/// max + log(1 + exp(-|a - b|)).
inline value logaddexp(graph<13> g, value a, value b) {
    return g.op<"Add">(g.op<"Max">(a, b), g.op<"Softplus">(negative_distance(g, a, b)));
}
/// log2(2^a + 2^b).
inline value logaddexp2(graph<13> g, value a, value b) {
    value const nats = g.op<"Softplus">(g.op<"Mul">(negative_distance(g, a, b), std::numbers::ln2));
    return g.op<"Add">(g.op<"Max">(a, b), g.op<"Mul">(nats, std::numbers::log2e));
}

} // namespace detail

// clang-format off: one row per line
inline constexpr auto binary_math = table(
    symbolic<"aten::atan2(self, other)">(detail::of_tensors<detail::in_floats<detail::atan2>>),
    symbolic<"aten::arctan2(self, other)">(detail::of_tensors<detail::in_floats<detail::atan2>>),
    symbolic<"aten::hypot(self, other)">(detail::of_tensors<detail::in_floats<detail::hypot>>),
    symbolic<"aten::copysign.Tensor(self, other)">(detail::of_tensors<detail::in_floats<detail::copysign>>),
    symbolic<"aten::copysign.Scalar(self, other)">(detail::with_number<detail::in_floats<detail::copysign>>),
    symbolic<"aten::xlogy.Tensor(self, other)">(detail::of_tensors<detail::in_floats<detail::xlogy>>),
    symbolic<"aten::xlogy.Scalar_Other(self, other)">(detail::with_number<detail::in_floats<detail::xlogy>>),
    symbolic<"aten::xlogy.Scalar_Self(self, other)">(detail::number_first<detail::in_floats<detail::xlogy>>),
    symbolic<"aten::special_xlogy(self, other)">(detail::of_tensors<detail::in_floats<detail::xlogy>>),
    symbolic<"aten::special_xlogy.other_scalar(self, other)">(detail::with_number<detail::in_floats<detail::xlogy>>),
    symbolic<"aten::special_xlogy.self_scalar(self, other)">(detail::number_first<detail::in_floats<detail::xlogy>>),
    symbolic<"aten::special_xlog1py(self, other)">(detail::of_tensors<detail::in_floats<detail::xlog1py>>),
    symbolic<"aten::special_xlog1py.other_scalar(self, other)">(detail::with_number<detail::in_floats<detail::xlog1py>>),
    symbolic<"aten::special_xlog1py.self_scalar(self, other)">(detail::number_first<detail::in_floats<detail::xlog1py>>),
    symbolic<"aten::logaddexp(self, other)">(detail::of_tensors<detail::in_floats<detail::logaddexp>>),
    symbolic<"aten::logaddexp2(self, other)">(detail::of_tensors<detail::in_floats<detail::logaddexp2>>));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
