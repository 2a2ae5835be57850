// SPDX-License-Identifier: MIT
// Functions of two numbers of the same type, on the CPU and on a GPU. Integers wrap around; integer division by zero
// gives 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/polynomials.hpp"
#include "runtime/kernels/unary.hpp"
#include <aton/runtime/functions.hpp>
#include <aton/runtime/numbers.hpp>
#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

constexpr bool compares(binary_op op) { return op >= binary_op::logical_and; }

template <binary_op Op, class T>
constexpr bool takes() {
    using enum binary_op;
    if constexpr (Op == logical_and || Op == logical_or || Op == logical_xor || Op == eq || Op == ne)
        return std::is_arithmetic_v<T>;
    else if constexpr (std::is_same_v<T, bool>)
        return Op == bitwise_and || Op == bitwise_or || Op == bitwise_xor || Op == add || Op == mul || Op == maximum ||
               Op == minimum || compares(Op);
    else if constexpr (std::is_integral_v<T>) return Op < atan2 || Op >= bitwise_and;
    else return is_real<T> && (Op < bitwise_and || compares(Op));
}

template <class T>
ATON_HD T integer_power(T base, T exponent) {
    using u = std::uint64_t;
    if constexpr (std::is_signed_v<T>)
        if (exponent < 0) return base == 1 ? T{1} : base == -1 ? (exponent % 2 == 0 ? T{1} : T(-1)) : T{0};
    u result = 1;
    auto factor = static_cast<u>(static_cast<std::int64_t>(base));
    for (auto left = static_cast<u>(static_cast<std::int64_t>(exponent)); left != 0; left >>= 1U) {
        if ((left & 1U) != 0) result *= factor;
        factor *= factor;
    }
    return static_cast<T>(result);
}

/// Of magnitudes; that of the minimum wraps around.
template <class T>
ATON_HD T greatest_divisor(T x, T y) {
    unary<unary_op::abs, T> const magnitude{};
    for (x = magnitude(x), y = magnitude(y); y != T{0};) {
        T const rest = static_cast<T>(x % y);
        x = y;
        y = rest;
    }
    return x;
}

template <binary_op Op, class T>
ATON_HD T apply_integers(T x, T y) {
    using enum binary_op;
    using u = std::uint64_t; // unsigned arithmetic, in which overflow is defined
    constexpr int width = std::numeric_limits<std::make_unsigned_t<T>>::digits;
    if constexpr (Op == add) return static_cast<T>(static_cast<u>(x) + static_cast<u>(y));
    else if constexpr (Op == sub) return static_cast<T>(static_cast<u>(x) - static_cast<u>(y));
    else if constexpr (Op == mul) return static_cast<T>(static_cast<u>(x) * static_cast<u>(y));
    else if constexpr (Op == div || Op == floor_div || Op == fmod || Op == remainder) {
        if (y == T{0}) return T{0};
        if constexpr (std::is_signed_v<T>)
            if (y == T(-1)) return Op == div || Op == floor_div ? static_cast<T>(u{0} - static_cast<u>(x)) : T{0};
        auto const quotient = static_cast<T>(x / y);
        auto const rest = static_cast<T>(x % y);
        bool const floors = rest != T{0} && (rest < T{0}) != (y < T{0});
        if constexpr (Op == div) return quotient;
        else if constexpr (Op == fmod) return rest;
        else if constexpr (Op == floor_div) return static_cast<T>(quotient - (floors ? 1 : 0));
        else return static_cast<T>(rest + (floors ? y : T{0}));
    } else if constexpr (Op == pow) return integer_power(x, y);
    else if constexpr (Op == maximum) return x > y ? x : y;
    else if constexpr (Op == minimum) return x < y ? x : y;
    else if constexpr (Op == prelu) return x > T{0} ? x : static_cast<T>(static_cast<u>(x) * static_cast<u>(y));
    else if constexpr (Op == bitwise_and) return static_cast<T>(x & y);
    else if constexpr (Op == bitwise_or) return static_cast<T>(x | y);
    else if constexpr (Op == bitwise_xor) return static_cast<T>(x ^ y);
    else if constexpr (Op == gcd) return greatest_divisor(x, y);
    else if constexpr (Op == lcm) {
        T const quotient = apply_integers<div>(x, greatest_divisor(x, y)); // for the minimum the divisor may be -1
        return unary<unary_op::abs, T>{}(static_cast<T>(static_cast<u>(quotient) * static_cast<u>(y)));
    } else {
        bool const beyond = y < T{0} || static_cast<u>(y) >= static_cast<u>(width);
        if constexpr (Op == shift_left) return beyond ? T{0} : static_cast<T>(static_cast<u>(x) << static_cast<u>(y));
        else return beyond ? static_cast<T>(x < T{0} ? -1 : 0) : static_cast<T>(x >> y);
    }
}

