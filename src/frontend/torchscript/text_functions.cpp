// SPDX-License-Identifier: MIT
#include "text_functions.hpp"

#include <algorithm>

namespace ATON_NAMESPACE::torchscript::texts {

namespace {

constexpr bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(char c) { return is_lower(c) || is_upper(c); }
constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char to_lower(char c) { return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c; }
constexpr char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - ('a' - 'A')) : c; }

template <class Function>
std::string each_character(std::string_view text, Function change) {
    std::string out(text);
    for (char& c : out) c = change(c);
    return out;
}

template <class Predicate>
bool are_all(std::string_view text, Predicate holds) {
    return !text.empty() && std::all_of(text.begin(), text.end(), holds);
}

/// Words start with an upper-case letter, and have no other one.
bool is_title(std::string_view text) {
    bool any = false;
    bool in_word = false;
    for (char const c : text) {
        if (is_letter(c) && is_upper(c) == in_word) return false;
        in_word = is_letter(c);
        any = any || in_word;
    }
    return any;
}

} // namespace

std::string lower(std::string_view text) { return each_character(text, to_lower); }
std::string upper(std::string_view text) { return each_character(text, to_upper); }
std::string swapcase(std::string_view text) {
    return each_character(text, [](char c) { return is_lower(c) ? to_upper(c) : to_lower(c); });
}
std::string capitalize(std::string_view text) {
    std::string out = lower(text);
    if (!out.empty()) out[0] = to_upper(out[0]);
    return out;
}
std::string title(std::string_view text) {
    bool in_word = false;
    return each_character(text, [&](char c) {
        char const changed = in_word ? to_lower(c) : to_upper(c);
        in_word = is_letter(c);
        return changed;
    });
}

std::optional<bool> is_all(std::string_view name, std::string_view text) {
    if (name == "isdigit" || name == "isdecimal" || name == "isnumeric") return are_all(text, is_digit);
    if (name == "isalpha") return are_all(text, is_letter);
    if (name == "isalnum") return are_all(text, [](char c) { return is_letter(c) || is_digit(c); });
    if (name == "isspace") return are_all(text, is_blank);
    if (name == "islower")
        return std::any_of(text.begin(), text.end(), is_lower) && std::none_of(text.begin(), text.end(), is_upper);
    if (name == "isupper")
        return std::any_of(text.begin(), text.end(), is_upper) && std::none_of(text.begin(), text.end(), is_lower);
    if (name == "istitle") return is_title(text);
    if (name == "isprintable")
        return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (name == "isidentifier") // in contrast to Python's, without underscores
        return are_all(text, [](char c) { return is_letter(c) || is_digit(c); }) && !is_digit(text[0]);
    return {};
}

std::string strip(std::string_view text, std::string_view characters, bool left, bool right) {
    auto const goes = [&](char c) { return characters.find(c) != std::string_view::npos; };
    while (left && !text.empty() && goes(text.front())) text.remove_prefix(1);
    while (right && !text.empty() && goes(text.back())) text.remove_suffix(1);
    return std::string(text);
}

std::vector<std::string> split_at_blanks(std::string_view text) {
    std::vector<std::string> out;
    for (;;) {
        while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
        if (text.empty()) return out;
        out.emplace_back(text.begin(), std::find_if(text.begin(), text.end(), is_blank));
        text.remove_prefix(out.back().size());
    }
}

std::vector<std::string> split(std::string_view text, std::string_view separator, std::int64_t most) {
    std::vector<std::string> out;
    for (std::int64_t splits = 0;; ++splits) {
        std::size_t const stop = splits == most ? std::string_view::npos : text.find(separator);
        out.emplace_back(text.substr(0, stop));
        if (stop == std::string_view::npos) return out;
        text.remove_prefix(stop + separator.size());
    }
}

std::vector<std::string> rsplit(std::string_view text, std::string_view separator, std::int64_t most) {
    std::vector<std::string> out;
    for (std::int64_t splits = 0;; ++splits) {
        std::size_t const stop = splits == most ? std::string_view::npos : text.rfind(separator);
        if (stop == std::string_view::npos) break;
        out.emplace_back(text.substr(stop + separator.size()));
        text = text.substr(0, stop);
    }
    out.emplace_back(text);
    std::reverse(out.begin(), out.end());
    return out;
}

std::vector<std::string> splitlines(std::string_view text, bool keeps_ends) {
    std::vector<std::string> out;
    while (!text.empty()) {
        std::size_t const stop = text.find_first_of("\n\r\v\f\x1c\x1d\x1e");
        out.emplace_back(text.substr(0, stop));
        if (stop == std::string_view::npos) return out;
        if (keeps_ends) out.emplace_back(1, text[stop]);
        text.remove_prefix(stop + 1);
    }
    return out;
}

