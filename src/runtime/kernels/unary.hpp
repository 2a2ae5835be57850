// SPDX-License-Identifier: MIT
// Functions of one number. Each is written once: `apply` runs on the CPU and on a GPU, in float for narrower floats.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/bessel.hpp"
#include "runtime/kernels/fast_math.hpp"
#include "runtime/kernels/special.hpp"
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

template <class T>
ATON_HD constexpr bool is_nan(T x) {
    return x != x; // NOLINT(misc-redundant-expression): that is what NaN is not
}
template <class T>
ATON_HD constexpr bool is_finite(T x) {
    return x - x == T(0); // NOLINT(misc-redundant-expression): of infinities it is NaN
}

/// log(1 + exp(x)) without overflow.
template <class T>
ATON_HD T log1p_exp(T x) {
    return (x > T(0) ? x : T(0)) + math::log1p(math::exp(-std::abs(x)));
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
        return raised > p.b ? static_cast<T>(p.b) : v < p.a ? static_cast<T>(p.a) : x;
    } else if constexpr (Op == threshold) return static_cast<double>(x) > p.a ? x : static_cast<T>(p.b);
    else if constexpr (Op == shrink) {
        auto const v = static_cast<double>(x);
        double const y = v < -p.b ? v + p.a : v > p.b ? v - p.a : 0;
        return static_cast<T>(static_cast<std::int64_t>(y));
    } else return x; // floor and similar functions
}

/// Computed in double: functions that cost more than the conversions.
template <unary_op Op>
ATON_HD double apply_special(double x) {
    using enum unary_op;
    if constexpr (Op == digamma) return special::digamma(x);
    else if constexpr (Op == erfinv) return special::erfinv(x);
    else if constexpr (Op == i0e) return special::scaled_bessel_i(0, x);
    else if constexpr (Op == i1e) return special::scaled_bessel_i(1, x);
    else if constexpr (Op == log_ndtr) return special::log_ndtr(x);
    else if constexpr (Op == modified_bessel_k0) return special::bessel_k(0, x);
    else if constexpr (Op == modified_bessel_k1) return special::bessel_k(1, x);
    else if constexpr (Op == ndtri) return special::ndtri(x);
    else if constexpr (Op == scaled_modified_bessel_k0) return special::scaled_bessel_k(0, x);
    else if constexpr (Op == scaled_modified_bessel_k1) return special::scaled_bessel_k(1, x);
    else return special::spherical_bessel_j0(x);
}

template <unary_op Op, class T>
ATON_HD T apply_real(T x, [[maybe_unused]] unary_parameters const& p) {
    using enum unary_op;
    [[maybe_unused]] auto const a = static_cast<T>(p.a);
    [[maybe_unused]] auto const b = static_cast<T>(p.b);
    [[maybe_unused]] auto const c = static_cast<T>(p.c);
    if constexpr (Op == abs) return std::abs(x);
    else if constexpr (Op == acos) return std::acos(x);
    else if constexpr (Op == acosh) return std::acosh(x);
    else if constexpr (Op == asin) return std::asin(x);
    else if constexpr (Op == asinh) return std::asinh(x);
    else if constexpr (Op == atan) return std::atan(x);
    else if constexpr (Op == atanh) return std::atanh(x);
    else if constexpr (Op == ceil) return std::ceil(x);
    else if constexpr (Op == celu) return x > T(0) ? x : a * math::expm1(x / a);
    else if constexpr (Op == clamp) return (x < a ? a : x) > b ? b : x < a ? a : x; // b if a > b
    else if constexpr (Op == cos) return std::cos(x);
    else if constexpr (Op == cosh) return std::cosh(x);
    else if constexpr (Op == elu) return x < T(0) ? a * b * math::expm1(c * x) : b * x;
    else if constexpr (Op == erf) return math::erf(x);
    else if constexpr (Op == erfc) return std::erfc(x);
    else if constexpr (Op == exp) return math::exp(x);
    else if constexpr (Op == exp2) return std::exp2(x);
    else if constexpr (Op == expm1) return math::expm1(x);
    else if constexpr (Op == floor) return std::floor(x);
    else if constexpr (Op == gelu) return T(0.5) * x * (T(1) + math::erf(x * T(0.70710678118654752440)));
    else if constexpr (Op == gelu_tanh)
        return T(0.5) * x * (T(1) + math::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
    else if constexpr (Op == hard_sigmoid) {
        T const y = a * x + b;
        return y > T(1) ? T(1) : y < T(0) ? T(0) : y;
    } else if constexpr (Op == hardsigmoid) {
        T const y = x + T(3);
        return (y > T(6) ? T(6) : y < T(0) ? T(0) : y) / T(6);
    } else if constexpr (Op == hard_swish) {
        T const y = x / T(6) + T(0.5);
        return x * (y > T(1) ? T(1) : y < T(0) ? T(0) : y);
    } else if constexpr (Op == leaky_relu) return x < T(0) ? a * x : x;
    else if constexpr (Op == lgamma) return std::lgamma(x);
    else if constexpr (Op == log) return math::log(x);
    else if constexpr (Op == log10) return math::log10(x);
    else if constexpr (Op == log1p) return math::log1p(x);
    else if constexpr (Op == log2) return math::log2(x);
    else if constexpr (Op == mish) return x * math::tanh(log1p_exp(x));
    else if constexpr (Op == neg) return -x;
    else if constexpr (Op == reciprocal) return T(1) / x;
    else if constexpr (Op == relu) return x < T(0) ? T(0) : x;
    else if constexpr (Op == round) return std::nearbyint(x);
    else if constexpr (Op == rsqrt) return T(1) / std::sqrt(x);
    else if constexpr (Op == shrink) return x < -b ? x + a : x > b ? x - a : is_nan(x) ? x : T(0);
    else if constexpr (Op == sigmoid) return math::logistic(x);
    else if constexpr (Op == sign) return x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0); // NaN gives 0, too
    else if constexpr (Op == sin) return std::sin(x);
    else if constexpr (Op == sinh) return std::sinh(x);
    else if constexpr (Op == softplus) return x * a > b ? x : log1p_exp(x * a) / a;
    else if constexpr (Op == softsign) return x / (T(1) + std::abs(x));
    else if constexpr (Op == sqrt) return std::sqrt(x);
    else if constexpr (Op == square) return x * x;
    else if constexpr (Op == swish) return x * math::logistic(a * x);
    else if constexpr (Op == tan) return std::tan(x);
    else if constexpr (Op == tanh) return math::tanh(x);
    else if constexpr (Op == threshold) return x <= a ? b : x;
    else if constexpr (Op == mantissa || Op == exponent) {
        int e = 0;
        T const m = std::frexp(x, &e);
        return Op == mantissa ? m : is_finite(x) ? static_cast<T>(e) : T(0);
    } else if constexpr (Op == trigamma) return special::trigamma(x);
    else if constexpr (Op == airy_ai) return static_cast<T>(special::airy_ai(x));
    else if constexpr (Op == erfcx) return special::rounded_erfcx(x);
    else if constexpr (Op == i0) return special::bessel_i(0, x);
    else if constexpr (Op == i1) return special::bessel_i(1, x);
    else if constexpr (Op == bessel_j0) return special::bessel_j(0, x);
    else if constexpr (Op == bessel_j1) return special::bessel_j(1, x);
    else if constexpr (Op == bessel_y0) return special::bessel_y(0, x);
    else if constexpr (Op == bessel_y1) return special::bessel_y(1, x);
    else if constexpr (Op == trunc) return std::trunc(x);
    else return static_cast<T>(apply_special<Op>(static_cast<double>(x)));
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
