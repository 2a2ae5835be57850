// SPDX-License-Identifier: MIT
// Special functions without an ONNX operator: aten's erfc, erfinv, ndtr, lgamma, digamma, i0 ..., approximated to float32
// precision.
// Public header.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <limits>
#include <numbers>

#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Evaluates a polynomial by Horner's rule; the constant term comes first.
inline value polynomial(graph<7> g, value x, safe_span<double const> coefficients) {
    std::size_t i = coefficients.size() - 1;
    value y = g.scalar(coefficients[i], x.dtype());
    while (i-- != 0) y = g.op<"Add">(g.op<"Mul">(y, x), coefficients[i]);
    return y;
}
inline value polynomial(graph<7> g, value x, std::initializer_list<double> coefficients) {
    return polynomial(g, x, safe_span<double const>(coefficients.begin(), coefficients.size()));
}

/// The body of a function with float32 precision; refuses float64.
template <auto Function>
inline constexpr auto single_precision = [](graph<9> g, value x) -> value {
    if (x.dtype() == dtype::float64) return g.unsupported("float64: the approximation has only float32 precision");
    return composed<Function>(g, x);
};

/// The body of a function that is computed in float64 and rounded once, so that cancellation does not affect float32
/// results.
template <auto Function>
inline constexpr auto double_precision =
    [](graph<9> g, value x) -> value { return g.cast(Function(g, g.cast(x, dtype::float64)), to_floating(x.dtype())); };

/// The quantile of the normal distribution for p = 1/2 + q, where `tail` is min(p, 1 - p).
/// Wichura 1988, algorithm AS 241 (PPND7): 7 digits, down to 1e-316. `reaches_far`: whether tails below e^-25 occur.
inline value tail_quantile(graph<9> g, value q, value tail, bool reaches_far) {
    value const r = g.op<"Sub">(g.scalar(0.180625, q.dtype()), g.op<"Mul">(q, q));
    value const middle =
        g.op<"Mul">(q,
                    g.op<"Div">(polynomial(g, r, {3.3871327179, 50.434271938, 159.29113202, 59.109374720}),
                                polynomial(g, r, {1, 17.895169469, 78.757757664, 67.187563600})));
    value const root = g.op<"Sqrt">(g.op<"Neg">(g.op<"Log">(tail)));
    value const s = g.op<"Sub">(root, 1.6);
    value const near = g.op<"Div">(polynomial(g, s, {1.4234372777, 2.7568153900, 1.3067284816, 0.17023821103}),
                                   polynomial(g, s, {1, 0.73700164250, 0.12021132975}));
    value beyond = near;
    if (reaches_far) {
        value const t = g.op<"Sub">(root, 5.0);
        value const far = g.op<"Div">(polynomial(g, t, {6.6579051150, 3.0812263860, 0.42868294337, 0.017337203997}),
                                      polynomial(g, t, {1, 0.24197894225, 0.012258202635}));
        beyond = g.op<"Where">(is_at_most(g, root, 5.0), near, far);
    }
    value const finite =
        g.op<"Where">(is_equal(g, tail, 0.0), g.scalar(std::numeric_limits<double>::infinity(), q.dtype()), beyond);
    value const outer = g.op<"Mul">(g.op<"Sign">(q), finite);
    return g.op<"Where">(is_at_most(g, g.op<"Abs">(q), 0.425), middle, outer);
}

inline value ndtri(graph<9> g, value p) {
    value const tail = min_of(g, p, g.op<"Sub">(g.scalar(1, p.dtype()), p));
    return tail_quantile(g, g.op<"Sub">(p, 0.5), tail, true);
}

inline value erfinv(graph<9> g, value x) {
    value const tail = g.op<"Mul">(g.op<"Sub">(g.scalar(1, x.dtype()), g.op<"Abs">(x)), 0.5);
    bool const far = false; // 1 - |x| is 0 or at least 2^-24 in float32
    return g.op<"Mul">(tail_quantile(g, g.op<"Mul">(x, 0.5), tail, far), std::numbers::sqrt2 / 2);
}

