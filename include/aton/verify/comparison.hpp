// SPDX-License-Identifier: MIT
// Compares two results within a tolerance that follows from the dtype.
// Public header.
#pragma once

#include <cstddef>
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

/// How two results differ.
enum class difference : std::uint8_t {
    none,
    missing,      ///< only the expected result exists
    unexpected,   ///< only the other one exists
    kind,         ///< one is a tensor, the other a sequence
    tensor_count, ///< the sequences have different lengths
    type,         ///< dtype or sizes
    values,       ///< elements beyond the tolerance, or strings
};

/// The outcome of a comparison.
struct comparison {
    verify::difference what = difference::none;
    double error = 0; ///< the largest of all elements, as a fraction of the tolerance
    std::int64_t elements = 0;

    // Facts about the difference, for to_string().
    std::size_t tensor = no_index;    ///< the first tensor of a sequence that differs
    std::size_t counts[2] = {};       ///< tensor_count: those of both sequences
    dtype types[2] = {};              ///< type
    runtime::sizes sizes[2];          ///< type
    std::int64_t wrong = 0;           ///< values: elements beyond the tolerance; 0 for strings
    std::int64_t tensor_elements = 0; ///< values: of how many
    std::vector<std::int64_t> first;  ///< values: the index of the first of them
    double first_values[2] = {};      ///< values: the element there
    /// `tensor` if the results are not sequences.
    static constexpr std::size_t no_index = ~std::size_t{0};

    /// Whether nothing differs.
    [[nodiscard]] bool same() const { return what == difference::none; }
};

/// "2 of 6 elements differ, the first at [0, 1]: 3, expected 4"; the result comes first, then the expected one. Empty if nothing differs.
[[nodiscard]] std::string to_string(comparison const& c);

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