/// Python's floor division: computed from the remainder, since a quotient that rounds up to an integer would be one too
/// large.
template <class T>
ATON_HD T floored_quotient(T x, T y) {
    if (y == T(0)) return x / y;
    T const rest = std::fmod(x, y);
    T quotient = (x - rest) / y;
    if (rest != T(0) && (rest < T(0)) != (y < T(0))) quotient -= T(1);
    if (quotient == T(0)) return std::copysign(T(0), x / y);
    T const whole = std::floor(quotient);
    return quotient - whole > T(0.5) ? whole + T(1) : whole;
}

template <binary_op Op, class T>
ATON_HD T apply_reals(T x, T y) {
    using enum binary_op;
    if constexpr (Op == add) return x + y;
    else if constexpr (Op == sub) return x - y;
    else if constexpr (Op == mul) return x * y;
    else if constexpr (Op == div) return x / y;
    else if constexpr (Op == floor_div) return floored_quotient(x, y);
    else if constexpr (Op == fmod) return std::fmod(x, y);
    else if constexpr (Op == remainder) {
        T const rest = std::fmod(x, y);
        return rest != T(0) && (rest < T(0)) != (y < T(0)) ? rest + y : rest;
    } else if constexpr (Op == pow) return std::pow(x, y);
    else if constexpr (Op == maximum) return is_nan(x) || x > y ? x : y; // y if it is NaN: no comparison is true
    else if constexpr (Op == minimum) return is_nan(x) || x < y ? x : y;
    else if constexpr (Op == atan2) return std::atan2(x, y);
    else if constexpr (Op == prelu) return x > T(0) ? x : x * y; // NaN at 0 where y is infinite
    else if constexpr (Op == copysign) return std::copysign(x, y);
    else if constexpr (Op == hypot) return std::hypot(x, y);
    else if constexpr (Op == nextafter) return std::nextafter(x, y);
    else if constexpr (Op == igamma || Op == igammac)
        return static_cast<T>(
            special::regularized_gamma(static_cast<double>(x), static_cast<double>(y), Op == igammac));
    else if constexpr (Op == zeta) return static_cast<T>(special::zeta(static_cast<double>(x), static_cast<double>(y)));
    else if constexpr (Op == chebyshev_t) return polynomials::chebyshev_t(x, y);
    else if constexpr (Op == chebyshev_u) return polynomials::chebyshev_u(x, y);
    else if constexpr (Op == chebyshev_v) return polynomials::chebyshev_v(x, y);
    else if constexpr (Op == chebyshev_w) return polynomials::chebyshev_w(x, y);
    else if constexpr (Op == hermite_h) return polynomials::hermite_h(x, y);
    else if constexpr (Op == hermite_he) return polynomials::hermite_he(x, y);
    else if constexpr (Op == laguerre_l) return polynomials::laguerre_l(x, y);
    else return polynomials::legendre_p(x, y);
}

template <binary_op Op, class T>
ATON_HD bool apply_comparison(T x, T y) {
    using enum binary_op;
    if constexpr (Op == logical_and) return x != T{0} && y != T{0};
    else if constexpr (Op == logical_or) return x != T{0} || y != T{0};
    else if constexpr (Op == logical_xor) return (x != T{0}) != (y != T{0});
    else if constexpr (Op == eq) return x == y;
    else if constexpr (Op == ne) return x != y;
    else if constexpr (Op == lt) return x < y;
    else if constexpr (Op == le) return x <= y;
    else if constexpr (Op == gt) return x > y;
    else return x >= y;
}

/// Like is_special of functions of one number.
constexpr bool is_special(binary_op op) {
    using enum binary_op;
    return (op >= floor_div && op <= pow) || (op >= atan2 && op <= legendre_p) || op == gcd || op == lcm;
}

/// Whether signed and unsigned integers give the same bits, so that both use one loop.
constexpr bool ignores_sign(binary_op op) {
    using enum binary_op;
    return op == add || op == sub || op == mul || (op >= bitwise_and && op <= shift_left) ||
           (op >= logical_and && op <= ne);
}

template <binary_op Op, class T>
struct binary {
    using result = std::conditional_t<compares(Op), bool, T>;
    ATON_HD result operator()(T x, T y) const {
        using enum binary_op;
        if constexpr (compares(Op)) {
            return apply_comparison<Op>(static_cast<computed<T>>(x), static_cast<computed<T>>(y));
        } else if constexpr (std::is_same_v<T, bool>) {
            if constexpr (Op == bitwise_xor) return x != y;
            else if constexpr (Op == bitwise_and || Op == mul || Op == minimum) return x && y;
            else return x || y;
        } else if constexpr (std::is_integral_v<T>) {
            return apply_integers<Op>(x, y);
        } else {
            return static_cast<T>(apply_reals<Op>(static_cast<computed<T>>(x), static_cast<computed<T>>(y)));
        }
    }
};

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
