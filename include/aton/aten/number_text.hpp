// SPDX-License-Identifier: MIT
// Parses numbers in constant expressions, correctly rounded. (std::from_chars for double is not constexpr.)
// Internal header.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::aten::detail {

/// `-?[0-9]+` within int64.
constexpr bool parse_int(std::string_view text, std::int64_t& out) {
    bool const negative = !text.empty() && text.front() == '-';
    if (negative) text.remove_prefix(1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1); // torch reads "- 1" as -1
    if (text.empty()) return false;
    std::uint64_t const max = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
    std::uint64_t value = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return false;
        auto const digit = static_cast<std::uint64_t>(c - '0');
        if (value > (max - digit) / 10) return false;
        value = value * 10 + digit;
    }
    out = static_cast<std::int64_t>(negative ? ~value + 1 : value);
    return true;
}

/// An unsigned integer of up to 2,560 bits, least significant word first; enough for 19 digits times 10 to the +-350.
struct wide_uint {
    static constexpr std::size_t words = 80;
    std::uint32_t word[words]{};
    std::size_t used = 0;

    constexpr void multiply_add(std::uint32_t factor, std::uint32_t addend) {
        std::uint64_t carry = addend;
        for (std::size_t i = 0; i != used; ++i) {
            carry += std::uint64_t{word[i]} * factor;
            word[i] = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry != 0) word[used++] = static_cast<std::uint32_t>(carry);
    }
    /// Divides, rounding down, and returns the remainder. Repeated division rounds like a single one.
    constexpr std::uint32_t divide(std::uint32_t divisor) {
        std::uint64_t rest = 0;
        for (std::size_t i = used; i-- != 0;) {
            rest = rest << 32 | word[i];
            word[i] = static_cast<std::uint32_t>(rest / divisor);
            rest %= divisor;
        }
        while (used != 0 && word[used - 1] == 0) --used;
        return static_cast<std::uint32_t>(rest);
    }
    constexpr void shift_words(std::size_t n) {
        for (std::size_t i = used; i-- != 0;) word[i + n] = word[i];
        for (std::size_t i = 0; i != n; ++i) word[i] = 0;
        used += n;
    }
    [[nodiscard]] constexpr bool bit(std::size_t i) const { return (word[i / 32] >> (i % 32) & 1U) != 0; }
    [[nodiscard]] constexpr int bits() const {
        return used == 0 ? 0 : static_cast<int>(32 * used) - std::countl_zero(word[used - 1]);
    }
};

/// value * 2^exponent to the nearest double, ties to even; `inexact`: the true value is slightly larger.
constexpr double round_to_double(wide_uint const& value, int exponent, bool inexact) {
    int const bits = value.bits();
    int const top = bits + exponent - 1; // 2^top <= value < 2^(top + 1)
    if (bits == 0) return 0.0;
    if (top > 1023) return std::bit_cast<double>(std::uint64_t{0x7FF} << 52);
    int const lowest = top < -1022 ? -1074 : top - 52; // the weight of the result's last bit
    std::uint64_t mantissa = 0;
    bool half = false;
    bool below_half = inexact;
    for (int i = bits; i-- != 0;) {
        bool const bit = value.bit(static_cast<std::size_t>(i));
        if (i + exponent >= lowest) mantissa = mantissa << 1 | (bit ? 1U : 0U);
        else if (i + exponent == lowest - 1) half = bit;
        else below_half = below_half || bit;
    }
    for (int missing = exponent - lowest; missing > 0; --missing) mantissa <<= 1;
    // A carry out of the mantissa increments the exponent, as it should, up to infinity.
    std::uint64_t const biased = top < -1022 ? 0 : static_cast<std::uint64_t>(top + 1022);
    std::uint64_t const up = half && (below_half || (mantissa & 1U) != 0) ? 1 : 0;
    return std::bit_cast<double>((biased << 52) + mantissa + up);
}

/// The digits and the exponent of a number: value * 10^exponent.
struct decimal {
    wide_uint value;
    int digits = 0; ///< in `value`, at most 60
    int exponent = 0;
    bool inexact = false; ///< the true value is slightly larger

    /// Appends a digit, which stands after the point or before it.
    constexpr void append(char c, bool after_point) {
        if (digits == 0 && c == '0') {
            if (after_point) --exponent;
        } else if (digits < 60) {
            value.multiply_add(10, static_cast<std::uint32_t>(c - '0'));
            ++digits;
            if (after_point) --exponent;
        } else {
            inexact = inexact || c != '0';
            if (!after_point) ++exponent;
        }
    }
    /// Removes `[0-9]*[.]?[0-9]*` from the front of the text; false if it has no digit.
    constexpr bool parse_digits(std::string_view& text) {
        bool some = false;
        bool point = false;
        std::size_t i = 0;
        for (; i != text.size(); ++i) {
            char const c = text[i];
            if (c == '.' && !point) {
                point = true;
                continue;
            }
            if (c < '0' || c > '9') break;
            some = true;
            append(c, point);
        }
        text.remove_prefix(i);
        return some;
    }
    /// Adds the exponent `[eE][+-]?[0-9]+`, which may be absent.
    constexpr bool parse_exponent(std::string_view text) {
        if (text.empty()) return true;
        if (text.front() != 'e' && text.front() != 'E') return false;
        text.remove_prefix(1);
        if (!text.empty() && text.front() == '+') {
            text.remove_prefix(1);
            if (!text.empty() && text.front() == '-') return false;
        }
        std::int64_t written = 0;
        if (!parse_int(text, written)) return false;
        exponent += static_cast<int>(written > 9999 ? 9999 : written < -9999 ? -9999 : written);
        return true;
    }
    /// The nearest double. Changes `value`.
    constexpr double round() {
        if (value.used == 0 || digits + exponent < -330) return 0.0;
        if (digits + exponent > 320) return round_to_double({{1}, 1}, 2000, inexact);
        if (exponent >= 0) {
            for (; exponent != 0; --exponent) value.multiply_add(10, 0);
            return round_to_double(value, 0, inexact);
        }
        auto const extra =
            static_cast<std::size_t>(-exponent) / 9 + 3; // words: more bits than the division removes, plus 64
        value.shift_words(extra);
        for (; exponent <= -9; exponent += 9) inexact = value.divide(1'000'000'000) != 0 || inexact;
        for (; exponent != 0; ++exponent) inexact = value.divide(10) != 0 || inexact;
        return round_to_double(value, -static_cast<int>(32 * extra), inexact);
    }
};

/// `-?` digits with an optional point and exponent, or inf or nan, as Python writes them; up to 19 significant digits are exact.
constexpr bool parse_double(std::string_view text, double& out) {
    bool const negative = !text.empty() && text.front() == '-';
    if (negative) text.remove_prefix(1);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    std::uint64_t bits = text == "inf" ? std::uint64_t{0x7FF} << 52 : text == "nan" ? std::uint64_t{0xFFF} << 51 : 0;
    if (bits == 0) {
        decimal number;
        if (!number.parse_digits(text) || !number.parse_exponent(text)) return false;
        bits = std::bit_cast<std::uint64_t>(number.round());
    }
    out = std::bit_cast<double>(negative ? bits | std::uint64_t{1} << 63 : bits);
    return true;
}

} // namespace ATON_NAMESPACE::aten::detail
