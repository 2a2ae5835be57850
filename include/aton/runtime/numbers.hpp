// SPDX-License-Identifier: MIT
// C++ types of tensor elements: built-in types, float16, bfloat16, the float8 types, float4 and complex numbers.
// Elements below 8 bits take a byte each here; they are packed and unpacked when tensors are stored and read.
// Internal header.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <aton/core/dtype.hpp>
#include <aton/core/exactly_equal.hpp>
#include <aton/core/tensor.hpp>
#include <aton/runtime/platform.hpp>

namespace ATON_NAMESPACE::runtime {

/// IEEE binary16. Arithmetic is that of float; the result of every operation is rounded, as in ATen's kernels.
struct float16 {
    std::uint16_t bits = 0;

    float16() = default;
    ATON_HD constexpr explicit float16(float f) : bits(aton::detail::float_to_half(f)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): exact.
    ATON_HD constexpr operator float() const { return aton::detail::half_to_float(bits); }
};

/// The upper half of binary32.
struct bfloat16 {
    std::uint16_t bits = 0;

    bfloat16() = default;
    ATON_HD constexpr explicit bfloat16(float f) : bits(aton::detail::float_to_bfloat16(f)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): exact.
    ATON_HD constexpr operator float() const { return aton::detail::bfloat16_to_float(bits); }
};

/// The format of a float of at most 8 bits: sign, exponent, mantissa.
struct small_float_format {
    int exponent_bits;
    int mantissa_bits;
    int bias;
    bool has_infinity;
    bool has_nan;
    bool has_negative_zero; ///< if not, the code of -0 is NaN ("uz")

    [[nodiscard]] constexpr unsigned sign() const { return 1U << static_cast<unsigned>(exponent_bits + mantissa_bits); }
    [[nodiscard]] constexpr unsigned infinity() const {
        return ((1U << static_cast<unsigned>(exponent_bits)) - 1U) << static_cast<unsigned>(mantissa_bits);
    }
    [[nodiscard]] constexpr unsigned nan() const { return has_negative_zero ? sign() - 1U : sign(); }
    /// The code of the largest finite number.
    [[nodiscard]] constexpr unsigned largest() const {
        if (has_infinity) return infinity() - 1U;
        return has_nan && has_negative_zero ? sign() - 2U : sign() - 1U;
    }
};

constexpr small_float_format small_float(dtype t) {
    switch (t) {
    case dtype::float8_e4m3fn: return {4, 3, 7, false, true, true};
    case dtype::float8_e4m3fnuz: return {4, 3, 8, false, true, false};
    case dtype::float8_e5m2: return {5, 2, 15, true, true, true};
    case dtype::float8_e5m2fnuz: return {5, 2, 16, false, true, false};
    case dtype::float6_e2m3: return {2, 3, 1, false, false, true};
    case dtype::float6_e3m2: return {3, 2, 3, false, false, true};
    default: return {2, 1, 1, false, false, true}; // float4_e2m1
    }
}

namespace detail {

/// 2^e for the exponent of a normal number.
ATON_HD constexpr float power_of_two(int e) { return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23U); }

ATON_HD constexpr float decode(small_float_format f, unsigned code) {
    bool const negative = (code & f.sign()) != 0;
    unsigned const magnitude = code & (f.sign() - 1U);
    bool const is_nan =
        f.has_nan &&
        (f.has_negative_zero ? (f.has_infinity ? magnitude > f.infinity() : magnitude == f.nan()) : code == f.nan());
    if (is_nan) return std::bit_cast<float>(0x7fc00000U);
    float value = 0;
    if (f.has_infinity && magnitude == f.infinity()) {
        value = std::bit_cast<float>(0x7f800000U);
    } else {
        unsigned const mantissa = magnitude & ((1U << static_cast<unsigned>(f.mantissa_bits)) - 1U);
        int const exponent = static_cast<int>(magnitude >> static_cast<unsigned>(f.mantissa_bits));
        unsigned const whole = exponent == 0 ? mantissa : mantissa | 1U << static_cast<unsigned>(f.mantissa_bits);
        value = static_cast<float>(whole) * power_of_two((exponent == 0 ? 1 : exponent) - f.bias - f.mantissa_bits);
    }
    return negative ? -value : value;
}

/// Rounds to nearest, ties to even. Values that are too large become the maximum if `saturate`, otherwise infinity or
/// NaN.
ATON_HD constexpr unsigned encode(small_float_format f, float from, bool saturate) {
    auto const bits = std::bit_cast<std::uint32_t>(from);
    unsigned const sign = bits >> 31U != 0 ? f.sign() : 0U;
    std::uint32_t const magnitude = bits & 0x7fffffffU;
    unsigned const nan = f.has_negative_zero ? sign | f.nan() : f.nan();
    unsigned const beyond = saturate || !f.has_nan ? sign | f.largest() : f.has_infinity ? sign | f.infinity() : nan;
    if (magnitude > 0x7f800000U)
        return f.has_nan ? nan : f.sign(); // formats without NaN encode it as -0, as ml_dtypes does
    if (magnitude == 0x7f800000U) return beyond;
    int const exponent = static_cast<int>(magnitude >> 23U) - 127;
    if (exponent < -120) return f.has_negative_zero ? sign : 0U; // far below every format
    int const min_exponent = 1 - f.bias;
    int const used = exponent < min_exponent ? min_exponent : exponent;
    // In units of the last place. Exact, since only the exponent changes.
    float const scaled = std::bit_cast<float>(magnitude) * power_of_two(f.mantissa_bits - used);
    auto whole = static_cast<unsigned>(scaled);
    float const rest = scaled - static_cast<float>(whole);
    if (rest > 0.5F || (exactly_equal(rest, 0.5F) && (whole & 1U) != 0)) ++whole;
    unsigned const code = (static_cast<unsigned>(used + f.bias - 1) << static_cast<unsigned>(f.mantissa_bits)) + whole;
    if (code > f.largest()) return beyond;
    return code == 0 && !f.has_negative_zero ? 0U : sign | code;
}

} // namespace detail

