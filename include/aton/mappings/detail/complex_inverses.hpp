// SPDX-License-Identifier: MIT
// Inverse circular and hyperbolic functions of complex tensors, log1p and the logistic function, with the branch cuts
// and infinities of C.
// Internal header.
#pragma once

#include <limits>
#include <numbers>

#include <aton/mappings/detail/complex_functions.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Whether a part is infinite.
inline value is_unbounded(graph<7> g, wide_parts z) { return g.op<"Or">(is_unbounded(g, z.re), is_unbounded(g, z.im)); }

/// log1p(|x| + x^2 / (1 + sqrt(1 + x^2))) with the sign of x, which does not cancel near 0. The quotient is 1 before
/// the square overflows.
inline value inverse_sinh(graph<9> g, value x) {
    value const size = g.op<"Abs">(x);
    value const capped = min_of(g, size, g.scalar(1e150, x.dtype()));
    value const root = g.op<"Sqrt">(g.op<"Add">(g.op<"Mul">(capped, capped), 1));
    value const more = g.op<"Mul">(size, g.op<"Div">(capped, g.op<"Add">(root, 1)));
    return copysign(g, log1p(g, g.op<"Add">(size, more)), x);
}

/// The square roots of 1 - z and 1 + z, from which asin and acos follow without cancellation.
struct both_roots {
    wide_parts below;
    wide_parts above;
};
inline both_roots roots_beside(graph<9> g, wide_parts z) {
    value const one = g.scalar(1, z.re.dtype());
    return {square_root(g, {g.op<"Sub">(one, z.re), g.op<"Neg">(z.im)}),
            square_root(g, {g.op<"Add">(z.re, one), z.im})};
}
/// The imaginary part of conj(a) * b.
inline value turned(graph<7> g, wide_parts a, wide_parts b) {
    return g.op<"Sub">(g.op<"Mul">(a.re, b.im), g.op<"Mul">(a.im, b.re));
}

inline wide_parts inverse_sine(graph<9> g, wide_parts z, dtype type) {
    both_roots const r = roots_beside(g, z);
    value const width = g.op<"Sub">(g.op<"Mul">(r.below.re, r.above.re), g.op<"Mul">(r.below.im, r.above.im));
    value const is_far = is_unbounded(g, z);
    value const infinity = g.scalar(std::numeric_limits<double>::infinity(), z.re.dtype());
    value const angle = acute_angle(g, g.op<"Abs">(z.re), g.op<"Where">(is_far, g.op<"Abs">(z.im), width), type);
    value const im = inverse_sinh(g, turned(g, r.below, r.above));
    return {g.op<"Where">(is_equal(g, z.re, 0), z.re, copysign(g, angle, z.re)),
            g.op<"Where">(is_far, copysign(g, infinity, z.im), im)};
}

inline wide_parts inverse_cosine(graph<9> g, wide_parts z, dtype type) {
    both_roots const r = roots_beside(g, z);
    value const is_far = is_unbounded(g, z);
    value const infinity = g.scalar(std::numeric_limits<double>::infinity(), z.re.dtype());
    value const far_angle = atan2_in(g, g.op<"Abs">(z.im), z.re, type);
    value const angle = g.op<"Mul">(acute_angle(g, r.below.re, r.above.re, type), 2);
    value const away = g.op<"Where">(is_far, far_angle, angle);
    value const re = or_number(g, is_equal(g, z.re, 0), away, std::numbers::pi / 2);
    value const im = inverse_sinh(g, turned(g, r.above, r.below));
    return {re, g.op<"Where">(is_far, g.op<"Neg">(copysign(g, infinity, z.im)), im)};
}

/// acosh(z) is i acos(z) or -i acos(z), of which the real part is positive.
inline wide_parts inverse_hyperbolic_cosine(graph<9> g, wide_parts z, dtype type) {
    wide_parts const y = inverse_cosine(g, z, type);
    return {g.op<"Abs">(y.im), copysign(g, y.re, z.im)};
}

/// log1p(4 |x| / ((1 - |x|)^2 + y^2)) / 4 with the sign of x, and half of the angle of (1 - x^2 - y^2) + 2iy.
inline wide_parts inverse_hyperbolic_tangent(graph<9> g, wide_parts z, dtype type) {
    value const one = g.scalar(1, z.re.dtype());
    value const size = g.op<"Abs">(z.re);
    value const rest = g.op<"Sub">(one, size);
    value const square = g.op<"Mul">(z.im, z.im);
    value const ratio = g.op<"Div">(g.op<"Mul">(size, 4), g.op<"Add">(g.op<"Mul">(rest, rest), square));
    value const re = copysign(g, g.op<"Mul">(log1p(g, ratio), 0.25), z.re);
    value const width = g.op<"Sub">(g.op<"Mul">(rest, g.op<"Add">(size, one)), square);
    value const im = g.op<"Mul">(atan2_in(g, g.op<"Mul">(z.im, 2), width, type), 0.5);
    value const is_far = is_unbounded(g, z);
    value const zero = g.scalar(0, z.re.dtype());
    value const quarter = copysign(g, g.scalar(std::numbers::pi / 2, z.re.dtype()), z.im);
    return {g.op<"Where">(is_equal(g, z.re, 0), z.re, g.op<"Where">(is_far, copysign(g, zero, z.re), re)),
            g.op<"Where">(g.op<"And">(is_far, is_equal(g, z.im, z.im)), quarter, im)};
}

/// Near 0, log1p(x (2 + x) + y^2) / 2 does not cancel.
inline wide_parts log_of_one_more(graph<9> g, wide_parts z, dtype type) {
    value const more = g.op<"Add">(z.re, 1);
    value const near = log1p(g, g.op<"Add">(g.op<"Mul">(z.re, g.op<"Add">(z.re, 2)), g.op<"Mul">(z.im, z.im)));
    value const half = hypot(g, g.op<"Mul">(more, 0.5), g.op<"Mul">(z.im, 0.5));
    value const is_near = is_less(g, hypot(g, z.re, z.im), 0.5);
    value const re = g.op<"Where">(is_near, g.op<"Mul">(near, 0.5), g.op<"Add">(g.op<"Log">(half), std::numbers::ln2));
    return {re, atan2_in(g, z.im, more, type)};
}

/// asinh(z) = -i asin(iz), and atan from atanh in the same way: with exchanged parts, as in circular().
template <auto Inverse>
wide_parts exchanged(graph<9> g, wide_parts z, dtype type) {
    wide_parts const y = Inverse(g, {z.im, z.re}, type);
    return {y.im, y.re};
}

/// The body of a function of wide parts with angles, which are computed in float32 unless the parts are float64.
template <auto Function>
inline constexpr auto with_angles = [](graph<9> g, complex_value z) -> complex_value {
    dtype const type = part_type(z.dtype());
    return narrowed(g, Function(g, widened(g, z), type == dtype::float64 ? type : dtype::float32), type);
};

/// 1 / (1 + exp(-z))
inline constexpr auto sigmoid_of_complex = [](graph<9> g, complex_value z) -> complex_value {
    complex_value const y = exp_complex(g, g.complex(g.op<"Neg">(g.real(z)), g.op<"Neg">(g.imag(z))));
    return reciprocal_complex(g, g.complex(g.op<"Add">(g.real(y), 1), g.imag(y)));
};
inline constexpr auto silu_of_complex = [](graph<9> g, complex_value z) -> complex_value {
    return multiply_complex(g, {z, sigmoid_of_complex(g, z)});
};

} // namespace ATON_NAMESPACE::mappings::detail
