// SPDX-License-Identifier: MIT
// Functions of one number. Each is written once: `apply` runs on the CPU and on a GPU, in float for narrower floats.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/fast_math.hpp"
#include "runtime/kernels/real_functions.hpp"
#include <aton/runtime/functions.hpp>
#include <aton/runtime/numbers.hpp>
#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

template <class T>
inline constexpr bool is_real = std::is_floating_point_v<T>;

/// The type that a function is computed in: the element type, or float.
template <class T>
using computed = std::conditional_t<std::is_arithmetic_v<T>, T, float>;

/// Whether the result is a bool.
constexpr bool gives_bool(unary_op op) {
    using enum unary_op;
    return op == logical_not || op == isnan || op == isinf || op == isfinite;
}

/// Functions that are not worth vectorizing.
constexpr bool is_special(unary_op op) {
    using enum unary_op;
    return op == acos || op == acosh || op == asin || op == asinh || op == atan || op == atanh || op == cosh ||
           op == erfc || op == exp2 || op == lgamma || op == sinh || op == tan || (op >= airy_ai && op <= exponent);
}

/// Whether the function supports numbers of this type. Narrower floats count as float.
template <unary_op Op, class T>
constexpr bool takes() {
    using enum unary_op;
    constexpr bool tests = gives_bool(Op);
    if constexpr (std::is_same_v<T, bool>) return tests || Op == bitwise_not || Op == abs || Op == sign;
    else if constexpr (std::is_integral_v<T>)
        return tests || Op == abs || Op == neg || Op == sign || Op == square || Op == relu || Op == clamp ||
               Op == bitwise_not || Op == threshold || Op == shrink || Op == floor || Op == ceil || Op == round ||
               Op == trunc;
    else return is_real<T> && Op != bitwise_not;
}

template <unary_op Op, class T>
ATON_HD T apply_integer(T x, [[maybe_unused]] unary_parameters const& p) {
    using enum unary_op;
    using u = std::make_unsigned_t<T>;
    auto const negative = [](T v) { return static_cast<T>(static_cast<u>(u{0} - static_cast<u>(v))); };
    if constexpr (Op == abs) return x < T{0} ? negative(x) : x;
    else if constexpr (Op == neg) return negative(x);
    else if constexpr (Op == sign) return static_cast<T>((x > T{0} ? 1 : 0) - (x < T{0} ? 1 : 0));
    else if constexpr (Op == square)
        return static_cast<T>(std::uint64_t{static_cast<u>(x)} * std::uint64_t{static_cast<u>(x)});
    else if constexpr (Op == relu) return x > T{0} ? x : T{0};
    else if constexpr (Op == bitwise_not) return static_cast<T>(~x);
    else if constexpr (Op == clamp) {
        auto const v = static_cast<double>(x);
        double const raised = v < p.a ? p.a : v; // if a > b, all elements become b
        return raised > p.b ? truncated<T>(p.b) : v < p.a ? truncated<T>(p.a) : x;
    } else if constexpr (Op == threshold) return static_cast<double>(x) > p.a ? x : truncated<T>(p.b);
    else if constexpr (Op == shrink) {
        auto const v = static_cast<double>(x);
        double const y = v < -p.b ? v + p.a : v > p.b ? v - p.a : 0;
        return truncated<T>(y);
    } else return x; // floor and similar functions
}

template <unary_op Op, class T>
ATON_HD bool apply_test(T x, [[maybe_unused]] unary_parameters const& p) {
    using enum unary_op;
    if constexpr (Op == logical_not) return x == T{0};
    else if constexpr (std::is_integral_v<T>) return Op == isfinite;
    else if constexpr (Op == isnan) return is_nan(x);
    else if constexpr (Op == isfinite) return is_finite(x);
    else return !is_finite(x) && ((p.a != 0 && x < T(0)) || (p.b != 0 && x > T(0)));
}

/// The functor that kernels call on elements.
template <unary_op Op, class T>
struct unary {
    unary_parameters p;

#if !defined(__CUDACC__)
    /// Whether there is a branch-free path for most numbers, those for which `is_easy` holds.
    static constexpr bool has_easy_way = std::is_same_v<T, float> && (Op == unary_op::sin || Op == unary_op::cos);
    static bool is_easy(T x) { return math::is_small_angle(x); }
    static T easy(T x) { return math::sin_of_quarter(math::reduce_angle(x), Op == unary_op::cos ? 1 : 0); }
#endif

    using result = std::conditional_t<gives_bool(Op), bool, T>;
    ATON_HD result operator()(T x) const {
        if constexpr (gives_bool(Op)) return apply_test<Op>(static_cast<computed<T>>(x), p);
        else if constexpr (std::is_same_v<T, bool>) return Op == unary_op::bitwise_not ? !x : x;
        else if constexpr (std::is_integral_v<T>) return apply_integer<Op>(x, p);
        else return static_cast<T>(apply_real<Op>(static_cast<computed<T>>(x), p));
    }
};

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
