// SPDX-License-Identifier: MIT
// Strings as template arguments: operator names, signatures, attribute names, diagnostics.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

/// A string literal as a template argument (`g.op<"Elu">`). Structural; compares by content.
template <std::size_t N>
struct fixed_string {
    char data[N + 1]{};

    constexpr fixed_string() = default;
    /// From a string literal; `N` is deduced.
    // NOLINTNEXTLINE(google-explicit-constructor): a literal is the template argument.
    constexpr fixed_string(char const (&literal)[N + 1]) {
        for (std::size_t i = 0; i <= N; ++i) data[i] = literal[i];
    }
    /// From the first `N` characters of `text`, which must have as many.
    constexpr explicit fixed_string(std::string_view text) {
        for (std::size_t i = 0; i != N; ++i) data[i] = text[i];
        data[N] = '\0'; // assigned explicitly: Clang prints an array as a string only if its terminator was assigned
    }

    /// The characters, without the terminating zero.
    // NOLINTNEXTLINE(bugprone-string-constructor): N may be 0.
    [[nodiscard]] constexpr std::string_view view() const { return {data, N}; }
    /// The number of characters, `N`.
    [[nodiscard]] static constexpr std::size_t size() { return N; }
    friend constexpr bool operator==(fixed_string const&, fixed_string const&) = default;
};

template <std::size_t N>
fixed_string(char const (&)[N]) -> fixed_string<N - 1>;

/// FNV-1a. Compile-time look-ups compare hashes before they compare strings.
constexpr std::uint64_t hash_of(std::string_view text) {
    std::uint64_t h = 14695981039346656037ULL;
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    return h;
}

/// A filter for duplicates: add() returns false only if the hash is new, so that most elements need no comparison with all earlier ones.
class seen_hashes {
public:
    /// Adds a hash. Returns whether it may have been added before; false is certain.
    constexpr bool add(std::uint64_t hash) {
        bool& seen = seen_[hash % size];
        bool const before = seen;
        seen = true;
        return before;
    }

private:
    static constexpr std::size_t size = 1021;
    bool seen_[size]{};
};

} // namespace ATON_NAMESPACE
