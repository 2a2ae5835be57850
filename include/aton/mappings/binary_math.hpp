// SPDX-License-Identifier: MIT
// Functions of two real numbers: aten's atan2, hypot, copysign, xlogy, logaddexp ..., correct at zeros, infinities and NaN.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/exponents.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Whether the sign bit is set, including for -0 (1 / -0 is -inf). Below opset 26, ONNX cannot read the sign of a NaN,
/// which counts as positive.
inline value sign_bit(graph<7> g, value x) {
    if (g.opset() >= 26) return is_less(g, bits_of_float(g.within<26>(), x), 0);
    if (auto const n = known_number(x)) return g.scalar(std::signbit(*n) && !std::isnan(*n), dtype::bool_);
    return is_less(g, min_of(g, x, g.op<"Reciprocal">(x)), 0);
}

inline value copysign(graph<9> g, value magnitude, value sign) {
    value const m = g.op<"Abs">(magnitude);
    if (auto const n = known_number(sign)) return std::signbit(*n) ? g.op<"Neg">(m) : m;
    return g.op<"Where">(sign_bit(g, sign), g.op<"Neg">(m), m);
}

/// The arctangent of a ratio from 0 to 1, in float64: ONNX Runtime has only that of float32, from which one step of
/// Newton's method starts.
inline value precise_atan(graph<7> g, value ratio) {
    value const near = g.cast(g.op<"Atan">(g.cast(ratio, dtype::float32)), dtype::float64);
    value const cos = g.op<"Cos">(near);
    return g.op<"Add">(near, g.op<"Mul">(g.op<"Sub">(g.op<"Mul">(ratio, cos), g.op<"Sin">(near)), cos));
}

/// The angle of a point in the first quadrant, with the arctangent in `type`. The case height = width covers 0 / 0 and
/// inf / inf.
inline value acute_angle(graph<9> g, value height, value width, dtype type) {
    value const diagonal = g.op<"Mul">(g.op<"Sign">(height), std::numbers::pi / 4);
    value const is_diagonal = is_equal(g, height, width);
    if (type != dtype::float64) {
        value const slope = g.op<"Atan">(g.cast(g.op<"Div">(height, width), type));
        return g.op<"Where">(is_diagonal, diagonal, g.cast(slope, height.dtype()));
    }
    value const slope = precise_atan(g, g.op<"Div">(min_of(g, height, width), max_of(g, height, width)));
    value const is_steep = is_greater(g, height, width);
    value const steep = g.op<"Sub">(g.scalar(std::numbers::pi / 2, type), slope);
    return g.op<"Where">(is_diagonal, diagonal, g.op<"Where">(is_steep, steep, slope));
}
/// The angle in the first quadrant, mirrored by the signs of x and y.
inline value atan2_in(graph<9> g, value y, value x, dtype type) {
    value const acute = acute_angle(g, g.op<"Abs">(y), g.op<"Abs">(x), type);
    value const angle = g.op<"Where">(sign_bit(g, x), g.op<"Sub">(g.scalar(std::numbers::pi, x.dtype()), acute), acute);
    return g.op<"Where">(sign_bit(g, y), g.op<"Neg">(angle), angle);
}
inline value atan2(graph<9> g, value y, value x) { return atan2_in(g, y, x, x.dtype()); }

/// Squares of all numbers of this dtype are finite, and not 0, in the next larger one.
inline dtype dtype_of_squares(dtype type) { return type == dtype::float16 ? dtype::float32 : dtype::float64; }

