// SPDX-License-Identifier: MIT
// Checks of fuzz targets that are not crashes: they trap, so that libFuzzer keeps the input.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/core/error.hpp>

namespace aton::tests {

inline void require(bool condition) {
    if (!condition) __builtin_trap();
}

/// Runs `what`; an aton::error with one readable line is allowed, any other exception is a finding.
template <class Function>
void expect_answer(Function&& what) {
    try {
        what();
    } catch (error const& e) {
        std::string_view const line = e.what();
        require(!line.empty() && line.size() < 2000);
        require(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 127; }));
    }
}

inline std::string_view text_of(std::uint8_t const* data, std::size_t size) {
    return {reinterpret_cast<char const*>(data), size};
}

} // namespace aton::tests