/// exp(x^2) erfc(x) for x >= 0. Press et al., Numerical Recipes, erfcc: relative error below 1.2e-7.
inline value scaled_erfc(graph<7> g, value x) {
    value const t = g.op<"Reciprocal">(g.op<"Add">(g.op<"Mul">(x, 0.5), 1));
    value const exponent = polynomial(g,
                                      t,
                                      {-1.26551223,
                                       1.00002368,
                                       0.37409196,
                                       0.09678418,
                                       -0.18628806,
                                       0.27886807,
                                       -1.13520398,
                                       1.48851587,
                                       -0.82215223,
                                       0.17087277});
    return g.op<"Mul">(t, g.op<"Exp">(exponent));
}

/// 1 - erf(x) would be 0 for x >= 4. It is used for float64 nevertheless, with an absolute error of 1e-16.
inline value erfc(graph<9> g, value x) {
    if (x.dtype() == dtype::float64) return g.op<"Sub">(g.scalar(1, x.dtype()), g.op<"Erf">(x));
    value const tail = g.op<"Mul">(scaled_erfc(g, g.op<"Abs">(x)), g.op<"Exp">(g.op<"Neg">(g.op<"Mul">(x, x))));
    return g.op<"Where">(is_less(g, x, 0), g.op<"Sub">(g.scalar(2, x.dtype()), tail), tail);
}
inline value ndtr(graph<9> g, value x) { return g.op<"Mul">(erfc(g, g.op<"Mul">(x, -std::numbers::sqrt2 / 2)), 0.5); }

inline value erfcx(graph<9> g, value x) {
    value const positive = scaled_erfc(g, g.op<"Abs">(x));
    value const negative = g.op<"Sub">(g.op<"Mul">(g.op<"Exp">(g.op<"Mul">(x, x)), 2), positive);
    return g.op<"Where">(is_less(g, x, 0), negative, positive);
}

/// log(erfc(-x / sqrt(2)) / 2), without underflow for x < 0 and without cancellation for x > 0.
inline value log_ndtr(graph<9> g, value x) {
    value const z = g.op<"Mul">(g.op<"Abs">(x), std::numbers::sqrt2 / 2);
    value const half = g.op<"Mul">(scaled_erfc(g, z), 0.5);
    value const z_squared = g.op<"Mul">(z, z);
    value const below = g.op<"Sub">(g.op<"Log">(half), z_squared);
    value const above = log1p(g, g.op<"Neg">(g.op<"Mul">(half, g.op<"Exp">(g.op<"Neg">(z_squared)))));
    return g.op<"Where">(is_less(g, x, 0), below, above);
}

/// Argument reduction of lgamma and digamma: x is mirrored to y >= 1/2 and shifted to z >= 8, where Stirling's series
/// is accurate.
struct stirling {
    stirling(graph<9> g, value x)
        : mirrored(is_less(g, x, 0.5)),
          y(g.op<"Where">(mirrored, g.op<"Sub">(g.scalar(1, x.dtype()), x), x)),
          small(is_less(g, y, 8.0)),
          z(g.op<"Where">(small, g.op<"Add">(y, 8.0), y)),
          inverse(g.op<"Reciprocal">(z)),
          inverse_square(g.op<"Mul">(inverse, inverse)),
          angle(g.op<"Mul">(g.op<"Sub">(x, round_to_even(g, x)), std::numbers::pi)) {}

    value mirrored, y, small, z, inverse, inverse_square;
    value angle; ///< pi * (x - round(x)): exactly 0 if x is an integer
};

inline value lgamma(graph<9> g, value x) {
    stirling const s(g, x);
    value const series = g.op<"Mul">(
        s.inverse, polynomial(g, s.inverse_square, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188}));
    value const log = g.op<"Log">(s.z);
    value const leading = g.op<"Sub">(g.op<"Mul">(g.op<"Sub">(s.z, 0.5), log), s.z);
    value const far = g.op<"Add">(g.op<"Add">(leading, series), 0.91893853320467274178); // log(2 pi) / 2
    value product = s.y;
    for (double k = 1; k < 8; ++k) product = g.op<"Mul">(product, g.op<"Add">(s.y, k));
    value const right = g.op<"Where">(s.small, g.op<"Sub">(far, g.op<"Log">(product)), far);
    value const log_sine = g.op<"Log">(g.op<"Div">(g.op<"Abs">(g.op<"Sin">(s.angle)), std::numbers::pi));
    value const left = g.op<"Neg">(g.op<"Add">(log_sine, right));
    value const finite = g.op<"Where">(s.mirrored, left, right);
    return g.op<"Where">(is_infinite(g, x), g.scalar(std::numeric_limits<double>::infinity(), x.dtype()), finite);
}

