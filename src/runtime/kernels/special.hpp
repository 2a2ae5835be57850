// SPDX-License-Identifier: MIT
// Special functions around erf and gamma, in double. Sources: Abramowitz and Stegun, 6 (gamma), 7 (erf) and 26 (the normal
// distribution); DLMF 25.11 (the Hurwitz zeta function).
#pragma once

#include <cmath>
#include <limits>

#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::special {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
inline constexpr double epsilon = std::numeric_limits<double>::epsilon();
inline constexpr double pi = 3.14159265358979323846;
inline constexpr double root_half = 0.70710678118654752440;
inline constexpr double two_over_root_pi = 1.12837916709551257390;

/// exp(x^2) erfc(x)
ATON_HD inline double erfcx(double x) {
    if (x < 25) return std::exp(x * x) * std::erfc(x);
    double const z = 0.5 / (x * x);
    return two_over_root_pi / 2 / x * (1 - z * (1 - 3 * z * (1 - 5 * z * (1 - 7 * z))));
}

/// Like erfcx, but for negative numbers with x^2 rounded to T.
template <class T>
ATON_HD T rounded_erfcx(T x) {
    auto const wide = static_cast<double>(x);
    return x < T(0) ? T(2) * std::exp(x * x) - static_cast<T>(erfcx(-wide)) : static_cast<T>(erfcx(wide));
}

/// The x > 0 with erfc(x) = y, 0 < y <= 1: a rational approximation (26.2.23), then Halley steps.
ATON_HD inline double inverse_erfc(double y) {
    double const t = std::sqrt(-2 * std::log(y / 2));
    double x = root_half * (t - (2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)));
    for (int i = 0; i != 3; ++i) {
        double const off = std::erfc(x) - y;
        x += off / (two_over_root_pi * std::exp(-x * x) - x * off);
    }
    return x;
}

ATON_HD inline double erfinv(double x) {
    double const y = std::abs(x);
    if (y == 1) return std::copysign(infinity, x);
    if (!(y < 1)) return no_number;
    if (y > 0.5) return std::copysign(inverse_erfc(1 - y), x);
    double z = y / two_over_root_pi;
    for (int i = 0; i != 4; ++i) {
        double const off = std::erf(z) - y;
        z -= off / (two_over_root_pi * std::exp(-z * z) + z * off);
    }
    return std::copysign(z, x);
}

/// The inverse of the normal distribution function.
ATON_HD inline double ndtri(double p) {
    if (p == 0) return -infinity;
    if (p == 1) return infinity;
    if (!(p > 0 && p < 1)) return no_number;
    double const x = p < 0.25 || p > 0.75 ? inverse_erfc(2 * (p < 0.5 ? p : 1 - p)) : erfinv(std::abs(1 - 2 * p));
    return (p < 0.5 ? -x : x) / root_half;
}

/// Logarithm of the normal distribution function.
ATON_HD inline double log_ndtr(double x) {
    double const t = x * root_half;
    return x < -1 ? std::log(erfcx(-t) / 2) - t * t : std::log1p(-std::erfc(t) / 2);
}

ATON_HD inline double digamma(double x) {
    if (x == 0) return std::copysign(infinity, -x);
    double y = 0;
    if (x < 0) {
        if (x == std::floor(x)) return no_number;
        y = -pi / std::tan(pi * (x - std::trunc(x)));
        x = 1 - x;
    }
    for (; x < 10; x += 1) y -= 1 / x;
    double const z = 1 / (x * x);
    double const rest = z * (1. / 12 - z * (1. / 120 - z * (1. / 252 - z * (1. / 240 - z * (1. / 132)))));
    return y + std::log(x) - 0.5 / x - rest;
}

/// The derivative of digamma. Computed in T, since the large values near its poles depend on how pi is rounded.
template <class T>
ATON_HD T trigamma(T x) {
    T sign = T(1);
    T y = T(0);
    if (x < T(0.5)) {
        T const s = std::sin(T(pi) * x);
        y = -T(pi) * T(pi) / (s * s);
        sign = T(-1);
        x = T(1) - x;
    }
    for (int i = 0; i != 8; ++i, x += T(1)) y += T(1) / (x * x);
    T const z = T(1) / (x * x);
    T const rest = T(1. / 6) - z * (T(1. / 30) - z * (T(1. / 42) - z * T(1. / 30)));
    return sign * (y + (T(1) + T(0.5) / x + z * rest) / x);
}

