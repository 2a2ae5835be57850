// SPDX-License-Identifier: MIT
// Names and numbers, which size expressions and guards have in common.
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::pt2 {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

struct number_text {
    std::string_view digits;
    bool is_real = false; ///< with a point or an exponent
};

/// The longest prefix of text.substr(start) that looks like an unsigned number.
inline number_text number_at(std::string_view text, std::size_t start) {
    std::size_t stop = start;
    bool real = false;
    for (; stop != text.size(); ++stop) {
        char const c = text[stop];
        bool const exponent_sign = (c == '-' || c == '+') && (text[stop - 1] == 'e' || text[stop - 1] == 'E');
        if (is_digit(c)) continue;
        if (c != '.' && c != 'e' && c != 'E' && !(real && exponent_sign)) break;
        real = true;
    }
    return {text.substr(start, stop - start), real};
}

} // namespace ATON_NAMESPACE::pt2