/// The four float8 types, float6 and float4, one byte each. Conversion from float saturates.
template <dtype Type>
struct narrow_float {
    using wide = float; ///< the type of conversions
    std::uint8_t bits = 0;

    narrow_float() = default;
    ATON_HD constexpr explicit narrow_float(float f, bool saturate = true)
        : bits(static_cast<std::uint8_t>(detail::encode(small_float(Type), f, saturate))) {}
    // NOLINTNEXTLINE(google-explicit-constructor): exact.
    ATON_HD constexpr operator float() const { return detail::decode(small_float(Type), bits); }
};

/// A power of two, 2^(bits - 127); 255 is NaN. Conversion from float rounds up, as ONNX does by default.
struct float8_e8m0 {
    using wide = float;
    std::uint8_t bits = 0;

    float8_e8m0() = default;
    ATON_HD constexpr explicit float8_e8m0(float f) {
        auto const raw = std::bit_cast<std::uint32_t>(f) & 0x7fffffffU;
        if (raw >= 0x7f800000U) bits = raw > 0x7f800000U ? 255 : 254;
        else {
            std::uint32_t const exponent = raw >> 23U;
            bool const exact = (raw & 0x7fffffU) == 0;
            bits = static_cast<std::uint8_t>(exponent + (exact || exponent == 254 ? 0U : 1U));
        }
    }
    // NOLINTNEXTLINE(google-explicit-constructor): exact.
    ATON_HD constexpr operator float() const {
        if (bits == 255) return std::bit_cast<float>(0x7fc00000U);
        return bits == 0 ? std::bit_cast<float>(0x00400000U) : std::bit_cast<float>(std::uint32_t{bits} << 23U);
    }
};

