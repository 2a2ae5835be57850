// SPDX-License-Identifier: MIT
// Writes JSON (RFC 8259): reports, lists for other programs, and single string literals.
// Internal header.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE {

namespace detail {

/// The number of bytes of the UTF-8 character at the start of a text that is not empty; 0: it is not UTF-8.
constexpr std::size_t utf8_length(std::string_view text) {
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    unsigned const first = byte(0);
    if (first < 0x80) return 1;
    std::size_t const length = first >= 0xC2 && first < 0xE0 ? 2 : first >= 0xE0 && first < 0xF0 ? 3 : 4;
    if (first < 0xC2 || first > 0xF4) return 0;
    for (std::size_t i = 1; i != length; ++i)
        if ((byte(i) & 0xC0U) != 0x80U) return 0;
    bool const is_too_long = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
    bool const is_no_character = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
    return is_too_long || is_no_character ? 0 : length;
}

} // namespace detail

/// The text as a JSON string, quoted and escaped. U+FFFD replaces each byte that is not part of UTF-8.
inline std::string json_text(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        char const c = text.front();
        auto const code = static_cast<unsigned char>(c);
        std::size_t const length = detail::utf8_length(text);
        if (c == '"' || c == '\\') (out += '\\') += c;
        else if (code < 0x20) ((out += "\\u00") += digits[code >> 4U]) += digits[code & 0xfU];
        else if (length == 0) out += "\xEF\xBF\xBD";
        else out += text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out + '"';
}

/// Writes values in their order in the text, and the commas between them. The caller closes what it opens.
class json_writer {
public:
    json_writer& begin_object() { return open('{'); }
    json_writer& end_object() { return close('}'); }
    json_writer& begin_array() { return open('['); }
    json_writer& end_array() { return close(']'); }

    /// The name of the next value of an object.
    json_writer& name(std::string_view name) {
        separate();
        (out_ += json_text(name)) += ": ";
        is_separated_ = true;
        return *this;
    }

    json_writer& null() { return literal("null"); }
    /// A value that is JSON already.
    json_writer& json(std::string_view value) { return literal(value); }
    json_writer& value(std::string_view text) { return literal(json_text(text)); }
    json_writer& value(std::same_as<bool> auto b) { return literal(b ? "true" : "false"); }
    json_writer& value(std::integral auto n)
        requires(!std::same_as<decltype(n), bool>)
    {
        return literal(std::to_string(n));
    }
    /// null for infinities and NaN, which JSON does not have. `digits`: how many are significant.
    json_writer& value(double number, int digits = 17) {
        if (!std::isfinite(number)) return null();
        char text[32];
        auto const end = std::to_chars(text, text + sizeof text, number, std::chars_format::general, digits).ptr;
        return literal({text, end});
    }

    template <class Value>
    json_writer& field(std::string_view name, Value const& v) {
        return this->name(name).value(v);
    }
    /// An array; `write` writes each element.
    template <class List, class Write>
    json_writer& array(List const& all, Write const& write) {
        begin_array();
        for (auto const& each : all) {
            separate();
            is_separated_ = true;
            write(each);
        }
        return end_array();
    }
    template <class List>
    json_writer& array(List const& all) {
        return array(all, [this](auto const& each) { this->value(each); });
    }

    /// Breaks the line before what is written next.
    json_writer& new_line(std::string_view indentation = {}) {
        std::string& to = is_separated_ ? out_ : line_break_;
        (to += '\n') += indentation;
        return *this;
    }

    [[nodiscard]] std::string const& text() const { return out_; }

private:
    json_writer& open(char bracket) {
        separate();
        out_ += bracket;
        is_first_ = true;
        return *this;
    }
    json_writer& close(char bracket) {
        (out_ += line_break_) += bracket;
        line_break_.clear();
        is_first_ = false;
        is_separated_ = false;
        return *this;
    }
    json_writer& literal(std::string_view text) {
        separate();
        out_ += text;
        return *this;
    }
    /// Writes the comma before a value that has others before it in its array or object.
    void separate() {
        if (!is_separated_) {
            if (!is_first_) out_ += line_break_.empty() ? ", " : ",";
            out_ += line_break_;
            line_break_.clear();
        }
        is_separated_ = false;
        is_first_ = false;
    }

    std::string out_;
    std::string line_break_;
    bool is_first_ = true;      ///< nothing in the innermost array or object
    bool is_separated_ = false; ///< the comma before the next value is written, or it has a name
};

} // namespace ATON_NAMESPACE