/// larger * sqrt(1 + (smaller / larger)^2), which avoids overflow. Equal operands cover 0 / 0; infinity takes
/// precedence over NaN. Without NaN, a larger dtype avoids overflow as well.
inline value hypot(graph<9> g, value a, value b) {
    if (a.dtype() != dtype::float64 && !g.exact_nan()) {
        value const wide_a = g.cast(a, dtype_of_squares(a.dtype()));
        value const wide_b = g.cast(b, wide_a.dtype());
        value const squares = g.op<"Add">(g.op<"Mul">(wide_a, wide_a), g.op<"Mul">(wide_b, wide_b));
        return g.cast(g.op<"Sqrt">(squares), a.dtype());
    }
    value const x = g.op<"Abs">(a);
    value const y = g.op<"Abs">(b);
    value const larger = max_of(g, x, y);
    value const smaller = min_of(g, x, y);
    value const ratio = g.op<"Where">(is_equal(g, x, y), g.scalar(1, x.dtype()), g.op<"Div">(smaller, larger));
    value const length = g.op<"Mul">(larger, g.op<"Sqrt">(g.op<"Add">(g.op<"Mul">(ratio, ratio), 1)));
    value const infinity = g.scalar_like(std::numeric_limits<double>::infinity(), x);
    return g.op<"Where">(g.op<"Or">(is_equal(g, x, infinity), is_equal(g, y, infinity)), infinity, length);
}

/// x * log, except 0 where x is 0 and y is not NaN.
inline value times_log(graph<9> g, value x, value y, value log) {
    value const zero = g.op<"Where">(is_nan(g, y), y, g.scalar(0, y.dtype()));
    return g.op<"Where">(is_equal(g, x, 0), zero, g.op<"Mul">(x, log));
}
inline value xlogy(graph<9> g, value x, value y) { return times_log(g, x, y, g.op<"Log">(y)); }

inline value xlog1py(graph<9> g, value x, value y) { return times_log(g, x, y, log1p(g, y)); }

/// -|a - b|; 0 for equal infinities.
inline value negative_distance(graph<9> g, value a, value b) {
    value const difference = g.op<"Where">(is_equal(g, a, b), g.scalar(0, a.dtype()), g.op<"Sub">(a, b));
    return g.op<"Neg">(g.op<"Abs">(difference));
}
/// max + log(1 + exp(-|a - b|)).
inline value logaddexp(graph<9> g, value a, value b) {
    return g.op<"Add">(max_of(g, a, b), g.op<"Softplus">(negative_distance(g, a, b)));
}
/// log2(2^a + 2^b).
inline value logaddexp2(graph<9> g, value a, value b) {
    value const nats = g.op<"Softplus">(g.op<"Mul">(negative_distance(g, a, b), std::numbers::ln2));
    return g.op<"Add">(max_of(g, a, b), g.op<"Mul">(nats, std::numbers::log2e));
}

/// Euclid's algorithm takes at most this many steps for integers of 64 bits.
inline constexpr std::int64_t max_steps_of_gcd = 92;

/// Euclid's algorithm on magnitudes, which wrap around like ATen's: the one of the minimum stays negative.
inline value gcd_in(graph<10> g, value a, value b, dtype type) {
    auto const magnitude = [&](value x) { return g.cast(g.cast(g.op<"Abs">(x), type), x.dtype()); };
    auto const unfinished = [](graph<10> h, value x) -> value {
        value const left = h.cast(h.op<"Not">(is_equal(h, x, 0)), dtype::int64);
        return is_greater(h, h.op<"ReduceSum">(left, attr::keepdims_i(0)), 0);
    };
    value const first = magnitude(broadcast_with(g, a, b));
    auto [zero, divisor] = g.op<"Loop">(g.scalar(max_steps_of_gcd, dtype::int64),
                                        g.scalar(true, dtype::bool_),
                                        first,
                                        magnitude(broadcast_with(g, b, a)),
                                        outputs<2>,
                                        attr::body_g([&](graph<10> h, value, value, value p, value q) {
                                            value const done = is_equal(h, p, 0);
                                            value const safe = h.op<"Where">(done, h.scalar(1, p.dtype()), p);
                                            value const next = h.op<"Mod">(q, safe, attr::fmod_i(1)); // 0 if done
                                            return std::tuple(unfinished(h, next), next, h.op<"Where">(done, q, p));
                                        }));
    return divisor.set_shape(first.shape());
}

inline operands integers(graph<10> g, value a, value b) {
    dtype const type = promote(a, b);
    if (!is_integral(type) || type == dtype::bool_) throw unsupported_error("the operands are not integers");
    return cast_through(g, a, b, type, arithmetic_type(type));
}

