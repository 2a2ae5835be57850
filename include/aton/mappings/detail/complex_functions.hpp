// SPDX-License-Identifier: MIT
// Elementwise functions of complex tensors: roots, logarithms, powers, circular and hyperbolic functions, with the
// branch cuts and infinities of C.
// Internal header.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <aton/mappings/detail/complex.hpp>

namespace ATON_NAMESPACE::mappings::detail {

inline constexpr auto square_complex = [](graph<7> g, complex_value z) { return multiply_complex(g, {z, z}); };

inline constexpr auto reciprocal_complex = [](graph<9> g, complex_value z) {
    return divide_complex(g, {g.complex(1, z.dtype()), z});
};

/// z times a real number.
inline complex_value stretched(graph<7> g, complex_value const& z, double factor) {
    return g.complex(g.op<"Mul">(g.real(z), factor), g.op<"Mul">(g.imag(z), factor));
}

inline value is_unbounded(graph<7> g, value x) {
    return is_equal(g, g.op<"Abs">(x), std::numeric_limits<double>::infinity());
}
/// False for NaN.
inline value is_finite(graph<7> g, value x) {
    return is_less(g, g.op<"Abs">(x), std::numeric_limits<double>::infinity());
}

/// exp(a) * (cos(b) + i * sin(b)). As in C, a real number stays real, and beside an infinite real part, the angle may
/// be infinite or NaN.
inline constexpr auto exp_complex = [](graph<9> g, complex_value z) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    value const exponent = g.real(z);
    value const angle = g.imag(z);
    value const size = g.op<"Exp">(exponent);
    value const zero = g.scalar_like(0, size);
    value const is_zero = is_equal(g, exponent, -infinity);
    value const is_turned = g.op<"And">(is_equal(g, exponent, infinity), g.op<"Not">(is_finite(g, angle)));
    value const re = g.op<"Where">(is_turned, size, g.op<"Mul">(size, g.op<"Cos">(angle)));
    value const im = g.op<"Where">(is_equal(g, angle, 0), angle, g.op<"Mul">(size, g.op<"Sin">(angle)));
    return g.complex(g.op<"Where">(is_zero, zero, re), g.op<"Where">(is_zero, zero, im));
};
inline constexpr auto exp2_complex = [](graph<9> g, complex_value z) {
    return exp_complex(g, stretched(g, z, std::numbers::ln2));
};

/// The modulus of half of z, since that of z may be out of the range of the dtype.
inline constexpr auto log_complex = [](graph<9> g, complex_value z) {
    value const half = hypot(g, g.op<"Mul">(g.real(z), 0.5), g.op<"Mul">(g.imag(z), 0.5));
    return g.complex(g.op<"Add">(g.op<"Log">(half), std::numbers::ln2), phase(g, z));
};
inline constexpr auto log2_complex = [](graph<9> g, complex_value z) {
    return stretched(g, log_complex(g, z), std::numbers::log2e);
};
inline constexpr auto log10_complex = [](graph<9> g, complex_value z) {
    return stretched(g, log_complex(g, z), std::numbers::log10e);
};

/// z / |z|, and 0 for 0.
inline constexpr auto sgn_complex = [](graph<9> g, complex_value z) {
    value const size = modulus(g, z);
    value const is_zero = is_equal(g, size, 0);
    auto const part = [&](value x) -> value {
        return g.op<"Where">(is_zero, g.scalar_like(0, x), g.op<"Div">(x, size));
    };
    return g.complex(part(g.real(z)), part(g.imag(z)));
};

/// The parts of a number in float64, in which the intermediate results of complex64 neither overflow nor cancel.
struct wide_parts {
    value re;
    value im;
};

inline wide_parts widened(graph<7> g, complex_value const& z) {
    return {g.cast(g.real(z), dtype::float64), g.cast(g.imag(z), dtype::float64)};
}
/// The parts rounded to `type`, the dtype of the parts of the result.
inline complex_value narrowed(graph<7> g, wide_parts const& z, dtype type) {
    return g.complex(g.cast(z.re, type), g.cast(z.im, type));
}

/// The body of a function of wide parts. ONNX Runtime has no Sinh, Cosh and Tan of float64.
template <auto Function>
inline constexpr auto in_double = [](graph<9> g, complex_value z) -> complex_value {
    return narrowed(g, Function(g, widened(g, z)), part_type(z.dtype()));
};

