// SPDX-License-Identifier: MIT
// Conversions between dtypes. Most are direct; types below 8 bits, float8 and complex types are converted through a
// wider type.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/elementwise.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// float16 to float and back without branches, so that loops vectorize. The results are those of float16's constructor
/// and conversion operator.
ATON_HD constexpr float widened(float16 x) {
    std::uint32_t const magnitude = x.bits & 0x7fffU;
    std::uint32_t const shifted = magnitude << 13U;
    auto const subnormal =
        std::bit_cast<std::uint32_t>(static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24F);
    std::uint32_t const normal = shifted + (magnitude >= 0x7c00U ? 0x70000000U : 0x38000000U); // infinities, NaN
    std::uint32_t const sign = static_cast<std::uint32_t>(x.bits & 0x8000U) << 16U;
    return std::bit_cast<float>(sign | (magnitude < 0x400U ? subnormal : normal));
}
ATON_HD constexpr float16 narrowed(float x) {
    auto const bits = std::bit_cast<std::uint32_t>(x);
    std::uint32_t const magnitude = bits & 0x7fffffffU;
    // The sum with 1/2 is rounded to multiples of 2^-24.
    std::uint32_t const subnormal = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
    std::uint32_t const normal = (magnitude - 0x38000000U + 0xfffU + (magnitude >> 13U & 1U)) >> 13U;
    std::uint32_t const finite = magnitude < 0x38800000U ? subnormal : normal;
    std::uint32_t const any = magnitude >= 0x477ff000U ? 0x7c00U : finite;
    float16 y;
    y.bits = static_cast<std::uint16_t>((bits >> 16U & 0x8000U) | (magnitude > 0x7f800000U ? 0x7e00U : any));
    return y;
}

/// Converts a number; floats to integers by truncated().
template <class From, class To>
struct converted {
    ATON_HD To operator()(From x) const {
        if constexpr (std::is_same_v<From, To>) return x;
        else if constexpr (std::is_same_v<From, float16> && std::is_same_v<To, float>) return widened(x);
        else if constexpr (std::is_same_v<From, float> && std::is_same_v<To, float16>) return narrowed(x);
        else if constexpr (std::is_same_v<To, bool>) return static_cast<computed<From>>(x) != computed<From>{0};
        else if constexpr (std::is_integral_v<From>) {
            if constexpr (std::is_integral_v<To>) return static_cast<To>(x);
            else return static_cast<To>(static_cast<computed<To>>(x));
        } else if constexpr (std::is_integral_v<To>) {
            return truncated<To>(static_cast<double>(static_cast<computed<From>>(x)));
        } else {
            return static_cast<To>(static_cast<computed<To>>(static_cast<computed<From>>(x)));
        }
    }
};

template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<complex<T>> = true;

/// Conversion of types below 8 bits, float8 and complex types to and from their intermediate type: float, int64 or
/// double.
template <class From, class To>
struct passed {
    bool saturate = true;

    ATON_HD To operator()(From const& x) const {
        if constexpr (is_complex_number<To>) {
            using part = decltype(To::real);
            if constexpr (is_complex_number<From>) return {static_cast<part>(x.real), static_cast<part>(x.imaginary)};
            else return {static_cast<part>(x), part{0}};
        } else if constexpr (is_complex_number<From>) {
            return static_cast<To>(x.real);
        } else if constexpr (std::is_constructible_v<To, float, bool> && !std::is_arithmetic_v<To>) {
            return To(static_cast<float>(x), saturate);
        } else {
            return static_cast<To>(x);
        }
    }
};

/// The intermediate dtype of conversions from this one, `T::wide`, or the dtype itself if conversions are direct.
constexpr dtype passage_of(dtype t) {
    if (is_complex(t)) return dtype::float64;
    if (is_integral(t)) return bits(t) < 8 ? dtype::int64 : t;
    return is_floating(t) && bits(t) <= 8 ? dtype::float32 : t;
}

/// The functor of a direct conversion, if there is one.
template <class From, class To>
constexpr auto conversion_of(bool saturate) {
    if constexpr (std::is_void_v<From> || std::is_void_v<To>) return;
    else if constexpr (is_number<From> && is_number<To>) return converted<From, To>{};
    else if constexpr (is_complex_number<From> && is_complex_number<To>) return passed<From, To>{saturate};
    else if constexpr (is_number<From> != is_number<To>) {
        using wide = std::conditional_t<is_number<From>, From, To>;
        using narrow = std::conditional_t<is_number<From>, To, From>;
        if constexpr (std::is_same_v<wide, typename narrow::wide>) return passed<From, To>{saturate};
    }
}

/// Runs the conversion and returns true if it is direct; otherwise does nothing and returns false.
template <class Launcher>
bool launch_cast(dtype from, dtype to, loop<2> const& l, void* out, void const* x, bool saturate) {
    bool known = false;
    visit(from, [&]<class From>(type_tag<From> /*of*/) {
        visit(to, [&]<class To>(type_tag<To> /*of*/) {
            if constexpr (!std::is_void_v<decltype(conversion_of<From, To>(saturate))>) {
                Launcher::run(l, static_cast<To*>(out), conversion_of<From, To>(saturate), static_cast<From const*>(x));
                known = true;
            }
        });
    });
    return known;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
