// SPDX-License-Identifier: MIT
// A constant tensor: dtype, sizes and little-endian bytes, row-major, as in TensorProto.raw_data.
// Public header.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/exactly_equal.hpp>
#include <aton/core/scalar.hpp>
#include <aton/core/shape.hpp>

namespace ATON_NAMESPACE {

namespace detail {

/// binary32 to binary16, rounded to nearest even; overflow gives infinity, NaN stays NaN.
constexpr std::uint16_t float_to_half(float f) {
    auto const bits = std::bit_cast<std::uint32_t>(f);
    auto const sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
    std::uint32_t const magnitude = bits & 0x7fffffffU;
    if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
    if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U); // 65520 and more
    if (magnitude < 0x33000001U) return sign;                                        // 2^-25 and less
    std::uint32_t const exponent = magnitude >> 23;
    std::uint32_t const mantissa = (magnitude & 0x7fffffU) | 0x800000U;
    std::uint32_t const shift = exponent < 113 ? 126 - exponent : 13; // below 2^-14: subnormal
    std::uint32_t const base = exponent < 113 ? 0 : (exponent - 113) << 10;
    std::uint32_t const kept = mantissa >> shift;
    std::uint32_t const rest = mantissa & ((1U << shift) - 1U);
    std::uint32_t const half = 1U << (shift - 1U);
    std::uint32_t const rounded = kept + (rest > half || (rest == half && (kept & 1U) != 0) ? 1U : 0U);
    return static_cast<std::uint16_t>(sign | (base + rounded));
}

constexpr float half_to_float(std::uint16_t h) {
    std::uint32_t const sign = (h & 0x8000U) << 16;
    std::uint32_t const exponent = h >> 10 & 0x1fU;
    std::uint32_t const mantissa = h & 0x3ffU;
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | mantissa << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
    float const small = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -small : small;
}

/// binary32 to bfloat16, rounded to nearest even.
constexpr std::uint16_t float_to_bfloat16(float f) {
    auto const bits = std::bit_cast<std::uint32_t>(f);
    if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
    return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

constexpr float bfloat16_to_float(std::uint16_t b) { return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16); }

/// Whether a finite number becomes infinity in a floating dtype. float16 and bfloat16 are rounded from float32.
constexpr bool rounds_to_infinity(double d, dtype t) {
    double const size = d < 0 ? -d : d;
    bool const finite = size <= std::numeric_limits<double>::max();
    if (!finite || part_type(t) == dtype::float64) return false;
    if (size >= 0x1.ffffffp127) return true;
    auto const single = static_cast<float>(size);
    return (part_type(t) == dtype::float16 && single >= 65520.0F) || (t == dtype::bfloat16 && single >= 0x1.ffp127F);
}

template <class T>
void append_bytes(std::string& out, T v) {
    char raw[sizeof(T)];
    std::memcpy(raw, &v, sizeof(T));
    out.append(raw, sizeof(T));
}

template <class T>
T read_bytes(std::string const& in, std::size_t index) {
    T v;
    std::memcpy(&v, in.data() + index * sizeof(T), sizeof(T));
    return v;
}

} // namespace detail

/// A dense constant. `bytes` holds element_count() elements of `type`, row-major, little-endian. Elements below 8 bits are packed, the
/// first in the lowest bits. Strings are in `strings` instead.
struct tensor {
    dtype type = dtype::undefined;
    std::vector<std::int64_t> sizes;
    std::string bytes;
    std::vector<std::string> strings = {};

    /// The maximum int64 if a size is negative or the product overflows.
    [[nodiscard]] std::int64_t element_count() const {
        return element_count_of(sizes, [](std::int64_t s) { return s; });
    }

    /// Whether append() and at() support this dtype: all with whole-byte elements except strings and float8.
    static constexpr bool can_hold(dtype t) {
        return t == dtype::bool_ || (is_integral(t) && bits(t) >= 8) || t == dtype::float32 || t == dtype::float64 ||
               t == dtype::float16 || t == dtype::bfloat16 || is_complex(t);
    }

    /// Appends one element, converted like ATen's Scalar::to; float16 and bfloat16 are rounded from float32. Ignored for unsupported dtypes.
    void append(scalar const& s) {
        switch (type) {
        case dtype::float32: return detail::append_bytes(bytes, s.to<float>());
        case dtype::float64: return detail::append_bytes(bytes, s.to<double>());
        case dtype::float16: return detail::append_bytes(bytes, detail::float_to_half(s.to<float>()));
        case dtype::bfloat16: return detail::append_bytes(bytes, detail::float_to_bfloat16(s.to<float>()));
        case dtype::int8: return detail::append_bytes(bytes, static_cast<std::int8_t>(s.to_saturated<std::int64_t>()));
        case dtype::int16:
            return detail::append_bytes(bytes, static_cast<std::int16_t>(s.to_saturated<std::int64_t>()));
        case dtype::int32:
            return detail::append_bytes(bytes, static_cast<std::int32_t>(s.to_saturated<std::int64_t>()));
        case dtype::int64: return detail::append_bytes(bytes, s.to_saturated<std::int64_t>());
        case dtype::uint8:
            return detail::append_bytes(bytes, static_cast<std::uint8_t>(s.to_saturated<std::int64_t>()));
        case dtype::uint16:
            return detail::append_bytes(bytes, static_cast<std::uint16_t>(s.to_saturated<std::int64_t>()));
        case dtype::uint32:
            return detail::append_bytes(bytes, static_cast<std::uint32_t>(s.to_saturated<std::int64_t>()));
        case dtype::uint64:
            return detail::append_bytes(bytes, static_cast<std::uint64_t>(s.to_saturated<std::int64_t>()));
        case dtype::bool_: return detail::append_bytes(bytes, static_cast<std::uint8_t>(s.to<bool>() ? 1 : 0));
        case dtype::complex32:
            detail::append_bytes(bytes, detail::float_to_half(s.to<float>()));
            return detail::append_bytes(bytes, detail::float_to_half(static_cast<float>(s.imaginary())));
        case dtype::complex64:
            detail::append_bytes(bytes, s.to<float>());
            return detail::append_bytes(bytes, static_cast<float>(s.imaginary()));
        case dtype::complex128:
            detail::append_bytes(bytes, s.to<double>());
            return detail::append_bytes(bytes, s.imaginary());
        default: return;
        }
    }

