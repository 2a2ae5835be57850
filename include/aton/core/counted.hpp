// SPDX-License-Identifier: MIT
// Numbers of things in messages: "1 weight", "3 weights".
// Internal header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// "3 weights" of 3 and "weight".
[[nodiscard]] inline std::string counted(std::size_t n, std::string_view what) {
    return std::to_string(n) + ' ' + std::string(what) + (n == 1 ? "" : "s");
}

} // namespace ATON_NAMESPACE
