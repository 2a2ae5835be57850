// SPDX-License-Identifier: MIT
// Tensors of every dtype, and numbers as plain loops compute them, for tests of kernels.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtime/kernels/elementwise.hpp"
#include <aton/runtime/kernels.hpp>

#include "../faults.hpp"
#include "layouts.hpp"

namespace ATON_NAMESPACE::runtime::kernel_tests {

using tests::contains;
using tests::doubles;
using tests::elements;
using tests::fault_of;
using tests::filled;
using tests::floats;
using tests::integers;
using tests::layouts;

inline device_kernels const& k() { return cpu_kernels(); }

inline constexpr float nan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float infinity = std::numeric_limits<float>::infinity();

inline constexpr std::array numbers = {dtype::uint8,
                                       dtype::int8,
                                       dtype::uint16,
                                       dtype::int16,
                                       dtype::uint32,
                                       dtype::int32,
                                       dtype::uint64,
                                       dtype::int64,
                                       dtype::float16,
                                       dtype::bfloat16,
                                       dtype::float32,
                                       dtype::float64};

/// An element in plain loops: integers as 64 bits that wrap around, floats as double.
struct number {
    std::uint64_t whole = 0;
    double real = 0;

    friend number operator+(number x, number y) { return {x.whole + y.whole, x.real + y.real}; }
    friend number operator*(number x, number y) { return {x.whole * y.whole, x.real * y.real}; }
};

template <class T>
number number_of(T x) {
    if constexpr (std::is_integral_v<T>) return {static_cast<std::uint64_t>(x), 0};
    else if constexpr (std::is_same_v<T, double>) return {0, x};
    else return {0, double{static_cast<float>(x)}};
}
template <class T>
T to(number x) {
    if constexpr (std::is_integral_v<T>) return static_cast<T>(x.whole);
    else if constexpr (std::is_same_v<T, double>) return x.real;
    else return T(static_cast<float>(x.real));
}

/// Calls `f(type_tag<T>())` for a dtype with arithmetic.
template <class Function>
void with_type(dtype t, Function const& f) {
    visit(t, [&]<class T>(type_tag<T> tag) {
        if constexpr (kernels::is_number<T> && !std::is_same_v<T, bool>) f(tag);
    });
}

inline std::vector<number> numbers_of(tensor const& x) {
    std::vector<number> out;
    with_type(x.dtype(), [&]<class T>(type_tag<T> /*of*/) {
        for (T v : elements<T>(x)) out.push_back(number_of(v));
    });
    return out;
}
/// Rounded to the dtype.
inline number rounded(number x, dtype t) {
    with_type(t, [&]<class T>(type_tag<T> /*of*/) { x = number_of(to<T>(x)); });
    return x;
}
inline bool below(number x, number y, dtype t) {
    if (is_floating(t)) return x.real < y.real;
    if (!is_signed_integral(t)) return x.whole < y.whole;
    return static_cast<std::int64_t>(x.whole) < static_cast<std::int64_t>(y.whole);
}
inline bool equal(number x, number y) { return x.whole == y.whole && x.real == y.real; }

/// Small nonzero numbers, with both signs if the dtype has negative ones.
inline tensor small_numbers(dtype t, sizes of, int seed = 1) {
    tensor x = tensor::empty(t, std::move(of));
    bool const has_negative = is_floating(t) || is_signed_integral(t);
    with_type(t, [&]<class T>(type_tag<T> /*of*/) {
        for (std::int64_t i = 0; i != x.count(); ++i) {
            std::int64_t const v = (i * 7919 + seed * std::int64_t{104729}) % 11 - (has_negative ? 4 : 0);
            std::int64_t const some = v == 0 ? 2 : v;
            x.data<T>()[i] = to<T>({static_cast<std::uint64_t>(some), static_cast<double>(some)});
        }
    });
    return x;
}

/// Whether a tensor has these numbers, rounded to its dtype; allows for another order of summation.
inline bool has(tensor const& x, std::vector<number> const& expected) {
    dtype const t = x.dtype();
    double const error = t == dtype::float16 ? 1e-3 : t == dtype::bfloat16 ? 8e-3 : t == dtype::float32 ? 3e-7 : 1e-14;
    std::vector<number> const found = numbers_of(x);
    return std::equal(found.begin(), found.end(), expected.begin(), expected.end(), [&](number a, number b) {
        if (!is_floating(t)) return a.whole == rounded(b, t).whole;
        double const r = rounded(b, t).real;
        return a.real == r || std::abs(a.real - r) <= error * std::abs(r);
    });
}

/// A reduction: its function of two numbers and its initial value.
struct named_reduction {
    reduce_op op;
    number start;
    number (*f)(number, number, dtype);
};

inline number larger(number x, number y, dtype t) { return below(x, y, t) ? y : x; }
inline number smaller(number x, number y, dtype t) { return below(y, x, t) ? y : x; }

inline std::vector<named_reduction> reductions(dtype t) {
    number least;
    number most;
    with_type(t, [&]<class T>(type_tag<T> /*of*/) {
        using limits = std::numeric_limits<T>;
        if constexpr (std::is_integral_v<T>) {
            least = number_of(limits::lowest());
            most = number_of(limits::max());
        } else {
            least.real = -std::numeric_limits<double>::infinity();
            most.real = std::numeric_limits<double>::infinity();
        }
    });
    return {{reduce_op::sum, {0, 0}, [](number x, number y, dtype) { return x + y; }},
            {reduce_op::prod, {1, 1}, [](number x, number y, dtype) { return x * y; }},
            {reduce_op::max, least, larger},
            {reduce_op::min, most, smaller}};
}

inline std::vector<std::size_t> const first_axis{0};
inline std::vector<std::size_t> const second_axis{1};
inline std::vector<std::size_t> const no_axis;

inline tensor bools(std::vector<int> const& values) {
    return filled<bool>(dtype::bool_, {static_cast<std::int64_t>(values.size())}, [&](std::int64_t i) {
        return values[static_cast<std::size_t>(i)] != 0;
    });
}

} // namespace ATON_NAMESPACE::runtime::kernel_tests
