// SPDX-License-Identifier: MIT
// The tokens of schema text: names, punctuation and default values, in few constexpr steps.
// Internal header.
#pragma once

#include <cstddef>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::aten::detail {

/// operator== of std::string_view in fewer constexpr steps: most names differ in length.
constexpr bool same(std::string_view a, std::string_view b) {
    std::size_t const size = a.size();
    if (size != b.size()) return false;
    char const* const x = a.data();
    char const* const y = b.data();
    for (std::size_t i = 0; i != size; ++i)
        if (x[i] != y[i]) return false;
    return true;
}

/// The classes of a character, in a table: one constexpr step instead of a chain of comparisons.
enum char_class : unsigned char { name_start = 1, name_char = 2, digit = 4, space = 8, structure = 16 };

struct char_classes {
    unsigned char of[256]{};

    constexpr void add(std::string_view characters, unsigned classes) {
        for (char c : characters) of[static_cast<unsigned char>(c)] |= static_cast<unsigned char>(classes);
    }
    constexpr char_classes() {
        add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", name_start | name_char);
        add("0123456789", digit | name_char);
        add(" \t\r\n", space);
        add("()[]\"',=", structure);
    }
};

inline constexpr char_classes classes{};

constexpr bool is(char c, unsigned wanted) { return (classes.of[static_cast<unsigned char>(c)] & wanted) != 0; }
constexpr bool is_digit(char c) { return is(c, digit); }
constexpr bool is_name_start(char c) { return is(c, name_start); }
constexpr bool is_name_char(char c) { return is(c, name_char); }
constexpr std::string_view between(char const* first, char const* last) {
    return {first, static_cast<std::size_t>(last - first)};
}

/// Reads schema text from left to right. All functions return false after an error; error() is the first one.
class scanner {
public:
    static constexpr int max_nesting = 16;

    constexpr explicit scanner(std::string_view text) : first_(text.data()), at_(first_), last_(first_ + text.size()) {}

    [[nodiscard]] constexpr bool ok() const { return error_.empty(); }
    [[nodiscard]] constexpr std::string_view error() const { return error_; }
    [[nodiscard]] constexpr std::size_t offset() const { return static_cast<std::size_t>(at_ - first_); }
    [[nodiscard]] constexpr char const* at() const { return at_; }
    /// Returns to an earlier at().
    constexpr void back_to(char const* earlier) { at_ = earlier; }
    constexpr void skip() { ++at_; }
    [[nodiscard]] constexpr bool at_end() const { return at_ == last_; }
    /// The next character; '\0' at the end.
    [[nodiscard]] constexpr char peek() const { return at_ == last_ ? '\0' : *at_; }

    constexpr bool fail(std::string_view what) {
        if (error_.empty()) error_ = what;
        return false;
    }
    /// Skips whitespace and returns the next character without consuming it; '\0' at the end.
    constexpr char next() {
        while (at_ != last_ && is(*at_, space)) ++at_;
        return at_ == last_ ? '\0' : *at_;
    }
    constexpr bool take(char c) {
        if (next() != c) return false;
        ++at_;
        return true;
    }
    constexpr bool take(std::string_view token) {
        if (next() != token.front()) return false;
        if (static_cast<std::size_t>(last_ - at_) < token.size() || !same(between(at_, at_ + token.size()), token))
            return false;
        at_ += token.size();
        return true;
    }
    constexpr bool name(std::string_view& out, std::string_view otherwise) {
        if (!is_name_start(next())) return fail(otherwise);
        char const* stop = at_ + 1;
        while (stop != last_ && (classes.of[static_cast<unsigned char>(*stop)] & name_char) != 0) ++stop;
        out = between(at_, stop);
        at_ = stop;
        return true;
    }

    /// A default value: None, True, -1, 0.5, 1.j, "text", [0, 1], contiguous_format.
    constexpr bool literal(std::string_view& out, int depth = 0);

private:
    constexpr bool string_literal();
    constexpr bool number_literal();

    char const* first_;
    char const* at_;
    char const* last_;
    std::string_view error_{};
};

constexpr bool scanner::literal(std::string_view& out, int depth) {
    constexpr std::string_view expected = "expected a default value";
    if (depth > max_nesting) return fail("default values are nested too deeply");
    char const c = next();
    char const* const start = at_;
    if (c == '"' || c == '\'') {
        if (!string_literal()) return false;
    } else if (c == '[') {
        ++at_;
        if (!take(']')) {
            do {
                std::string_view element;
                if (!literal(element, depth + 1)) return false;
            } while (take(','));
            if (!take(']')) return fail("expected ',' or ']' in a default value");
        }
    } else if (is_name_start(c)) {
        std::string_view word;
        if (!name(word, expected)) return false;
        if (peek() == ':') { // Device d=cuda:0
            ++at_;
            if (!is_digit(peek())) return fail("expected a device index after ':'");
            while (is_digit(peek())) ++at_;
        }
    } else if (c == '-' || c == '.' || is_digit(c)) {
        if (!number_literal()) return false;
    } else {
        return fail(expected);
    }
    out = between(start, at_);
    return true;
}

constexpr bool scanner::string_literal() {
    char const quote = *at_++;
    for (; at_ != last_ && *at_ != quote; ++at_) {
        if (*at_ == '\n') return fail("line break inside a string");
        if (*at_ != '\\') continue;
        if (++at_ == last_) break;
    }
    if (at_ == last_) return fail("unterminated string");
    ++at_;
    return true;
}

constexpr bool scanner::number_literal() {
    constexpr std::string_view malformed = "malformed number";
    auto const digits = [this] {
        char const* const start = at_;
        while (is_digit(peek())) ++at_;
        return at_ != start;
    };
    auto const real = [&] {
        std::string_view word;
        if (peek() == 'i' || peek() == 'n') return name(word, malformed) && (same(word, "inf") || same(word, "nan"));
        bool some = digits();
        if (peek() == '.') {
            ++at_;
            some = digits() || some;
        }
        if (!some) return false;
        if (peek() != 'e' && peek() != 'E') return true;
        ++at_;
        if (peek() == '+' || peek() == '-') ++at_;
        return digits();
    };
    if (peek() == '-') ++at_;
    next(); // "- 1" is -1
    if (!real()) return fail(malformed);
    if (peek() == '+' || peek() == '-') { // 0.+1.j
        ++at_;
        if (!real() || peek() != 'j') return fail(malformed);
    }
    if (peek() == 'j') ++at_;
    return !is_name_char(peek()) || fail(malformed);
}

} // namespace ATON_NAMESPACE::aten::detail