/// The larger part is sqrt((|z| + |x|) / 2), the other one follows from y = 2 * re * im. Half of it does not overflow.
inline wide_parts square_root(graph<9> g, wide_parts z) {
    value const width = g.op<"Mul">(z.re, 0.125);
    value const size = hypot(g, width, g.op<"Mul">(z.im, 0.125));
    value const half = g.op<"Sqrt">(g.op<"Add">(g.op<"Abs">(width), size));
    value const has_no_angle = g.op<"Or">(is_equal(g, half, 0), is_unbounded(g, z.im));
    value const large = g.op<"Where">(has_no_angle, g.op<"Abs">(z.im), g.op<"Mul">(half, 2));
    value const small = g.op<"Where">(has_no_angle, z.im, g.op<"Div">(g.op<"Mul">(z.im, 0.25), half));
    value const is_left = is_less(g, z.re, 0);
    return {g.op<"Where">(is_left, g.op<"Abs">(small), large), g.op<"Where">(is_left, copysign(g, large, z.im), small)};
}

inline constexpr auto rsqrt_complex = [](graph<9> g, complex_value z) -> complex_value {
    return reciprocal_complex(g, in_double<square_root>(g, z));
};

/// cos(b) - 1 = -2 sin(b / 2)^2.
inline wide_parts exp_less_one(graph<7> g, wide_parts z) {
    value const half = g.op<"Sin">(g.op<"Mul">(z.im, 0.5));
    value const re =
        g.op<"Sub">(g.op<"Mul">(expm1(g, z.re), g.op<"Cos">(z.im)), g.op<"Mul">(g.op<"Mul">(half, half), 2));
    return {re, g.op<"Mul">(g.op<"Exp">(z.re), g.op<"Sin">(z.im))};
}

/// sinh(x) and cosh(x); sinh(2a) = tanh(a) * (cosh(2a) + 1) does not cancel near 0.
inline wide_parts sinh_and_cosh(graph<7> g, value x) {
    value const half = g.op<"Exp">(g.op<"Mul">(x, 0.5));
    value const growing = g.op<"Mul">(g.op<"Mul">(half, 0.5), half);
    value const cosh = g.op<"Add">(growing, g.op<"Div">(g.scalar(0.25, x.dtype()), growing));
    return {g.op<"Mul">(g.op<"Tanh">(g.op<"Mul">(x, 0.5)), g.op<"Add">(cosh, 1)), cosh};
}

/// x where the angle is finite, and otherwise a number for it.
inline value or_number(graph<9> g, value where, value x, double n) {
    return g.op<"Where">(where, g.scalar_like(n, x), x);
}

/// sinh(a) cos(b) + i cosh(a) sin(b). The angle may be infinite or NaN where it does not matter.
inline wide_parts hyperbolic_sine(graph<9> g, wide_parts z) {
    wide_parts const h = sinh_and_cosh(g, z.re);
    value const is_extreme = g.op<"Or">(is_equal(g, z.re, 0), is_unbounded(g, z.re));
    value const is_turned = g.op<"And">(is_extreme, g.op<"Not">(is_finite(g, z.im)));
    value const re = g.op<"Where">(is_turned, g.op<"Abs">(h.re), g.op<"Mul">(h.re, g.op<"Cos">(z.im)));
    return {re, g.op<"Where">(is_equal(g, z.im, 0), z.im, g.op<"Mul">(h.im, g.op<"Sin">(z.im)))};
}

/// cosh(a) cos(b) + i sinh(a) sin(b).
inline wide_parts hyperbolic_cosine(graph<9> g, wide_parts z) {
    wide_parts const h = sinh_and_cosh(g, z.re);
    value const is_turned = g.op<"And">(is_unbounded(g, z.re), g.op<"Not">(is_finite(g, z.im)));
    value const re = g.op<"Mul">(h.im, or_number(g, is_turned, g.op<"Cos">(z.im), 1));
    value const im = g.op<"Mul">(h.re, g.op<"Sin">(z.im));
    value const has_angle = g.op<"And">(is_equal(g, z.re, 0), g.op<"Not">(is_finite(g, z.im)));
    return {re, g.op<"Where">(is_equal(g, z.im, 0), z.im, or_number(g, has_angle, im, 0))};
}

