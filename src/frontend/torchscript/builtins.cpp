// SPDX-License-Identifier: MIT
#include "builtins.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::torchscript {

namespace {

bool is_kind(constant const& c, std::string_view wanted) {
    kind const is = c.is();
    bool const is_integer = is == kind::integer || is == kind::boolean;
    if (wanted == "str") return is == kind::text;
    if (wanted == "int") return is_integer;
    if (wanted == "bool") return is == kind::boolean;
    if (wanted == "float") return is_integer || is == kind::real;
    return wanted == "complex" && c.is_number();
}

/// Whether the arguments are those of `takes`.
bool fits(std::string_view takes, std::span<constant const> arguments) {
    std::size_t i = 0;
    while (!takes.empty()) {
        std::size_t const stop = std::min(takes.find(' '), takes.size());
        std::string_view each = takes.substr(0, stop);
        takes.remove_prefix(std::min(stop + 1, takes.size()));
        bool const is_optional = each.ends_with('?');
        if (is_optional) each.remove_suffix(1);
        if (i == arguments.size()) return is_optional;
        if (!is_kind(arguments[i], each) && !(is_optional && arguments[i].is() == kind::none)) return false;
        ++i;
    }
    return i == arguments.size();
}

} // namespace

builtin const* find_builtin(std::string_view name, std::span<constant const> arguments) {
    bool const any_complex =
        std::any_of(arguments.begin(), arguments.end(), [](constant const& c) { return c.is() == kind::complex; });
    bool const any_text =
        std::any_of(arguments.begin(), arguments.end(), [](constant const& c) { return c.is() == kind::text; });
    for (builtin const& each : any_complex ? complex_builtins() : any_text ? text_builtins() : number_builtins())
        if (each.name == name && fits(each.takes, arguments)) return &each;
    return nullptr;
}

} // namespace ATON_NAMESPACE::torchscript
