// SPDX-License-Identifier: MIT
// The table of functions of one real number: a row has the operator, and its result for `x` and the operator's parameters `a`, `b` and `c`.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/bessel.hpp"
#include "runtime/kernels/fast_math.hpp"
#include "runtime/kernels/special.hpp"
#include <aton/runtime/functions.hpp>
#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

template <class T>
ATON_HD constexpr bool is_nan(T x) {
    return x != x; // NOLINT(misc-redundant-expression): that is what NaN is not
}
template <class T>
ATON_HD constexpr bool is_finite(T x) {
    return x - x == T(0); // NOLINT(misc-redundant-expression): of infinities it is NaN
}

/// Towards zero. Values out of range of int32, or int64 for wider integers, become its minimum on every device, as on x86.
template <class To>
ATON_HD To truncated(double x) {
    if constexpr (sizeof(To) < 4 || std::is_same_v<To, std::int32_t>) {
        bool const fits = x > -2147483649.0 && x < 2147483648.0;
        return static_cast<To>(fits ? static_cast<std::int32_t>(x) : INT32_MIN);
    } else {
        if constexpr (std::is_same_v<To, std::uint64_t>)
            if (x >= 9223372036854775808.0 && x < 18446744073709551616.0) return static_cast<std::uint64_t>(x);
        bool const fits = x >= -9223372036854775808.0 && x < 9223372036854775808.0;
        return static_cast<To>(fits ? static_cast<std::int64_t>(x) : INT64_MIN);
    }
}

/// log(1 + exp(x)) without overflow.
template <class T>
ATON_HD T log1p_exp(T x) {
    return (x > T(0) ? x : T(0)) + math::log1p(math::exp(-std::abs(x)));
}

template <class T>
ATON_HD T clamped(T x, T low, T high) {
    return x > high ? high : x < low ? low : x;
}

template <class T>
struct number_parts {
    T mantissa;
    T exponent;
};
template <class T>
ATON_HD number_parts<T> split_number(T x) {
    int exponent = 0;
    T const mantissa = std::frexp(x, &exponent);
    return {mantissa, static_cast<T>(exponent)};
}

/// Chooses the row of an operator.
template <unary_op Op>
struct row_of {};

// clang-format off
#define ATON_ROW(op, ...)                                                                                              \
    template <class T>                                                                                                 \
    ATON_HD T real_function(row_of<unary_op::op>, [[maybe_unused]] T x, [[maybe_unused]] T a, [[maybe_unused]] T b,    \
                            [[maybe_unused]] T c) {                                                                    \
        return __VA_ARGS__;                                                                                            \
    }
// In double: functions that cost more than the conversions.
#define ATON_ROW_IN_DOUBLE(op, ...)                                                                                    \
    template <class T>                                                                                                 \
    ATON_HD T real_function(row_of<unary_op::op>, T narrow, T, T, T) {                                                 \
        auto const x = static_cast<double>(narrow);                                                                    \
        return static_cast<T>(__VA_ARGS__);                                                                            \
    }

