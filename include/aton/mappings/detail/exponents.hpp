// SPDX-License-Identifier: MIT
// Binary exponents of floating-point numbers, computed in float64.
// Internal header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>

#include <aton/mappings/detail/common.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// |x| = fraction * 2^exponent with a fraction in [1/2, 1), both in float64; 1/2 and 1 for zeros, infinities and NaN,
/// which are not `ordinary`.
struct binary_parts {
    value fraction;
    value exponent;
    value ordinary;
};

/// Parts of x in float64. A logarithm gives the exponent, which may be off by one. Numbers far from 1 are scaled first
/// if `is_wide`: the inverse of their power of two may be out of range.
inline binary_parts parts_of(graph<11> g, value x, bool is_wide) {
    dtype const type = dtype::float64;
    value const infinity = g.scalar(std::numeric_limits<double>::infinity(), type);
    value const size = g.op<"Abs">(x);
    value const ordinary = g.op<"And">(g.op<"Greater">(size, 0), g.op<"Less">(size, infinity));
    value y = g.op<"Where">(ordinary, size, g.scalar(1, type));
    value scale = g.scalar(0, type);
    if (is_wide) {
        constexpr double limit = 500;
        value const zero = g.scalar(0, type);
        value const up = g.op<"Where">(g.op<"Less">(y, std::exp2(-limit)), g.scalar(2 * limit, type), zero);
        scale = g.op<"Where">(g.op<"Greater">(y, std::exp2(limit)), g.scalar(-2 * limit, type), up);
        value const half =
            g.op<"Pow">(g.scalar(2, type), g.op<"Mul">(scale, 0.5)); // the whole power may be out of range
        y = g.op<"Mul">(g.op<"Mul">(y, half), half);
    }
    value const near = g.op<"Add">(g.op<"Floor">(g.op<"Mul">(g.op<"Log">(y), std::numbers::log2e)), 1);
    value const first = g.op<"Mul">(y, g.op<"Pow">(g.scalar(2, type), g.op<"Neg">(near)));
    value const too_large = g.op<"Not">(g.op<"Less">(first, 1));
    value const too_small = g.op<"Less">(first, 0.5);
    value const off = g.op<"Sub">(g.cast(too_large, type), g.cast(too_small, type));
    return {g.op<"Mul">(first, g.op<"Pow">(g.scalar(2, type), g.op<"Neg">(off))),
            g.op<"Sub">(g.op<"Add">(near, off), scale),
            ordinary};
}

/// The digits and the smallest exponent of a floating-point dtype: its numbers are multiples of 2^lowest.
struct float_format {
    int digits;
    int lowest;
    double largest;
};
inline float_format format_of(dtype type) {
    double const largest = largest_number(type);
    if (type == dtype::float64) return {53, -1074, largest};
    if (type == dtype::float16) return {11, -24, largest};
    if (type == dtype::bfloat16) return {8, -133, largest};
    if (type == dtype::float32) return {24, -149, largest};
    throw unsupported_error("numbers of " + std::string(name(type)));
}

} // namespace ATON_NAMESPACE::mappings::detail
