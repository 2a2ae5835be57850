// SPDX-License-Identifier: MIT
// What a graph must compute for a call: the reference's results, and how exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/runtime/value.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

struct omitted_result;

struct expectation {
    std::vector<runtime::value> results;
    std::vector<std::int64_t> terms; ///< of the sums behind an element of each result; 0: relative accuracy
    dtype rounded =
        dtype::undefined; ///< the narrowest dtype that the call rounds to, if it is narrower than that of a result
    bool values = true;   ///< false: only dtypes and sizes are compared
    std::vector<std::string> names; ///< of the results, for messages; "result 0" where there is none
    std::vector<bool> optional;     ///< results that a row may leave out; missing entries are false
    /// The errors that the results may have in addition, by the conditioning of the call.
    std::function<std::vector<element_bounds>()> bounds_of;
    std::optional<std::vector<element_bounds>> bounds; ///< computed once a result exceeds the tolerance

    /// The results in float64; empty if unknown. Where a result is NaN or infinite because an intermediate value overflowed or
    /// vanished in its dtype, these are right as well, rounded to this dtype. Where they lie so close to the largest number of the
    /// dtype that rounding decides whether the result is infinite, both are right.
    std::function<std::vector<runtime::value>()> exact_of;
    std::optional<std::vector<runtime::value>> exact; ///< computed once a NaN or an infinity differs

    /// Converts results to the form that `results` have, in which they can be compared.
    std::function<std::vector<runtime::value>(std::vector<runtime::value>)> in_form = {};

    [[nodiscard]] element_bounds const& bounds_of_result(std::size_t i);
    [[nodiscard]] runtime::value const* exact_result(std::size_t i); ///< nullptr if unknown

    /// Lets the row leave out the result, or, if that is the condition, only one without elements. `holds`: another condition does.
    void allow_omission(omitted_result const& o, bool holds);
};

/// How the results of a graph differ from the expected ones; empty if they do not. A result that the mapping leaves out differs, unless the
/// operator leaves it undefined as well or the row may leave it out.
/// Calls `note_error` with the error of each result, as a fraction of the tolerance.
[[nodiscard]] std::string describe_difference(std::vector<runtime::value> const& got, expectation& expected,
                                              std::function<void(double)> const& note_error = {});

/// The names of the results of the functional form: "result 0", "the new value of 'x'".
[[nodiscard]] std::vector<std::string> names_of_results(std::string_view schema);

/// The maximum number of elements of a tensor that an element of the result can sum: axes whose sizes the result does not have are
/// reduced. The results of one call can differ: the gradient of a bias sums more than that of its input.
[[nodiscard]] std::int64_t terms_of(sample const& s, runtime::value const& result);

/// Whether any element is a number, not NaN.
[[nodiscard]] bool has_numbers(std::vector<runtime::value> const& results);

/// The profile that a recorded call belongs to: the dtype of its first tensor, and whether it has no elements or special ones.
[[nodiscard]] sampling_profile profile_of(sample const& s, std::vector<runtime::value> const& results);
/// Whether an argument or a result of a call is or contains NaN.
[[nodiscard]] bool has_nan(sample const& s, std::vector<runtime::value> const& results);

} // namespace ATON_NAMESPACE::verify
