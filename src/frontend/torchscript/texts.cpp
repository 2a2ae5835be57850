// SPDX-License-Identifier: MIT
// The methods of strings.
#include <algorithm>
#include <cctype>

#include "interpreter.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string stripped(std::string_view text, std::string_view which, bool left, bool right) {
    auto const goes = [&](char c) { return which.empty() ? is_blank(c) : which.find(c) != std::string_view::npos; };
    while (left && !text.empty() && goes(text.front())) text.remove_prefix(1);
    while (right && !text.empty() && goes(text.back())) text.remove_suffix(1);
    return std::string(text);
}

/// Python's str.split() without a separator splits at runs of blanks.
std::vector<std::string> split(std::string_view text, std::string_view by) {
    std::vector<std::string> out;
    std::size_t at = 0;
    while (by.empty() && at <= text.size()) {
        while (at != text.size() && is_blank(text[at])) ++at;
        if (at == text.size()) return out;
        std::size_t const start = at;
        while (at != text.size() && !is_blank(text[at])) ++at;
        out.emplace_back(text.substr(start, at - start));
    }
    for (;;) {
        std::size_t const stop = text.find(by, at);
        out.emplace_back(text.substr(at, stop - at));
        if (stop == std::string_view::npos) return out;
        at = stop + by.size();
    }
}

} // namespace

std::optional<value> interpreter::call_on_text(std::string_view name, std::vector<value> const& x) {
    std::string const& text = x[0].text;
    spend(1 + text.size() / 16);
    auto const made = [&](std::string s) {
        if (s.size() > value::max_text) fail("makes a string of more than 65536 characters");
        return value::of(kind::text, std::move(s));
    };
    bool const same_kind = x.size() >= 2 && x[1].is == kind::text;
    std::string const other = same_kind ? x[1].text : std::string();
    auto const place = [](std::size_t at) {
        return value::of(at == std::string::npos ? std::int64_t{-1} : static_cast<std::int64_t>(at));
    };
    if (name == "len" && x.size() == 1) return value::of(static_cast<std::int64_t>(text.size()));
    if (name == "strip" || name == "lstrip" || name == "rstrip")
        return made(stripped(text, other, name != "rstrip", name != "lstrip"));
    if (name == "lower" || name == "upper") {
        std::string out = text;
        for (char& c : out)
            c = static_cast<char>(name == "lower" ? std::tolower(static_cast<unsigned char>(c))
                                                  : std::toupper(static_cast<unsigned char>(c)));
        return made(std::move(out));
    }
    if (name == "isdigit" && x.size() == 1)
        return value::of(!text.empty() &&
                         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }));
    if (name == "split" && (x.size() == 1 || same_kind || x[1].is == kind::none)) {
        if (same_kind && other.empty()) fail("splits a string at an empty separator");
        std::vector<value> parts;
        for (std::string& each : split(text, other)) {
            spend(4); // the parts stay until the end
            parts.push_back(made(std::move(each)));
        }
        return heap_.list(std::move(parts));
    }
    if (name == "join" && x.size() == 2 && x[1].is == kind::list) {
        std::string out;
        for (value const& each : x[1].list->items) {
            if (each.is != kind::text) fail("joins values that are not strings");
            if (&each != x[1].list->items.data()) out += text;
            out += each.text;
            if (out.size() > value::max_text) fail("makes a string of more than 65536 characters");
        }
        return made(std::move(out));
    }
    if (!same_kind) return {};
    // TorchScript may write the start and the end, which counts from the end of the string: -1 is all of it.
    auto const is_whole = [&] {
        return x.size() == 2 ||
               (x.size() <= 4 && x[2].is == kind::integer && x[2].integer == 0 &&
                (x.size() == 3 || (x[3].is == kind::integer &&
                                   (x[3].integer == -1 || x[3].integer >= static_cast<std::int64_t>(text.size())))));
    };
    if (name == "find" && is_whole()) return place(text.find(other));
    if (name == "rfind" && is_whole()) return place(text.rfind(other));
    if (name == "__contains__") return value::of(text.find(other) != std::string::npos);
    if (name == "startswith" && is_whole()) return value::of(text.starts_with(other));
    if (name == "endswith" && is_whole()) return value::of(text.ends_with(other));
    if (name == "lt" || name == "gt" || name == "le" || name == "ge")
        return value::of(name == "lt"   ? text < other
                         : name == "gt" ? text > other
                         : name == "le" ? text <= other
                                        : text >= other);
    if (name == "replace" && x.size() >= 3 && x[2].is == kind::text && !other.empty()) {
        std::string out;
        std::size_t at = 0;
        for (std::size_t next = text.find(other); next != std::string::npos; next = text.find(other, at)) {
            out += text.substr(at, next - at) + x[2].text;
            at = next + other.size();
            if (out.size() > value::max_text) fail("makes a string of more than 65536 characters");
        }
        return made(out + text.substr(at));
    }
    if (name == "add") return made(text + other);
    return {};
}

} // namespace ATON_NAMESPACE::torchscript