ATON_ROW(abs, std::abs(x))
ATON_ROW(acos, std::acos(x))
ATON_ROW(acosh, std::acosh(x))
ATON_ROW(airy_ai, static_cast<T>(special::airy_ai(x)))
ATON_ROW(asin, std::asin(x))
ATON_ROW(asinh, std::asinh(x))
ATON_ROW(atan, std::atan(x))
ATON_ROW(atanh, std::atanh(x))
ATON_ROW(bessel_j0, special::bessel_j(0, x))
ATON_ROW(bessel_j1, special::bessel_j(1, x))
ATON_ROW(bessel_y0, special::bessel_y(0, x))
ATON_ROW(bessel_y1, special::bessel_y(1, x))
ATON_ROW(ceil, std::ceil(x))
ATON_ROW(celu, x > T(0) ? x : a * math::expm1(x / a))
ATON_ROW(clamp, (x < a ? a : x) > b ? b : x < a ? a : x) // b if a > b
ATON_ROW(cos, std::cos(x))
ATON_ROW(cosh, std::cosh(x))
ATON_ROW(elu, x < T(0) ? a * b * math::expm1(c * x) : b * x)
ATON_ROW(erf, math::erf(x))
ATON_ROW(erfc, std::erfc(x))
ATON_ROW(erfcx, special::rounded_erfcx(x))
ATON_ROW(exp, math::exp(x))
ATON_ROW(exp2, std::exp2(x))
ATON_ROW(expm1, math::expm1(x))
ATON_ROW(exponent, is_finite(x) ? split_number(x).exponent : T(0))
ATON_ROW(floor, std::floor(x))
ATON_ROW(gelu, T(0.5) * x * (T(1) + math::erf(x * T(0.70710678118654752440))))
ATON_ROW(gelu_tanh, T(0.5) * x * (T(1) + math::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x))))
ATON_ROW(hard_sigmoid, clamped(a * x + b, T(0), T(1)))
ATON_ROW(hard_swish, x * clamped(x / T(6) + T(0.5), T(0), T(1)))
ATON_ROW(hardsigmoid, clamped(x + T(3), T(0), T(6)) / T(6))
ATON_ROW(i0, special::bessel_i(0, x))
ATON_ROW(i1, special::bessel_i(1, x))
ATON_ROW(leaky_relu, x < T(0) ? a * x : x)
ATON_ROW(lgamma, std::lgamma(x))
ATON_ROW(log, math::log(x))
ATON_ROW(log10, math::log10(x))
ATON_ROW(log1p, math::log1p(x))
ATON_ROW(log2, math::log2(x))
ATON_ROW(mantissa, split_number(x).mantissa)
ATON_ROW(mish, x * math::tanh(log1p_exp(x)))
ATON_ROW(neg, -x)
ATON_ROW(reciprocal, T(1) / x)
ATON_ROW(relu, x < T(0) ? T(0) : x)
ATON_ROW(round, std::nearbyint(x))
ATON_ROW(rsqrt, T(1) / std::sqrt(x))
ATON_ROW(shrink, x < -b ? x + a : x > b ? x - a : is_nan(x) ? x : T(0))
ATON_ROW(sigmoid, math::logistic(x))
ATON_ROW(sign, x > T(0) ? T(1) : x < T(0) ? T(-1) : T(0)) // NaN gives 0, too
ATON_ROW(sin, std::sin(x))
ATON_ROW(sinh, std::sinh(x))
ATON_ROW(softplus, x * a > b ? x : log1p_exp(x * a) / a)
ATON_ROW(softsign, x / (T(1) + std::abs(x)))
ATON_ROW(sqrt, std::sqrt(x))
ATON_ROW(square, x * x)
ATON_ROW(swish, x * math::logistic(a * x))
ATON_ROW(tan, std::tan(x))
ATON_ROW(tanh, math::tanh(x))
ATON_ROW(threshold, x <= a ? b : x)
ATON_ROW(trigamma, special::trigamma(x))
ATON_ROW(trunc, std::trunc(x))

ATON_ROW_IN_DOUBLE(digamma, special::digamma(x))
ATON_ROW_IN_DOUBLE(erfinv, special::erfinv(x))
ATON_ROW_IN_DOUBLE(i0e, special::scaled_bessel_i(0, x))
ATON_ROW_IN_DOUBLE(i1e, special::scaled_bessel_i(1, x))
ATON_ROW_IN_DOUBLE(log_ndtr, special::log_ndtr(x))
ATON_ROW_IN_DOUBLE(modified_bessel_k0, special::bessel_k(0, x))
ATON_ROW_IN_DOUBLE(modified_bessel_k1, special::bessel_k(1, x))
ATON_ROW_IN_DOUBLE(ndtri, special::ndtri(x))
ATON_ROW_IN_DOUBLE(scaled_modified_bessel_k0, special::scaled_bessel_k(0, x))
ATON_ROW_IN_DOUBLE(scaled_modified_bessel_k1, special::scaled_bessel_k(1, x))
ATON_ROW_IN_DOUBLE(spherical_bessel_j0, special::spherical_bessel_j0(x))

#undef ATON_ROW_IN_DOUBLE
#undef ATON_ROW
// clang-format on

template <unary_op Op, class T>
ATON_HD T apply_real(T x, unary_parameters const& p) {
    return real_function(row_of<Op>{}, x, static_cast<T>(p.a), static_cast<T>(p.b), static_cast<T>(p.c));
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
