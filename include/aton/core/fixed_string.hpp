// SPDX-License-Identifier: MIT
// Text that can be a template argument: op names, signatures, attribute names, diagnoses.
#pragma once

#include <cstddef>
#include <string_view>

namespace aton {

/// A string literal as a template argument (`g.op<"Elu">`). Structural; compares by content.
template <std::size_t N>
struct fixed_string {
    char data[N + 1]{};

    constexpr fixed_string() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is written where a template argument is asked for.
    constexpr fixed_string(char const (&literal)[N + 1]) {
        for (std::size_t i = 0; i <= N; ++i) data[i] = literal[i];
    }
    constexpr explicit fixed_string(std::string_view text) {
        for (std::size_t i = 0; i != N; ++i) data[i] = text[i];
        data[N] = '\0'; // written, not defaulted: Clang prints only arrays with a written end as text
    }

    [[nodiscard]] constexpr std::string_view view() const { return {data, N}; }
    [[nodiscard]] static constexpr std::size_t size() { return N; }
    friend constexpr bool operator==(fixed_string const&, fixed_string const&) = default;
};

template <std::size_t N>
fixed_string(char const (&)[N]) -> fixed_string<N - 1>;

} // namespace aton