/// At its poles, digamma is NaN for negative integers and -1/x for 0.
inline value digamma(graph<9> g, value x) {
    stirling const s(g, x);
    value const series = g.op<"Mul">(
        s.inverse_square, polynomial(g, s.inverse_square, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132}));
    value const far = g.op<"Sub">(g.op<"Sub">(g.op<"Log">(s.z), g.op<"Mul">(s.inverse, 0.5)), series);
    value sum = g.op<"Reciprocal">(s.y);
    for (double k = 1; k < 8; ++k) sum = g.op<"Add">(sum, g.op<"Reciprocal">(g.op<"Add">(s.y, k)));
    value const right = g.op<"Where">(s.small, g.op<"Sub">(far, sum), far);
    value const sine = g.op<"Sin">(s.angle);
    value const cotangent = g.op<"Div">(g.op<"Cos">(s.angle), sine);
    value const left = g.op<"Sub">(right, g.op<"Mul">(cotangent, std::numbers::pi));
    value const pole = g.op<"Where">(is_equal(g, x, 0.0),
                                     g.op<"Neg">(g.op<"Reciprocal">(x)),
                                     g.scalar(std::numeric_limits<double>::quiet_NaN(), x.dtype()));
    value const at_left = g.op<"Where">(is_equal(g, sine, 0.0), pole, left);
    return g.op<"Where">(s.mirrored, at_left, right);
}

/// p (p - 1) / 4 log(pi) + the sum of lgamma(x - j / 2) for j < p. Like ATen, rounds x - j / 2, which matters near
/// poles, and each lgamma, which matters if they cancel.
inline constexpr auto mvlgamma = [](graph<9> g, value x, std::int64_t p) -> value {
    value const v = g.cast(x, dtype::float64);
    auto const n = static_cast<double>(p);
    value sum = g.scalar(n * (n - 1) / 4 * 1.14472988584940017414, dtype::float64); // log(pi)
    dtype const type = to_floating(x.dtype());
    auto const rounded = [&](value y) { return g.cast(g.cast(y, type), dtype::float64); };
    for (double j = 0; j < n; ++j)
        sum = g.op<"Add">(sum, rounded(lgamma(g, exactly_equal(j, 0) ? v : rounded(g.op<"Sub">(v, j / 2)))));
    return g.cast(sum, type);
};

/// exp(-|x|) I0(x). Abramowitz and Stegun 9.8.1 and 9.8.2: relative error below 2e-7.
inline value i0e(graph<9> g, value x) {
    value const a = g.op<"Abs">(x);
    value const t = g.op<"Div">(a, 3.75);
    value const near = g.op<"Mul">(
        polynomial(g, g.op<"Mul">(t, t), {1, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813}),
        g.op<"Exp">(g.op<"Neg">(a)));
    value const far = g.op<"Div">(polynomial(g,
                                             g.op<"Reciprocal">(t),
                                             {0.39894228,
                                              0.01328592,
                                              0.00225319,
                                              -0.00157565,
                                              0.00916281,
                                              -0.02057706,
                                              0.02635537,
                                              -0.01647633,
                                              0.00392377}),
                                  g.op<"Sqrt">(a));
    return g.op<"Where">(is_less(g, t, 1.0), near, far);
}

