// SPDX-License-Identifier: MIT
// Reads the names of symbolic sizes that are sums, as the exporter writes them: "batch + 1", "2*s0 - s1".
#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::passes {

/// `factor * symbol`, or the number `factor`.
struct size_term {
    std::int64_t factor = 0;
    std::string_view symbol; ///< empty for a number
};

/// The terms of a sum; none if the name is not one.
[[nodiscard]] inline std::vector<size_term> terms_of_size(std::string_view name) {
    std::vector<size_term> out;
    std::int64_t sign = 1;
    if (name.starts_with('-')) {
        sign = -1;
        name.remove_prefix(1);
    }
    for (;;) {
        std::string_view const term = name.substr(0, name.find(' '));
        std::int64_t factor = 1;
        char const* const begin = term.data();
        char const* const end = begin + term.size();
        std::from_chars_result const number = std::from_chars(begin, end, factor);
        bool const has_factor = number.ec == std::errc() && *begin != '-';
        bool const is_number = has_factor && number.ptr == end;
        if (!is_number && has_factor && *number.ptr != '*') return {};
        if (!has_factor) factor = 1;
        std::string_view symbol = is_number ? std::string_view() : term;
        if (has_factor && !is_number) symbol.remove_prefix(static_cast<std::size_t>(number.ptr - begin) + 1);
        if ((!is_number && symbol.empty()) || symbol.find_first_of("()*/%+-") != std::string_view::npos) return {};
        out.push_back({sign * factor, symbol});
        name.remove_prefix(term.size());
        if (name.empty()) return out;
        if (name.size() < 4 || name[2] != ' ' || (name[1] != '+' && name[1] != '-')) return {};
        sign = name[1] == '+' ? 1 : -1;
        name.remove_prefix(3);
    }
}

} // namespace ATON_NAMESPACE::passes
