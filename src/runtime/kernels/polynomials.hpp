// SPDX-License-Identifier: MIT
// Orthogonal polynomials of degree n at x by their recurrences; 0 for negative degrees. Formulas that ATen uses near -1
// and 1 and for large degrees are used here too, and fused like in its builds.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::polynomials {

template <class T>
ATON_HD std::int64_t degree(T n) {
    return n > T(-1e9) && n < T(1e9) ? static_cast<std::int64_t>(n) : -1;
}

/// p(k) = f(k, x, p(k - 1), p(k - 2)) for k from 2 to n, or until it is NaN.
template <class T, class Next>
ATON_HD T recur(T first, T second, std::int64_t n, Next const& next) {
    if (n < 0) return T(0);
    if (n == 0) return first;
    for (std::int64_t k = 2; k <= n && second == second; ++k) { // NOLINT(misc-redundant-expression): NaN
        T const third = next(T(k), second, first);
        first = second;
        second = third;
    }
    return second;
}

/// The four kinds start with 1 and `second`, and have p(k) = 2 x p(k - 1) - p(k - 2).
template <class T>
ATON_HD T chebyshev(T x, T second, std::int64_t n) {
    return recur(T(1), second, n, [x](T, T a, T b) { return std::fma(x + x, a, -b); });
}

template <class T>
ATON_HD T chebyshev_t(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n < 0) return T(0);
    if (std::abs(x) == T(1)) return x > T(0) || n % 2 == 0 ? T(1) : T(-1);
    if (n > 6 && std::abs(x) < T(1)) return std::cos(T(n) * std::acos(x));
    return chebyshev(x, x, n);
}

template <class T>
ATON_HD T chebyshev_u(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n < 0) return T(0);
    if (std::abs(x) == T(1)) return x > T(0) || n % 2 == 0 ? T(n + 1) : T(-(n + 1));
    if (n > 8 && std::abs(x) < T(1)) {
        T const angle = std::acos(x);
        T const s = std::sin(angle);
        return s == T(0) ? T(n + 1) * std::cos(T(n + 1) * angle) / x : std::sin(T(n + 1) * angle) / s;
    }
    return chebyshev(x, x + x, n);
}

template <class T>
ATON_HD T chebyshev_v(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n < 0) return T(0);
    T const at_minus_one = n % 2 == 0 ? T(2 * n + 1) : T(-(2 * n + 1));
    if (std::abs(x) == T(1)) return x > T(0) ? T(1) : at_minus_one;
    if (n > 8 && std::abs(x) < T(1)) {
        T const angle = std::acos(x);
        if (std::sin(angle / T(2)) == T(1)) return at_minus_one;
        return std::cos((T(n) + T(0.5)) * angle) / std::cos(angle / T(2));
    }
    return chebyshev(x, x + x - T(1), n);
}

template <class T>
ATON_HD T chebyshev_w(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n < 0) return T(0);
    if (std::abs(x) == T(1)) return x > T(0) ? T(2 * n + 1) : n % 2 == 0 ? T(1) : T(-1);
    if (n > 8 && std::abs(x) < T(1)) {
        T const angle = std::acos(x);
        if (std::cos(angle / T(2)) == T(1)) return x > T(0) ? T(2 * n + 1) : n % 2 == 0 ? T(1) : T(-1);
        return std::sin((T(n) + T(0.5)) * angle) / std::sin(angle / T(2));
    }
    return chebyshev(x, x + x + T(1), n);
}

/// The physicists' Hermite polynomials.
template <class T>
ATON_HD T hermite_h(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n > (sizeof(T) == 8 ? 512 : 128)) return std::numeric_limits<T>::quiet_NaN();
    return recur(T(1), x + x, n, [x](T k, T a, T b) { return std::fma(x + x, a, -((k + k - T(2)) * b)); });
}

/// The probabilists' Hermite polynomials.
template <class T>
ATON_HD T hermite_he(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n > (sizeof(T) == 8 ? 512 : 128)) return std::numeric_limits<T>::quiet_NaN();
    return recur(T(1), x, n, [x](T k, T a, T b) { return std::fma(x, a, -((k - T(1)) * b)); });
}

template <class T>
ATON_HD T laguerre_l(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n >= 0 && x == T(0)) return T(1);
    return recur(T(1), T(1) - x, n, [x](T k, T a, T b) {
        return std::fma(k + k - T(2) + (T(1) - x), a, -((k - T(1)) * b)) / k;
    });
}

template <class T>
ATON_HD T legendre_p(T x, T degree_of) {
    std::int64_t const n = degree(degree_of);
    if (n >= 0 && std::abs(x) == T(1)) return x > T(0) || n % 2 == 0 ? T(1) : T(-1);
    return recur(T(1), x, n, [x](T k, T a, T b) { return std::fma((k + k - T(1)) * x, a, -((k - T(1)) * b)) / k; });
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::polynomials
