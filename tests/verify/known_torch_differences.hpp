// SPDX-License-Identifier: MIT
// Calls that the runtime computes otherwise than torch, each kind with its reason.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <aton/runtime/tensor.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// A call that gives other numbers, up to the first result that does.
struct different_call {
    sample const& call;
    theme const& of;
    std::size_t result = 0;
    runtime::tensor got;
    runtime::tensor expected;
};

struct known_torch_difference {
    std::string_view operators; ///< as in sampling_rule
    std::string_view where;     ///< words that describe the theme, all of them: "special bfloat16"; a|b: either
    int result = -1;            ///< the first one that differs; any: -1
    bool (*holds)(different_call const&); ///< what else must be so; nullptr: nothing
    std::string_view reason;
};
[[nodiscard]] std::span<known_torch_difference const> known_torch_differences();

/// "float32 distinct special"
[[nodiscard]] std::string words_of(theme const& t);

/// The number of the first one that is about the call; -1: none is.
[[nodiscard]] std::ptrdiff_t find_known_torch_difference(different_call const& d);

} // namespace ATON_NAMESPACE::verify
