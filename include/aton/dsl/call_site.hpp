// SPDX-License-Identifier: MIT
// The line of C++ that calls an operator, for messages; unknown in sources compiled with ATON_WITHOUT_CALL_SITES, as those of the library.
// Public header.
#pragma once

#include <string>
#include <string_view>

#include <aton/core/fixed_string.hpp>

namespace ATON_NAMESPACE::dsl {

/// A file and a line, for the message of a refused call. A helper that builds nodes for others takes the line of its caller and passes it on:
/// ```cpp
/// inline value halved(graph<13> g, value x, call_site at = call_site::here()) { return g.op<"Mul">(x, 0.5, at); }
/// ```
// Both constructors are explicit, so that no argument of a call is taken for one.
class call_site {
public:
    /// An unknown one.
    explicit constexpr call_site() = default;
    /// A line of a file, whose name must outlive it.
    explicit constexpr call_site(char const* file, int line) : file_(file), line_(line) {}

#ifdef ATON_WITHOUT_CALL_SITES
    /// An unknown one.
    static constexpr call_site here() { return call_site(); }
#else
    /// As the default of a parameter: where the function is called.
    // Not consteval: GCC 12 then gives the line of the parameter.
    static constexpr call_site here(char const* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return call_site(file, line);
    }
#endif

    /// "plugin.cpp:41", without the folders; empty if it is unknown.
    [[nodiscard]] std::string to_text() const {
        if (file_ == nullptr) return {};
        std::string_view const path = file_;
        return std::string(path.substr(path.find_last_of("/\\") + 1)) + ':' + std::to_string(line_);
    }

private:
    char const* file_ = nullptr;
    int line_ = 0;
};

namespace detail {

/// The type of an argument that a call does not have.
struct not_given {
    explicit not_given() = default;
};

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
