// SPDX-License-Identifier: MIT
// What a call that is refused says.
#pragma once

#include <string>
#include <string_view>

#include <aton/core/error.hpp>

namespace aton::tests {

/// The text of the aton::error that `call` throws.
template <class Call>
std::string fault_of(Call const& call) {
    try {
        (void)call();
    } catch (error const& e) {
        return e.what();
    }
    return "nothing was thrown";
}

/// The text of the aton::unsupported_error that `call` throws.
template <class Call>
std::string refusal_of(Call const& call) {
    try {
        (void)call();
    } catch (unsupported_error const& e) {
        return e.what();
    }
    return "accepted";
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

} // namespace aton::tests
