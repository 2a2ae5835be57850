// SPDX-License-Identifier: MIT
// Whether two results are the same numbers.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// |got - expected| <= absolute + relative * |expected|; NaN meets NaN, infinities the same ones; integers and bools are equal. Where
/// elements can cancel (in sums, and in graphs of float16 and bfloat16, which round after each operator), one or two unit roundoffs of
/// the largest element come to it.
struct tolerance {
    double relative = 0;
    double absolute = 0;
};

/// Of sums of up to `terms` products in this dtype: rounding errors of both sides grow with the square root of their number.
/// 0: of no sum, whose results near 0 keep their digits.
[[nodiscard]] tolerance tolerance_of(dtype t, std::int64_t terms = 1);

/// The outcome of a comparison.
struct comparison {
    std::string difference; ///< what differs and where, on one line; empty: nothing
    double error = 0;       ///< the largest of all elements, in parts of what the tolerance allows
    std::int64_t elements = 0;

    /// Whether nothing differs.
    [[nodiscard]] bool same() const { return difference.empty(); }
};

/// Half of the distance from 1 to the next number; of what is none of floats that of float32.
[[nodiscard]] double unit_roundoff(dtype t);

/// Errors that the elements of each tensor of a value may have beyond the tolerance (of complex ones two each); none, or none of a
/// tensor: 0.
using element_bounds = std::vector<std::vector<double>>;

/// The one of two dtypes that rounds more; what is none of floats does not round.
[[nodiscard]] dtype narrower(dtype a, dtype b);

/// `rounded`: the narrowest dtype that was rounded to on the way to `expected`, if it is narrower than its own.
/// Compares dtypes, sizes and elements. `terms` is the number of terms of the sums behind an element; `bounds` adds errors that
/// its elements may have. Throws aton::error where the elements of another device cannot be copied.
[[nodiscard]] comparison compare(runtime::tensor const& got, runtime::tensor const& expected, std::int64_t terms = 1,
                                 dtype rounded = dtype::undefined, std::vector<double> const& bounds = {});
[[nodiscard]] comparison compare(runtime::value const& got, runtime::value const& expected, std::int64_t terms = 1,
                                 dtype rounded = dtype::undefined, element_bounds const& bounds = {});

} // namespace ATON_NAMESPACE::verify
