// SPDX-License-Identifier: MIT
// The line of C++ that calls an operator, for messages, and the arguments that a call does not have. Sources compiled with
// ATON_WITHOUT_CALL_SITES, as those of the library, know no lines.
// Internal header.
#pragma once

#include <string>
#include <string_view>

#include <aton/core/fixed_string.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// A file and a line. Both constructors are explicit, so that no argument of a call is taken for one.
class call_site {
public:
    /// An unknown one.
    explicit constexpr call_site() = default;
    explicit constexpr call_site(char const* file, int line) : file_(file), line_(line) {}

#ifdef ATON_WITHOUT_CALL_SITES
    static constexpr call_site here() { return call_site(); }
#else
    /// As the default of a parameter: where the function is called. Not consteval: GCC 12 then gives the line of the parameter.
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

/// The type of an argument that a call does not have.
struct not_given {
    explicit not_given() = default;
};

} // namespace ATON_NAMESPACE::dsl::detail
