// SPDX-License-Identifier: MIT
// Branch-free elementary functions of float, so that compilers vectorize loops over them: within 2 units of the last
// place for every argument, including subnormals, infinities and NaN. Polynomials are minimax approximations (Remez)
// with coefficients rounded to float. Other types, and GPUs, use <cmath>.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::math {

#if defined(__CUDACC__)

using std::erf;
using std::exp;
using std::expm1;
using std::log;
using std::log10;
using std::log1p;
using std::log2;
using std::tanh;

#else

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float log2_e = 1.44269504F;
inline constexpr float ln2_high = 0.693359375F; // the product with a 15-bit integer is exact
inline constexpr float ln2_low = -2.12194440e-4F;

/// x * y + z, fused if the CPU supports it.
inline float mul_add(float x, float y, float z) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    return __builtin_fmaf(x, y, z);
#else
    return x * y + z;
#endif
}

/// c0 + c1 x + c2 x^2 + ...
inline float polynomial(float /*x*/, float c0) { return c0; }
template <class... C>
float polynomial(float x, float c0, C... c) {
    return mul_add(polynomial(x, c...), x, c0);
}

inline float between(float x, float low, float high) {
    float const y = x < low ? low : x; // keeps NaN
    return y > high ? high : y;
}
inline float magnitude(float x) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0x7fffffffU); }
inline float with_sign_of(float y, float x) {
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(y) | (std::bit_cast<std::uint32_t>(x) & 0x80000000U));
}
/// 2^n for the exponent of a normal number.
inline float two_to(std::int32_t n) { return std::bit_cast<float>((n + 127) << 23); }

/// x = n ln 2 + rest, |rest| <= ln 2 / 2, for |x| < 2^20.
struct exp_argument {
    std::int32_t n;
    float rest;
};
inline exp_argument reduce_exp(float x) {
    constexpr float shift = 12582912.0F; // 1.5 * 2^23: the sum has no bits for fractions
    float const sum = mul_add(x, log2_e, shift);
    float const n = sum - shift;
    return {std::bit_cast<std::int32_t>(sum) - std::bit_cast<std::int32_t>(shift),
            mul_add(n, -ln2_low, mul_add(n, -ln2_high, x))};
}
/// exp(r) for |r| <= ln 2 / 2.
inline float exp_of_rest(float r) {
    float const p = polynomial(r, 0.49999994F, 0.166665092F, 0.041668009F, 0.00836999062F, 0.00138470635F);
    float const sum = 1.0F + r;
    float const lost = r - (sum - 1.0F);
    return sum + mul_add(r * r, p, lost);
}

inline float exp(float x) {
    exp_argument const a = reduce_exp(between(x, -104.0F, 89.0F));
    std::int32_t const half = a.n >> 1; // 2^n alone may be out of the normal range
    return exp_of_rest(a.rest) * two_to(half) * two_to(a.n - half);
}

inline float expm1(float x) {
    exp_argument const a = reduce_exp(between(x, -18.0F, 89.0F));
    float const r = a.rest;
    float const p = polynomial(r, 0.5F, 0.166666657F, 0.0416663177F, 0.00833321549F, 0.00139443134F, 0.000199646354F);
    float const scale = two_to(a.n - 1); // 2^128 overflows
    float const y = 2.0F * mul_add(scale, mul_add(r * r, p, r), scale - 0.5F);
    return magnitude(x) < 5e-8F ? x : y;
}

