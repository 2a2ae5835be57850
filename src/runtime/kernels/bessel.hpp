// SPDX-License-Identifier: MIT
// Bessel and Airy functions, in double. Sources: DLMF 9 (Airy) and 10 (Bessel).
#pragma once

#include <cmath>

#include "runtime/kernels/special.hpp"
#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::special {

/// exp(-|x|) I(order, x) for order 0 or 1: the power series, or the expansion for large x (10.40.1).
ATON_HD inline double scaled_bessel_i(int order, double x) {
    double const y = std::abs(x);
    double sum = 1;
    double term = 1;
    double scale = order == 0 ? 1 : x / 2;
    if (y < 24) {
        for (int k = 1; k != 100 && term > epsilon * sum; ++k) {
            term *= y * y / 4 / (static_cast<double>(k) * (k + order));
            sum += term;
        }
        scale *= std::exp(-y);
    } else {
        for (int k = 1; k != 24 && std::abs(term) > epsilon; ++k) {
            term *= ((2 * k - 1) * (2 * k - 1) - 4 * order) / (8 * k * y);
            sum += term;
        }
        scale = (order == 1 && x < 0 ? -1 : 1) / std::sqrt(2 * pi * y);
    }
    return scale * sum;
}

/// exp(x) K(order, x): the integral of exp(-x (cosh t - 1)) cosh(order t) over t > 0 (10.32.9) by the trapezoidal rule,
/// which converges exponentially.
ATON_HD inline double scaled_bessel_k(double order, double x) {
    if (x == 0) return infinity;
    if (!(x > 0)) return no_number;
    if (x == infinity) return 0;
    double const step = x < 10 ? 0.2 : 0.65 / std::sqrt(x);
    double sum = 0.5;
    for (int i = 1; i != 4000; ++i) {
        double const t = i * step;
        double const half = std::sinh(t / 2);
        double const exponent = 2 * x * half * half;
        if (exponent > 40 + order * t) break;
        sum += std::exp(-exponent) * std::cosh(order * t);
    }
    return sum * step;
}

/// Infinite where exp(|x|) overflows T, as in ATen.
template <class T>
ATON_HD T bessel_i(int order, T x) {
    return static_cast<T>(scaled_bessel_i(order, static_cast<double>(x))) * std::exp(std::abs(x));
}
ATON_HD inline double bessel_k(double order, double x) { return scaled_bessel_k(order, x) * std::exp(-x); }

/// x minus its phase pi / 4 or 3 pi / 4, rounded to T, as in ATen for x above 5.
template <class T>
ATON_HD double rounded_phase(int order, T x) {
    double const shift = (2 * order + 1) * pi / 4;
    return x > T(5) ? static_cast<double>(x - static_cast<T>(shift)) + shift : static_cast<double>(x);
}

template <class T>
ATON_HD T bessel_j(int order, T x) {
    double const y = rounded_phase(order, std::abs(x));
    if (!(std::abs(y) < infinity)) return static_cast<T>(no_number);
    double const z = order == 0 ? ::j0(y) : ::j1(y);
    return static_cast<T>(order == 1 && x < T(0) ? -z : z);
}
template <class T>
ATON_HD T bessel_y(int order, T x) {
    if (x == T(0)) return static_cast<T>(-infinity);
    double const y = rounded_phase(order, x);
    if (!(x > T(0)) || y == infinity) return static_cast<T>(no_number);
    return static_cast<T>(order == 0 ? ::y0(y) : ::y1(y));
}

ATON_HD inline double spherical_bessel_j0(double x) {
    if (!(std::abs(x) < infinity)) return x != x ? x : 0;
    return std::abs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x;
}

/// Ai(x) for x below 0, where its power series cancels: the integral of exp(i (t^3 / 3 + x t)) / (2 pi) along the line t = s + i / 2, on
/// which it decays (9.5.4), by the trapezoidal rule.
ATON_HD inline double airy_integral(double x) {
    constexpr double step = 0.05;
    constexpr double height = 0.5;
    double sum = 0.5;
    for (int i = 1; i != 190; ++i) {
        double const s = i * step;
        sum += std::exp(-height * s * s) * std::cos(s * (s * s / 3 - height * height + x));
    }
    return sum * step / pi * std::exp(height * (height * height / 3 - x));
}

/// Ai(x): its power series (9.4.1) around 0, K(1/3) (9.6.2) above, an integral and the oscillating expansion (9.7.9) below, with its phase
/// rounded to T.
template <class T>
ATON_HD double airy_ai(T of) {
    auto const x = static_cast<double>(of);
    if (!(std::abs(x) < infinity)) return no_number;
    double const z = std::abs(x);
    double const phase = 2 * z * std::sqrt(z) / 3;
    if (x > 3) return std::sqrt(x / 3) / pi * bessel_k(1. / 3, phase);
    if (x > -8 && x <= -4) return airy_integral(x);
    if (x > -4) {
        double even = 0.35502805388781723926; // Ai(0)
        double odd = -0.25881940379280679840; // Ai'(0)
        double sum = even + odd * x;
        double const cube = x * x * x;
        odd *= x;
        for (int k = 3; k != 180; k += 3) {
            even *= cube / (k * (k - 1));
            odd *= cube / (k * (k + 1));
            sum += even + odd;
        }
        return sum;
    }
    double sums[2] = {1, 0};
    double term = 1;
    for (int k = 1; k != 16; ++k) {
        double const six = 6. * k;
        term *= (six - 5) * (six - 3) * (six - 1) / (216. * k * (2 * k - 1) * phase);
        sums[k % 2] += (k / 2) % 2 == 0 ? term : -term;
    }
    auto const angle = static_cast<double>(T(-2) * of * std::sqrt(-of) / T(3) + T(pi / 4));
    return (std::sin(angle) * sums[0] - std::cos(angle) * sums[1]) / std::sqrt(pi * std::sqrt(z));
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::special