template <class T>
struct complex {
    using wide = double;
    T real = 0;
    T imaginary = 0;

    friend constexpr bool operator==(complex const&, complex const&) = default;
};

/// An integer of 4 or 2 bits in a byte; conversions wrap around.
template <dtype Type>
struct narrow_integer {
    using wide = std::int64_t;
    std::int8_t value = 0;

    narrow_integer() = default;
    ATON_HD constexpr explicit narrow_integer(std::int64_t from) : value(wrap(from)) {}
    // NOLINTNEXTLINE(google-explicit-constructor): exact.
    ATON_HD constexpr operator std::int64_t() const { return value; }

private:
    ATON_HD static constexpr std::int8_t wrap(std::int64_t from) {
        constexpr std::int64_t count = std::int64_t{1} << bits(Type);
        std::int64_t const low = from & (count - 1);
        return static_cast<std::int8_t>(is_signed_integral(Type) && low >= count / 2 ? low - count : low);
    }
};

template <class T>
struct type_tag {
    using type = T;
};

/// Calls `f(type_tag<T>())` with the element type of a dtype; type_tag<void> for strings, complex32 and undefined.
template <class Function>
constexpr decltype(auto) visit(dtype t, Function const& f) {
    switch (t) {
    case dtype::bool_: return f(type_tag<bool>());
    case dtype::uint8: return f(type_tag<std::uint8_t>());
    case dtype::int8: return f(type_tag<std::int8_t>());
    case dtype::uint16: return f(type_tag<std::uint16_t>());
    case dtype::int16: return f(type_tag<std::int16_t>());
    case dtype::uint32: return f(type_tag<std::uint32_t>());
    case dtype::int32: return f(type_tag<std::int32_t>());
    case dtype::uint64: return f(type_tag<std::uint64_t>());
    case dtype::int64: return f(type_tag<std::int64_t>());
    case dtype::float16: return f(type_tag<float16>());
    case dtype::bfloat16: return f(type_tag<bfloat16>());
    case dtype::float32: return f(type_tag<float>());
    case dtype::float64: return f(type_tag<double>());
    case dtype::complex64: return f(type_tag<complex<float>>());
    case dtype::complex128: return f(type_tag<complex<double>>());
    case dtype::float8_e4m3fn: return f(type_tag<narrow_float<dtype::float8_e4m3fn>>());
    case dtype::float8_e4m3fnuz: return f(type_tag<narrow_float<dtype::float8_e4m3fnuz>>());
    case dtype::float8_e5m2: return f(type_tag<narrow_float<dtype::float8_e5m2>>());
    case dtype::float8_e5m2fnuz: return f(type_tag<narrow_float<dtype::float8_e5m2fnuz>>());
    case dtype::float6_e2m3: return f(type_tag<narrow_float<dtype::float6_e2m3>>());
    case dtype::float6_e3m2: return f(type_tag<narrow_float<dtype::float6_e3m2>>());
    case dtype::float4_e2m1: return f(type_tag<narrow_float<dtype::float4_e2m1>>());
    case dtype::float8_e8m0: return f(type_tag<float8_e8m0>());
    case dtype::uint4: return f(type_tag<narrow_integer<dtype::uint4>>());
    case dtype::int4: return f(type_tag<narrow_integer<dtype::int4>>());
    case dtype::uint2: return f(type_tag<narrow_integer<dtype::uint2>>());
    case dtype::int2: return f(type_tag<narrow_integer<dtype::int2>>());
    default: return f(type_tag<void>());
    }
}

/// Bytes of one element in memory; 0 for strings and complex32.
constexpr std::size_t element_bytes(dtype t) {
    return visit(t, [](auto tag) -> std::size_t {
        using type = typename decltype(tag)::type;
        if constexpr (std::is_void_v<type>) return 0;
        else return sizeof(type);
    });
}

} // namespace ATON_NAMESPACE::runtime