/// The sum of (q + k)^-s over k >= 0: leading terms, then the Euler-Maclaurin formula.
ATON_HD inline double zeta(double s, double q) {
    if (s == 1) return infinity;
    if (s < 1) return no_number;
    if (q <= 0 && q == std::floor(q)) return infinity;
    if (q <= 0 && s != std::floor(s)) return no_number;
    double sum = 0;
    for (int i = 0; (i < 10 || q < 10) && i != 100000; ++i, q += 1) {
        double const term = std::pow(q, -s);
        sum += term;
        if (std::abs(term) < epsilon / 8 * std::abs(sum)) return sum;
    }
    constexpr double bernoulli[] = {1. / 12,
                                    -1. / 720,
                                    1. / 30240,
                                    -1. / 1209600,
                                    1. / 47900160,
                                    -691. / 1307674368000,
                                    1. / 74724249600,
                                    -3617. / 10670622842880000.}; // B(2k) / (2k)!
    double power = std::pow(q, -s);
    sum += power * q / (s - 1) + power / 2;
    double factor = s;
    for (int k = 0; k != 8; ++k) {
        power /= q;
        sum += bernoulli[k] * factor * power;
        power /= q;
        factor *= (s + 2 * k + 1) * (s + 2 * k + 2);
    }
    return sum;
}

/// For large a: the first terms of Temme's expansion (DLMF 8.12.3).
ATON_HD inline double large_regularized_gamma(double a, double x, bool upper) {
    double const mu = (x - a) / a;
    double const half_square = std::abs(mu) < 1e-4 ? mu * mu * (0.5 - mu / 3) : mu - std::log1p(mu);
    double const eta = std::copysign(std::sqrt(2 * half_square), mu);
    double const first = std::abs(mu) < 1e-4 ? -1. / 3 + mu / 12 : 1 / mu - 1 / eta;
    double const rest = std::exp(-a * half_square) / std::sqrt(2 * pi * a) * first;
    double const tail = std::erfc((upper ? eta : -eta) * std::sqrt(a / 2)) / 2;
    return upper ? tail + rest : tail - rest;
}

/// The regularized incomplete gamma function, lower or upper.
ATON_HD inline double regularized_gamma(double a, double x, bool upper) {
    if (x < 0 || a < 0 || (a == 0 && !(x > 0))) return no_number;
    if (a == infinity && x == infinity) return no_number;
    if (x == 0 || a == infinity) return upper ? 1 : 0;
    if (a == 0 || x == infinity) return upper ? 0 : 1;
    if (x != x || a != a) return no_number; // NOLINT(misc-redundant-expression): NaN
    if (a > 1e6) return large_regularized_gamma(a, x, upper);
    double const scale = std::exp(a * std::log(x) - x - std::lgamma(a));
    constexpr int max_terms = 20000;
    if (x < a + 1) {
        double term = 1 / a;
        double sum = term;
        for (int k = 1; k != max_terms && term > epsilon * sum; ++k) {
            term *= x / (a + k);
            sum += term;
        }
        return upper ? 1 - sum * scale : sum * scale;
    }
    constexpr double tiny = 1e-300; // continued fraction, Lentz's method
    double b = x + 1 - a;
    double c = 1 / tiny;
    double d = 1 / b;
    double fraction = d;
    for (int k = 1; k != max_terms; ++k) {
        double const numerator = -k * (k - a);
        b += 2;
        d = numerator * d + b;
        if (std::abs(d) < tiny) d = tiny;
        c = b + numerator / c;
        if (std::abs(c) < tiny) c = tiny;
        d = 1 / d;
        fraction *= d * c;
        if (std::abs(d * c - 1) < epsilon) break;
    }
    return upper ? scale * fraction : 1 - scale * fraction;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::special