/// With q = exp(-2 |a|) and p = tanh(a) (1 + q): (p (1 + q) + 4 i q sin(b) cos(b)) / (p^2 + 4 q cos(b)^2), which does
/// not overflow.
inline wide_parts hyperbolic_tangent(graph<9> g, wide_parts z) {
    value const q = g.op<"Exp">(g.op<"Mul">(g.op<"Abs">(z.re), -2));
    value const is_turned = g.op<"And">(is_unbounded(g, z.re), g.op<"Not">(is_finite(g, z.im)));
    value const sin = or_number(g, is_turned, g.op<"Sin">(z.im), 0);
    value const cos = or_number(g, is_turned, g.op<"Cos">(z.im), 0);
    value const more = g.op<"Add">(q, 1);
    value const p = g.op<"Mul">(g.op<"Tanh">(z.re), more);
    value const across = g.op<"Mul">(g.op<"Mul">(q, 4), cos);
    value const norm = g.op<"Add">(g.op<"Mul">(p, p), g.op<"Mul">(across, cos));
    value const re = g.op<"Div">(g.op<"Mul">(p, more), norm);
    value const im = g.op<"Div">(g.op<"Mul">(across, sin), norm);
    return {g.op<"Where">(is_equal(g, z.re, 0), z.re, re), g.op<"Where">(is_equal(g, z.im, 0), z.im, im)};
}

/// sin(z) = -i sinh(iz), and the same for tan: with exchanged parts, since these functions are odd and commute with
/// conjugation.
template <auto Hyperbolic>
wide_parts circular(graph_of<Hyperbolic> g, wide_parts z) {
    wide_parts const y = Hyperbolic(g, {z.im, z.re});
    return {y.im, y.re};
}

/// cos(z) = cosh(iz).
inline wide_parts cosine(graph<9> g, wide_parts z) {
    wide_parts const y = hyperbolic_cosine(g, {z.im, z.re});
    return {y.re, g.op<"Neg">(y.im)};
}

/// exp(w log(z)) in float64. A power of 0 is 0 or infinite, by the sign of the real part of the exponent.
inline complex_value power_of_complex(graph<9> g, complex_operands const& o) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    wide_parts const z = widened(g, o.a);
    wide_parts const w = widened(g, o.b);
    value const half = hypot(g, g.op<"Mul">(z.re, 0.5), g.op<"Mul">(z.im, 0.5));
    value const size = g.op<"Add">(g.op<"Log">(half), std::numbers::ln2);
    value const angle = atan2(g, z.im, z.re);
    value const exponent = g.op<"Sub">(g.op<"Mul">(w.re, size), g.op<"Mul">(w.im, angle));
    value const turn = g.op<"Add">(g.op<"Mul">(w.re, angle), g.op<"Mul">(w.im, size));
    complex_value const y = exp_complex(g, g.complex(exponent, turn));
    value const is_zero = g.op<"And">(is_equal(g, z.re, 0), is_equal(g, z.im, 0));
    auto const of_zero = [&](double inverse) {
        value const negative =
            g.op<"Where">(is_less(g, w.re, 0), g.scalar(inverse, dtype::float64), g.scalar(nan, dtype::float64));
        return choose(g, is_greater(g, w.re, 0), g.scalar(0, dtype::float64), negative);
    };
    return narrowed(g,
                    {g.op<"Where">(is_zero, of_zero(std::numeric_limits<double>::infinity()), g.real(y)),
                     g.op<"Where">(is_zero, of_zero(nan), g.imag(y))},
                    part_type(o.a.dtype()));
}

/// A tensor of complex ones with the shape of z.
inline complex_value ones_like(graph<7> g, complex_value const& z) {
    value const one = filled_like(g, g.real(z), 1, part_type(z.dtype()));
    return g.complex(one, filled_like(g, one, 0, one.dtype()));
}

/// Exponents that are numbers: products, roots and quotients where ATen computes these.
inline constexpr auto complex_power = [](graph<9> g, complex_value z, number exponent) -> complex_value {
    complex_operands const o = promoted(g, z, exponent);
    if (exponent == 0) return ones_like(g, o.a);
    for (int n : {1, 2, 3}) {
        if (!(exponent == n)) continue;
        complex_value product = o.a;
        for (int i = 1; i != n; ++i) product = multiply_complex(g, {product, o.a});
        return product;
    }
    if (exponent == -1) return reciprocal_complex(g, o.a);
    if (exponent == -2) return reciprocal_complex(g, square_complex(g, o.a));
    if (exponent == 0.5) return in_double<square_root>(g, o.a);
    if (exponent == -0.5) return rsqrt_complex(g, o.a);
    bool const has_angle = !exponent.is_constant() || std::fabs(exponent.constant<double>()) <= 1e6;
    if (!has_angle) return g.unsupported("a complex number to a power beyond 10^6, whose angle is not determined");
    return power_of_complex(g, o);
};
inline constexpr auto complex_power_of_number = [](graph<9> g, number base, complex_value exponent) -> complex_value {
    complex_operands const o = promoted(g, exponent, base);
    return base == 1 ? ones_like(g, o.a) : power_of_complex(g, {o.b, o.a});
};

} // namespace ATON_NAMESPACE::mappings::detail
