// SPDX-License-Identifier: MIT
// Known differences between the runtime and torch, each with its reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <aton/runtime/tensor.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// A call whose results differ, and the first result that does.
struct different_call {
    sample const& call;
    sampling_profile const& of;
    std::size_t result = 0;
    runtime::tensor got;
    runtime::tensor expected;
};

struct known_torch_difference {
    std::string_view operators;           ///< as in sampling_rule
    std::string_view where;               ///< words that must all describe the profile: "special bfloat16"; a|b: either
    int result = -1;                      ///< the first one that differs; -1: any
    bool (*holds)(different_call const&); ///< a further condition; nullptr: none
    std::string_view reason;
};
[[nodiscard]] std::span<known_torch_difference const> known_torch_differences();

/// Those of linear algebra.
[[nodiscard]] std::span<known_torch_difference const> known_matrix_differences();

/// Those of special functions, losses, histograms and sampling.
[[nodiscard]] std::span<known_torch_difference const> known_function_differences();

/// The tensor that is passed as this argument; an empty handle if there is none.
[[nodiscard]] runtime::tensor argument_of(sample const& s, std::string_view name);
/// Complex numbers as pairs.
[[nodiscard]] runtime::tensor parts_of(runtime::tensor const& x);
/// All elements that are finite in both results are equal.
[[nodiscard]] bool differs_beside_no_number(different_call const& d);
/// Some complex operands are infinite or NaN, or their squares overflow.
[[nodiscard]] bool has_huge_numbers(different_call const& d);

/// "float32 distinct special"
[[nodiscard]] std::string words_of(sampling_profile const& t);

/// The index of the first known difference that applies to the call; -1 if there is none.
[[nodiscard]] std::ptrdiff_t find_known_torch_difference(different_call const& d);

} // namespace ATON_NAMESPACE::verify