/// x = 2^exponent (1 + f), log(1 + f) = f + tail, for x > 0; unspecified for other x. Unsigned arithmetic, since it may
/// wrap around.
struct log_parts {
    float exponent;
    float f;
    float tail;
};
inline log_parts split_log(float x) {
    bool const subnormal = x < std::numeric_limits<float>::min();
    constexpr std::uint32_t root_of_half = 0x3f3504f3;
    auto const bits = std::bit_cast<std::uint32_t>(subnormal ? x * 8388608.0F : x);
    std::int32_t const exponent = static_cast<std::int32_t>(bits - root_of_half) >> 23;
    float const f = std::bit_cast<float>(bits - (static_cast<std::uint32_t>(exponent) << 23U)) - 1.0F;
    float const p = polynomial(f,
                               0.333333135F,
                               -0.250000119F,
                               0.200021178F,
                               -0.166679949F,
                               0.142195538F,
                               -0.124055952F,
                               0.118881606F,
                               -0.116756141F,
                               0.0674659833F);
    float const square = f * f;
    return {static_cast<float>(exponent) - (subnormal ? 23.0F : 0.0F), f, mul_add(square * f, p, -0.5F * square)};
}
/// `y` for positive finite x, otherwise the special value of a logarithm.
inline float log_or_special(float x, float y) {
    float const finite = x > std::numeric_limits<float>::max() ? x : y;
    float const other = x == 0.0F ? -infinity : std::numeric_limits<float>::quiet_NaN();
    return x > 0.0F ? finite : other;
}
inline float log(float x) {
    log_parts const l = split_log(x);
    float const y = mul_add(l.exponent, ln2_high, l.f + mul_add(l.exponent, ln2_low, l.tail));
    return log_or_special(x, y);
}
inline float log2(float x) {
    log_parts const l = split_log(x);
    constexpr float log2_e_low = 1.92596303e-8F;
    float const small = mul_add(l.f, log2_e_low, l.tail * log2_e);
    return log_or_special(x, l.exponent + mul_add(l.f, log2_e, small));
}
inline float log10(float x) {
    constexpr float log10_e = 0.434294492F;
    constexpr float log10_e_low = -1.01030501e-8F;
    constexpr float log10_2_high = 0.301025391F; // 13 bits
    constexpr float log10_2_low = 4.60503900e-6F;
    log_parts const l = split_log(x);
    float const small = mul_add(l.exponent, log10_2_low, mul_add(l.f, log10_e_low, l.tail * log10_e));
    return log_or_special(x, mul_add(l.exponent, log10_2_high, mul_add(l.f, log10_e, small)));
}
inline float log1p(float x) {
    float const u = 1.0F + x;
    float const lost = (x - (u - 1.0F)) / u; // the rounding error of the sum
    float const y = log(u);
    float const whole = u > 0.0F && u < 1e9F ? y + lost : y;
    return magnitude(x) < 5e-8F ? x : whole;
}

inline float tanh(float x) {
    float const a = magnitude(x);
    float const square = x * x;
    float const p = polynomial(square, -0.333332807F, 0.133314058F, -0.0537365153F, 0.0206281673F, -0.00569229666F);
    float const small = mul_add(x, square * p, x);
    float const large = 1.0F - 2.0F / (exp(a + a) + 1.0F);
    return with_sign_of(a < 0.625F ? small : large, x);
}

/// x = n pi / 2 + rest, |rest| <= pi / 4, for |x| <= 1e6: the product of `n` and the high part of pi / 2 is exact.
struct angle {
    std::int32_t n;
    float rest;
};
inline bool is_small_angle(float x) { return magnitude(x) <= 1e6F; }
inline angle reduce_angle(float x) {
    constexpr double shift = 6755399441055744.0; // 1.5 * 2^52
    constexpr double half_pi_high = 0x1.921fb544p+0;
    constexpr double half_pi_low = 0x1.0b4611a626331p-34;
    double const wide = x;
    double const n = (wide * 0.63661977236758134308 + shift) - shift;
    return {static_cast<std::int32_t>(n), static_cast<float>((wide - n * half_pi_high) - n * half_pi_low)};
}
/// sin(x + quarters * pi / 2)
inline float sin_of_quarter(angle x, std::int32_t quarters) {
    float const r = x.rest;
    float const square = r * r;
    float const s = mul_add(r * square, polynomial(square, -0.166666538F, 0.00833215471F, -0.000195146335F), r);
    float const c = mul_add(square * square,
                            polynomial(square, 0.0416666456F, -0.00138873095F, 2.4432411e-05F),
                            mul_add(-0.5F, square, 1.0F));
    std::int32_t const n = x.n + quarters;
    float const y = (n & 1) != 0 ? c : with_sign_of(s, r); // keeps the sign of zero
    return (n & 2) != 0 ? -y : y;
}

inline float erf(float x) {
    float const a = magnitude(x);
    float const t = between(a, 0.0F, 3.95F); // tanh rounds to 1 beyond
    float const small = polynomial(x * x,
                                   0.128379166F,
                                   -0.376126349F,
                                   0.112836882F,
                                   -0.0268589407F,
                                   0.00519990688F,
                                   -0.000813001301F,
                                   8.3167768e-05F);
    float const log_erfc = polynomial(t,
                                      0.000169207051F,
                                      -1.12948847F,
                                      -0.633400619F,
                                      -0.108220756F,
                                      0.0250809304F,
                                      -0.00415639998F,
                                      0.000431428169F,
                                      -2.0831967e-05F);
    float const large = 1.0F - exp(log_erfc);
    return a < 0.92F ? mul_add(x, small, x) : with_sign_of(large, x);
}

inline double erf(double x) { return std::erf(x); }
inline double exp(double x) { return std::exp(x); }
inline double expm1(double x) { return std::expm1(x); }
inline double log(double x) { return std::log(x); }
inline double log10(double x) { return std::log10(x); }
inline double log1p(double x) { return std::log1p(x); }
inline double log2(double x) { return std::log2(x); }
inline double tanh(double x) { return std::tanh(x); }

#endif

/// ATen's formula, within 3 units of the last place: 0 where exp(-x) overflows.
template <class T>
ATON_HD T logistic(T x) {
    return T(1) / (T(1) + exp(-x));
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT::math