    /// Element `i` in row-major order.
    [[nodiscard]] scalar at(std::size_t i) const {
        switch (type) {
        case dtype::float32: return detail::read_bytes<float>(bytes, i);
        case dtype::float64: return detail::read_bytes<double>(bytes, i);
        case dtype::float16: return detail::half_to_float(detail::read_bytes<std::uint16_t>(bytes, i));
        case dtype::bfloat16: return detail::bfloat16_to_float(detail::read_bytes<std::uint16_t>(bytes, i));
        case dtype::int8: return static_cast<int>(detail::read_bytes<std::int8_t>(bytes, i));
        case dtype::int16: return static_cast<int>(detail::read_bytes<std::int16_t>(bytes, i));
        case dtype::int32: return detail::read_bytes<std::int32_t>(bytes, i);
        case dtype::int64: return detail::read_bytes<std::int64_t>(bytes, i);
        case dtype::uint8: return static_cast<int>(detail::read_bytes<std::uint8_t>(bytes, i));
        case dtype::uint16: return static_cast<int>(detail::read_bytes<std::uint16_t>(bytes, i));
        case dtype::uint32: return static_cast<std::int64_t>(detail::read_bytes<std::uint32_t>(bytes, i));
        case dtype::uint64: return static_cast<std::int64_t>(detail::read_bytes<std::uint64_t>(bytes, i));
        case dtype::bool_: return detail::read_bytes<std::uint8_t>(bytes, i) != 0;
        case dtype::complex32:
            return scalar::complex(
                static_cast<double>(detail::half_to_float(detail::read_bytes<std::uint16_t>(bytes, 2 * i))),
                static_cast<double>(detail::half_to_float(detail::read_bytes<std::uint16_t>(bytes, 2 * i + 1))));
        case dtype::complex64:
            return scalar::complex(static_cast<double>(detail::read_bytes<float>(bytes, 2 * i)),
                                   static_cast<double>(detail::read_bytes<float>(bytes, 2 * i + 1)));
        case dtype::complex128:
            return scalar::complex(detail::read_bytes<double>(bytes, 2 * i),
                                   detail::read_bytes<double>(bytes, 2 * i + 1));
        default: return {};
        }
    }

    /// The same elements in another dtype, each converted like append().
    [[nodiscard]] tensor to(dtype target) const {
        tensor out{target, sizes, {}};
        auto const n = static_cast<std::size_t>(element_count());
        for (std::size_t i = 0; i != n; ++i) out.append(at(i));
        return out;
    }

    friend bool operator==(tensor const&, tensor const&) = default;
};

/// Whether a dtype can represent this number. A float may be rounded, but not to infinity; integers have no fractions, NaN or infinity;
/// bool has 0 and 1; only complex dtypes have imaginary parts. False for dtypes that tensor::append() does not support.
constexpr bool fits(scalar const& s, dtype t) {
    if (!tensor::can_hold(t) || (!is_complex(t) && !exactly_equal(s.imaginary(), 0))) return false;
    auto const number = s.to<double>();
    if (is_complex(t)) return !detail::rounds_to_infinity(number, t) && !detail::rounds_to_infinity(s.imaginary(), t);
    if (is_floating(t)) return !detail::rounds_to_infinity(number, t);
    auto const whole = s.to_saturated<std::int64_t>();
    if (!(s == whole) || (s.is_floating() && exactly_equal(number, 0x1p63))) return false;
    if (t == dtype::bool_) return whole == 0 || whole == 1;
    auto const width = static_cast<unsigned>(bits(t));
    if (is_unsigned_integral(t)) return whole >= 0 && (width == 64 || whole >> width == 0);
    return width == 64 || whole >> (width - 1) == (whole < 0 ? -1 : 0);
}

/// A 0-d tensor, converted like append().
inline tensor scalar_tensor(scalar const& s, dtype type) {
    tensor t{type, {}, {}};
    t.append(s);
    return t;
}

/// A 1-d int64 tensor.
inline tensor int64_tensor(std::span<std::int64_t const> values) {
    tensor t{dtype::int64, {static_cast<std::int64_t>(values.size())}, {}};
    for (std::int64_t v : values) t.append(v);
    return t;
}

} // namespace ATON_NAMESPACE
