// SPDX-License-Identifier: MIT
// Checks whether a default in an operator declaration has the attribute's type: -1, 2.5e3, "text", ['a', 'b'].
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/onnx/schema.hpp>

namespace ATON_NAMESPACE::onnx::detail {

constexpr std::size_t digits(std::string_view text) {
    std::size_t n = 0;
    while (n != text.size() && text[n] >= '0' && text[n] <= '9') ++n;
    return n;
}

/// -12, within int64.
constexpr bool is_whole_number(std::string_view text) {
    bool const negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    std::string_view const max = negative ? "9223372036854775808" : "9223372036854775807";
    while (text.size() > 1 && text.starts_with('0')) text.remove_prefix(1);
    if (text.empty() || digits(text) != text.size()) return false;
    return text.size() < max.size() || (text.size() == max.size() && text <= max);
}

/// -12, 1.5, .5, 2e-3.
constexpr bool is_number(std::string_view text) {
    if (text.starts_with('-')) text.remove_prefix(1);
    std::size_t const before = digits(text);
    text.remove_prefix(before);
    std::size_t after = 0;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        after = digits(text);
        text.remove_prefix(after);
    }
    if (before + after == 0 || text.empty()) return before + after != 0;
    if (text[0] != 'e' && text[0] != 'E') return false;
    text.remove_prefix(1);
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    return !text.empty() && digits(text) == text.size();
}

/// The length of the quoted string at the start of a text; 0: it is missing or unterminated. A backslash escapes the next character.
constexpr std::size_t quoted(std::string_view text) {
    if (text.empty() || (text[0] != '"' && text[0] != '\'')) return 0;
    for (std::size_t i = 1; i < text.size(); ++i) {
        if (text[i] == text[0]) return i + 1;
        if (text[i] == '\\') ++i;
    }
    return 0;
}

/// Whether a number (in the form of is_number()) is below 2^128 - 2^103, the first that rounds to infinity in float32.
constexpr bool fits_float32(std::string_view text) {
    constexpr std::string_view limit = "340282356779733661637539395458142568448";
    if (text.starts_with('-')) text.remove_prefix(1);
    std::size_t const power_at = text.find_first_of("eE");
    std::int64_t power = 0;
    if (power_at != std::string_view::npos) {
        std::string_view written = text.substr(power_at + 1);
        bool const negative = written.starts_with('-');
        if (negative || written.starts_with('+')) written.remove_prefix(1);
        for (char c : written) power = power > 99'999 ? power : power * 10 + (c - '0');
        if (negative) power = -power;
        text = text.substr(0, power_at);
    }
    // Compares the digits, starting at the first nonzero one; `before` is how many of them are before the point.
    std::size_t const point = text.find('.');
    auto before = static_cast<std::int64_t>(point == std::string_view::npos ? text.size() : point) + power;
    bool started = false;
    std::size_t compared = 0;
    int order = 0; // of the digits, compared with those of the limit
    for (char c : text) {
        if (c == '.') continue;
        if (!started && c == '0') {
            --before;
            continue;
        }
        started = true;
        char const other = compared < limit.size() ? limit[compared++] : '0';
        if (order == 0) order = c < other ? -1 : c > other ? 1 : 0;
    }
    for (; order == 0 && compared < limit.size(); ++compared)
        if (limit[compared] != '0') order = -1;
    auto const limit_digits = static_cast<std::int64_t>(limit.size());
    return !started || before < limit_digits || (before == limit_digits && order < 0);
}

constexpr bool is_literal(std::string_view text, attr_type type) {
    if (type == attr_type::s) return !text.empty() && quoted(text) == text.size();
    return type == attr_type::i ? is_whole_number(text) : is_number(text) && fits_float32(text);
}

constexpr std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n' || text.front() == '\t'))
        text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// A list of literals: [], [1, 2].
constexpr bool is_list(std::string_view text, attr_type element) {
    if (text.size() < 2 || text.front() != '[' || text.back() != ']') return false;
    text = trimmed(text.substr(1, text.size() - 2));
    while (!text.empty()) {
        std::size_t end = quoted(text);
        while (end != text.size() && text[end] != ',') ++end;
        if (!is_literal(trimmed(text.substr(0, end)), element)) return false;
        if (end == text.size()) return true;
        text = trimmed(text.substr(end + 1));
        if (text.empty()) return false; // nothing after the comma
    }
    return true;
}

/// Whether an attribute of this type can have this default.
constexpr bool is_default(std::string_view text, attr_type type) {
    switch (type) {
    case attr_type::ints: return is_list(text, attr_type::i);
    case attr_type::floats: return is_list(text, attr_type::f);
    case attr_type::strings: return is_list(text, attr_type::s);
    default: return is_literal(text, type);
    }
}

} // namespace ATON_NAMESPACE::onnx::detail
