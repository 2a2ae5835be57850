// SPDX-License-Identifier: MIT
// Compares two results within a tolerance that follows from the dtype.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// |got - expected| <= absolute + relative * |expected|. NaN must match NaN, infinities must match in sign, integers and bools must be
/// equal. Where terms can cancel (in sums, and in float16 and bfloat16 graphs, which round after each operator), one or two unit
/// roundoffs of the largest element are added.
struct tolerance {
    double relative = 0;
    double absolute = 0;
};

/// The tolerance of sums of up to `terms` products in this dtype: rounding errors of both sides grow with the square root of `terms`.
/// 0: not a sum, and results near 0 keep their relative accuracy.
[[nodiscard]] tolerance tolerance_of(dtype t, std::int64_t terms = 1);

/// The outcome of a comparison.
struct comparison {
    std::string difference; ///< what differs and where, on one line; empty if nothing does
    double error = 0;       ///< the largest of all elements, as a fraction of the tolerance
    std::int64_t elements = 0;

    /// Whether nothing differs.
    [[nodiscard]] bool same() const { return difference.empty(); }
};

/// Half the distance from 1 to the next number; that of float32 for non-float dtypes.
[[nodiscard]] double unit_roundoff(dtype t);

/// The error that each element of each tensor of a value may have in addition to the tolerance (complex elements: two each). Missing
/// entries are 0.
using element_bounds = std::vector<std::vector<double>>;

/// The dtype with fewer significant bits; non-float dtypes are ignored.
[[nodiscard]] dtype narrower(dtype a, dtype b);

/// `rounded`: the narrowest dtype that the computation of `expected` rounded to, if it is narrower than that of `expected`.
/// Compares dtypes, sizes and elements. `terms` is the number of terms of the sums behind an element; `bounds` adds errors that
/// its elements may have. Throws aton::error where the elements of another device cannot be copied.
[[nodiscard]] comparison compare(runtime::tensor const& got, runtime::tensor const& expected, std::int64_t terms = 1,
                                 dtype rounded = dtype::undefined, std::vector<double> const& bounds = {});
[[nodiscard]] comparison compare(runtime::value const& got, runtime::value const& expected, std::int64_t terms = 1,
                                 dtype rounded = dtype::undefined, element_bounds const& bounds = {});

} // namespace ATON_NAMESPACE::verify