inline value gcd(graph<10> g, value a, value b) {
    auto const [x, y, wide] = integers(g, a, b);
    dtype const type = promote(a, b);
    return g.cast(gcd_in(g, x, y, type), type);
}

/// |a / gcd * b|, 0 for 0 and 0. The quotient cannot overflow: the only negative divisor is the minimum.
inline value lcm(graph<10> g, value a, value b) {
    auto const [x, y, wide] = integers(g, a, b);
    dtype const type = promote(a, b);
    value const divisor = gcd_in(g, x, y, type);
    value const safe = g.op<"Where">(is_equal(g, divisor, 0), g.scalar(1, wide), divisor);
    value const product = g.op<"Mul">(g.op<"Div">(x, safe), y);
    return g.cast(g.op<"Abs">(g.cast(g.cast(product, type), wide)), type);
}

/// The number after a in the direction of b, in float64, where the neighbors of narrower dtypes are exact.
inline value next_number(graph<11> g, value a, value b, dtype type) {
    float_format const format = format_of(type);
    binary_parts const p = parts_of(g, a, type == dtype::float64);
    value const two = g.scalar(2, dtype::float64);
    auto const spacing = [&](value exponent) -> value {
        value const lowest = g.scalar(format.lowest, dtype::float64);
        return g.op<"Pow">(two, g.op<"Max">(g.op<"Sub">(exponent, format.digits), lowest));
    };
    value const grows = g.op<"Less">(a, b);
    value const is_negative = g.op<"Less">(a, 0);
    value const away = g.op<"Xor">(grows, is_negative);
    value const size = g.op<"Abs">(a);
    value const is_power =
        g.cast(g.op<"Equal">(p.fraction, 0.5), dtype::float64); // below it, numbers are closer together
    value const inward = g.op<"Sub">(size, spacing(g.op<"Sub">(p.exponent, is_power)));
    value const moved = g.op<"Where">(away, g.op<"Add">(size, spacing(p.exponent)), inward);
    value const least = g.scalar(std::ldexp(1.0, format.lowest), dtype::float64);
    value const of_zero = g.op<"Where">(grows, least, g.op<"Neg">(least));
    value const finite = g.op<"Where">(p.ordinary, moved, g.scalar(format.largest, dtype::float64));
    value const with_sign = g.op<"Where">(is_negative, g.op<"Neg">(finite), finite);
    value const next = g.op<"Where">(g.op<"Equal">(a, 0), of_zero, with_sign);
    value const either_nan = g.op<"Or">(g.op<"IsNaN">(a), g.op<"IsNaN">(b)); // inf - inf is another NaN
    value const other = g.op<"Where">(either_nan, g.op<"Add">(a, b), next);
    return g.op<"Where">(g.op<"Equal">(a, b), b, other);
}
inline value nextafter(graph<11> g, value a, value b) {
    dtype const type = promote(a, b);
    auto const wide = [&](value x) { return g.cast(g.cast(x, type), dtype::float64); };
    return g.cast(next_number(g, wide(a), wide(b), type), type);
}

} // namespace detail

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
    symbolic<"aten::special_xlog1py.other_scalar(self, other)">(
        detail::with_number<detail::in_floats<detail::xlog1py>>),
    symbolic<"aten::special_xlog1py.self_scalar(self, other)">(
        detail::number_first<detail::in_floats<detail::xlog1py>>),
    symbolic<"aten::logaddexp(self, other)">(detail::of_tensors<detail::in_floats<detail::logaddexp>>),
    symbolic<"aten::logaddexp2(self, other)">(detail::of_tensors<detail::in_floats<detail::logaddexp2>>),
    symbolic<"aten::nextafter(self, other)">(detail::of_tensors<detail::nextafter>),
    symbolic<"aten::gcd(self, other)">(detail::of_tensors<detail::gcd>),
    symbolic<"aten::lcm(self, other)">(detail::of_tensors<detail::lcm>));

} // namespace ATON_NAMESPACE::mappings