/// exp(-|x|) I1(x). Abramowitz and Stegun 9.8.3 and 9.8.4.
inline value i1e(graph<9> g, value x) {
    value const a = g.op<"Abs">(x);
    value const t = g.op<"Div">(a, 3.75);
    value const near = g.op<"Mul">(
        g.op<"Mul">(a,
                    polynomial(g,
                               g.op<"Mul">(t, t),
                               {0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411})),
        g.op<"Exp">(g.op<"Neg">(a)));
    value const far = g.op<"Div">(polynomial(g,
                                             g.op<"Reciprocal">(t),
                                             {0.39894228,
                                              -0.03988024,
                                              -0.00362018,
                                              0.00163801,
                                              -0.01031555,
                                              0.02282967,
                                              -0.02895312,
                                              0.01787654,
                                              -0.00420059}),
                                  g.op<"Sqrt">(a));
    value const magnitude = g.op<"Where">(is_less(g, t, 1.0), near, far);
    return g.op<"Where">(is_less(g, x, 0), g.op<"Neg">(magnitude), magnitude);
}

/// Multiplies by exp(|x|) in two factors, because exp(|x|) overflows before the result does.
template <auto Scaled>
value unscaled(graph<9> g, value x) {
    value const half = g.op<"Exp">(g.op<"Mul">(g.op<"Abs">(x), 0.5));
    return g.op<"Mul">(g.op<"Mul">(Scaled(g, x), half), half);
}

/// sin(x) / x; its series near 0, and 0 at infinity.
inline value spherical_bessel_j0(graph<9> g, value x) {
    value const near = is_less(g, g.op<"Abs">(x), 0.5);
    value const series =
        polynomial(g, g.op<"Mul">(x, x), {1, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800});
    value const quotient = g.op<"Div">(g.op<"Sin">(x), x);
    value const finite = g.op<"Where">(near, series, quotient);
    return g.op<"Where">(is_infinite(g, x), g.scalar(0, x.dtype()), finite);
}

} // namespace detail

inline constexpr auto special_functions =
    table(symbolic<"aten::erfc(self)">(detail::composed<detail::erfc>),
          symbolic<"aten::special_erfc(self)">(detail::composed<detail::erfc>),
          symbolic<"aten::special_ndtr(self)">(detail::composed<detail::ndtr>),
          symbolic<"aten::erfinv(self)">(detail::single_precision<detail::erfinv>),
          symbolic<"aten::special_erfinv(self)">(detail::single_precision<detail::erfinv>),
          symbolic<"aten::special_ndtri(self)">(detail::single_precision<detail::ndtri>),
          symbolic<"aten::special_erfcx(self)">(detail::single_precision<detail::erfcx>),
          symbolic<"aten::special_log_ndtr(self)">(detail::single_precision<detail::log_ndtr>),

          symbolic<"aten::lgamma(self)">(detail::double_precision<detail::lgamma>),
          symbolic<"aten::special_gammaln(self)">(detail::double_precision<detail::lgamma>),
          symbolic<"aten::digamma(self)">(detail::double_precision<detail::digamma>),
          symbolic<"aten::special_digamma(self)">(detail::double_precision<detail::digamma>),
          symbolic<"aten::special_psi(self)">(detail::double_precision<detail::digamma>),
          symbolic<"aten::mvlgamma(self, p)">(detail::mvlgamma),
          symbolic<"aten::special_multigammaln(self, p)">(detail::mvlgamma),

          symbolic<"aten::i0(self)">(detail::single_precision<detail::unscaled<detail::i0e>>),
          symbolic<"aten::special_i0(self)">(detail::single_precision<detail::unscaled<detail::i0e>>),
          symbolic<"aten::special_i0e(self)">(detail::single_precision<detail::i0e>),
          symbolic<"aten::special_i1(self)">(detail::single_precision<detail::unscaled<detail::i1e>>),
          symbolic<"aten::special_i1e(self)">(detail::single_precision<detail::i1e>),
          symbolic<"aten::special_modified_bessel_i0(self)">(detail::single_precision<detail::unscaled<detail::i0e>>),
          symbolic<"aten::special_modified_bessel_i1(self)">(detail::single_precision<detail::unscaled<detail::i1e>>),
          symbolic<"aten::special_spherical_bessel_j0(x)">(detail::composed<detail::spherical_bessel_j0>));

} // namespace ATON_NAMESPACE::mappings
