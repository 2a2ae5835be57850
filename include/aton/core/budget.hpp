// SPDX-License-Identifier: MIT
// Limits of what the conversion of one call may compute, and overflow-checked arithmetic on sizes, which a program can set to any number.
// Internal header.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace budget {

/// Maximum elements of a table or constant that a mapping computes, and iterations of a loop that depends on a number of the program.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 22;
/// Maximum elements of a range that becomes a constant; the graph computes longer ones.
inline constexpr std::int64_t max_constant_range = std::int64_t{1} << 20;
/// Maximum elements of a range that the graph computes; no runtime has the memory for more.
inline constexpr std::int64_t max_range = std::int64_t{1} << 48;
/// Maximum bytes of all constants that one call makes.
inline constexpr std::uint32_t max_constant_bytes = std::uint32_t{1} << 26;
/// Maximum nodes and values that one call makes.
inline constexpr std::uint32_t max_nodes = std::uint32_t{1} << 16;
/// Maximum rank of a tensor that a call makes; no runtime has kernels for more.
inline constexpr std::int64_t max_rank = 64;

template <class = void>
[[noreturn]] void refuse(std::string_view what, std::int64_t count, std::int64_t limit) {
    throw unsupported_error(std::string(what) + " of " + std::to_string(count) + " elements; at most " +
                            std::to_string(limit) + " are computed while a model is exported");
}

/// Refuses a count of elements or steps above the limit.
inline void expect(std::string_view what, std::int64_t count, std::int64_t limit = max_elements) {
    if (count > limit) refuse(what, count, limit);
}

} // namespace budget

template <class = void>
[[noreturn]] void refuse_overflow(std::int64_t a, char op, std::int64_t b) {
    throw unsupported_error("a size does not fit in 64 bits: " + std::to_string(a) + ' ' + op + ' ' +
                            std::to_string(b));
}

constexpr std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    using limits = std::numeric_limits<std::int64_t>;
    if (b > 0 ? a > limits::max() - b : a < limits::min() - b) refuse_overflow(a, '+', b);
    return a + b;
}
constexpr std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
    using limits = std::numeric_limits<std::int64_t>;
    if (b < 0 ? a > limits::max() + b : a < limits::min() + b) refuse_overflow(a, '-', b);
    return a - b;
}
constexpr std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    using limits = std::numeric_limits<std::int64_t>;
    bool const fits = a == 0 || b == 0 ||
                      (a == -1              ? b != limits::min()
                       : b == -1            ? a != limits::min()
                       : (a > 0) == (b > 0) ? (a > 0 ? a <= limits::max() / b : a >= limits::max() / b)
                       : a > 0              ? b >= limits::min() / a
                                            : a >= limits::min() / b);
    if (!fits) refuse_overflow(a, '*', b);
    return a * b;
}

/// An integer with overflow-checked arithmetic: `checked_int(in) + 2 * padding - extent`. An overflow refuses the conversion.
class checked_int {
public:
    constexpr checked_int() = default;
    // NOLINTBEGIN(google-explicit-constructor): an integer is a checked integer.
    constexpr checked_int(std::int64_t n) : number_(n) {}
    constexpr operator std::int64_t() const { return number_; }
    // NOLINTEND(google-explicit-constructor)

    friend constexpr checked_int operator+(checked_int a, checked_int b) { return checked_add(a.number_, b.number_); }
    template <std::integral T>
    friend constexpr checked_int operator+(checked_int a, T b) {
        return checked_add(a.number_, b);
    }
    template <std::integral T>
    friend constexpr checked_int operator+(T a, checked_int b) {
        return checked_add(a, b.number_);
    }
    friend constexpr checked_int operator-(checked_int a, checked_int b) {
        return checked_subtract(a.number_, b.number_);
    }
    template <std::integral T>
    friend constexpr checked_int operator-(checked_int a, T b) {
        return checked_subtract(a.number_, b);
    }
    template <std::integral T>
    friend constexpr checked_int operator-(T a, checked_int b) {
        return checked_subtract(a, b.number_);
    }
    friend constexpr checked_int operator*(checked_int a, checked_int b) {
        return checked_multiply(a.number_, b.number_);
    }
    template <std::integral T>
    friend constexpr checked_int operator*(checked_int a, T b) {
        return checked_multiply(a.number_, b);
    }
    template <std::integral T>
    friend constexpr checked_int operator*(T a, checked_int b) {
        return checked_multiply(a, b.number_);
    }
    /// Refuses a division by 0, too.
    template <std::integral T>
    friend constexpr checked_int operator/(checked_int a, T b) {
        if (b == 0 || (b == -1 && a.number_ == std::numeric_limits<std::int64_t>::min()))
            refuse_overflow(a.number_, '/', b);
        return a.number_ / b;
    }

private:
    std::int64_t number_ = 0;
};

} // namespace ATON_NAMESPACE