std::array<std::string, 3> partition(std::string_view text, std::string_view separator) {
    std::size_t const at = text.find(separator);
    if (at == std::string_view::npos) return {std::string(text), "", ""};
    return {std::string(text.substr(0, at)), std::string(separator), std::string(text.substr(at + separator.size()))};
}
std::array<std::string, 3> rpartition(std::string_view text, std::string_view separator) {
    std::size_t const at = text.rfind(separator);
    if (at == std::string_view::npos) return {"", "", std::string(text)};
    return {std::string(text.substr(0, at)), std::string(separator), std::string(text.substr(at + separator.size()))};
}

namespace {

struct part {
    std::string_view text;
    std::size_t start;
};

/// The part of a text, if it does not start behind the end of the text. A part that ends before it starts is empty in a search, and reaches to
/// the end of the text in a comparison.
std::optional<part> part_of(std::string_view text, range in, bool searches) {
    auto const size = static_cast<std::int64_t>(text.size());
    std::int64_t const start = std::max<std::int64_t>(in.start < 0 ? in.start + size : in.start, 0);
    std::int64_t const end = std::max<std::int64_t>(in.end < 0 ? in.end + size + 1 : in.end, 0);
    if (searches && end <= start) return part{{}, static_cast<std::size_t>(start)};
    if (start > size) return {};
    std::size_t const length = end < start ? std::string_view::npos : static_cast<std::size_t>(end - start);
    return part{text.substr(static_cast<std::size_t>(start), length), static_cast<std::size_t>(start)};
}

std::int64_t place(std::size_t at, std::size_t start) {
    return at == std::string_view::npos ? -1 : static_cast<std::int64_t>(at + start);
}

} // namespace

std::optional<std::int64_t> find(std::string_view text, std::string_view wanted, range in) {
    std::optional<part> const inside = part_of(text, in, true);
    return inside ? std::optional(place(inside->text.find(wanted), inside->start)) : std::nullopt;
}
std::optional<std::int64_t> rfind(std::string_view text, std::string_view wanted, range in) {
    std::optional<part> const inside = part_of(text, in, true);
    return inside ? std::optional(place(inside->text.rfind(wanted), inside->start)) : std::nullopt;
}
std::int64_t count(std::string_view text, std::string_view wanted, range in) {
    std::optional<part> inside = part_of(text, in, true);
    if (!inside) return 0;
    std::int64_t out = 0;
    for (std::size_t at = 0; (at = inside->text.find(wanted)) != std::string_view::npos; ++out)
        inside->text.remove_prefix(at + wanted.size());
    return out;
}
std::optional<bool> starts_with(std::string_view text, std::string_view wanted, range in) {
    std::optional<part> const inside = part_of(text, in, false);
    return inside ? std::optional(inside->text.starts_with(wanted)) : std::nullopt;
}
std::optional<bool> ends_with(std::string_view text, std::string_view wanted, range in) {
    std::optional<part> const inside = part_of(text, in, false);
    return inside ? std::optional(inside->text.ends_with(wanted)) : std::nullopt;
}

std::string replace(std::string_view text, std::string_view old, std::string_view by, std::int64_t most) {
    std::string out;
    for (std::int64_t done = 0; done != most; ++done) {
        std::size_t const at = text.find(old);
        if (at == std::string_view::npos) break;
        out += text.substr(0, at);
        out += by;
        text.remove_prefix(at + old.size());
    }
    return out += text;
}

std::string expandtabs(std::string_view text, std::int64_t size) {
    std::string out;
    std::size_t column = 0;
    for (char const c : text) {
        if (c != '\t') {
            out += c;
            ++column; // also after the end of a line
        } else if (size > 0) {
            std::size_t const blanks = static_cast<std::size_t>(size) - column % static_cast<std::size_t>(size);
            out.append(blanks, ' ');
            column += blanks;
        }
    }
    return out;
}

std::string pad(std::string_view text, std::int64_t width, char fill, bool left, bool right) {
    auto const size = static_cast<std::int64_t>(text.size());
    auto const missing = static_cast<std::size_t>(std::max<std::int64_t>(width - size, 0));
    std::size_t const both = missing / 2 + (missing & static_cast<std::size_t>(width) & 1U);
    std::size_t const before = left && right ? both : left ? missing : 0;
    std::string out(before, fill);
    out += text;
    return out.append(missing - before, fill);
}

std::string in_base(std::int64_t number, unsigned base, std::string_view prefix) {
    auto rest = static_cast<std::uint64_t>(number);
    if (number < 0) rest = 0 - rest;
    std::string digits;
    do {
        digits += "0123456789abcdef"[rest % base];
        rest /= base;
    } while (rest != 0);
    digits.append(prefix.rbegin(), prefix.rend());
    if (number < 0) digits += '-';
    return {digits.rbegin(), digits.rend()};
}

} // namespace ATON_NAMESPACE::torchscript::texts
