// SPDX-License-Identifier: MIT
// The methods of strings.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

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

/// As torch prints floats: "1." for 1.0, 17 digits for others.
std::string text_of_real(double x) {
    char digits[40];
    bool const is_whole = std::abs(x) < 1e10 && std::trunc(x) == x;
    if (std::isnan(x)) return "nan";
    std::snprintf(digits, sizeof digits, is_whole ? "%.0f." : "%.17g", x);
    return digits;
}

std::string text_of_items(std::vector<std::string> const& items, char open, char close) {
    std::string out(1, open);
    for (std::string const& each : items) (out += out.size() == 1 ? "" : ", ") += each;
    return out + close;
}

} // namespace

std::string text_of(constant const& c) {
    switch (c.is()) {
    case kind::none: return "None";
    case kind::boolean: return c.number() == scalar(true) ? "True" : "False";
    case kind::integer: return std::to_string(c.number().to<std::int64_t>());
    case kind::real: return text_of_real(c.number().to<double>());
    default: return c.text();
    }
}

std::optional<std::string> text_of(value const& v) {
    if (v.is_number_as_tensor()) return {};
    if (constant const* const c = v.known()) return text_of(*c);
    std::vector<std::string> items;
    auto const add = [&](value const& each) {
        std::optional<std::string> const text = text_of(each);
        if (text) items.push_back(*text);
        return text.has_value();
    };
    if (v.is() == kind::list || v.is() == kind::tuple) {
        bool const is_list = v.is() == kind::list;
        if (!std::all_of(v.list()->items.begin(), v.list()->items.end(), add)) return {};
        if (!is_list && items.size() == 1) items[0] += ',';
        return text_of_items(items, is_list ? '[' : '(', is_list ? ']' : ')');
    }
    if (v.is() != kind::dict) return {};
    for (auto const& [key, each] : v.dict()->items) {
        if (!add(each)) return {};
        items.back() = text_of(key) + ": " + items.back();
    }
    return text_of_items(items, '{', '}');
}

/// A string, or one that is not known, such as the text of a tensor: it may only be printed, raised or passed on.
value interpreter::made_text(std::optional<std::string> text) const {
    if (!text) return value::of(kind::open_text, std::size_t{0});
    if (text->size() > value::max_text) fail("makes a string of more than 65536 characters");
    return value::of(kind::text, *std::move(text));
}

/// torch.format("a {} b", x)
value interpreter::format(std::vector<value> const& x) const {
    if (x[0].text() == nullptr) return made_text({});
    std::string out;
    std::size_t next = 1;
    std::string const& pattern = *x[0].text();
    for (std::size_t i = 0; i != pattern.size(); ++i) {
        if (pattern.compare(i, 2, "{}") != 0 || next >= x.size()) {
            out += pattern[i];
            continue;
        }
        ++i;
        std::optional<std::string> const text = text_of(x[next++]);
        if (!text) return made_text({});
        out += *text;
        if (out.size() > value::max_text) return made_text(out); // refused
    }
    return made_text(std::move(out));
}

std::optional<value> interpreter::call_on_text(std::string_view name, std::vector<value> const& x) {
    if (std::any_of(x.begin(), x.end(), [](value const& v) { return v.is() == kind::open_text; })) {
        if (name == "add") return made_text({});
        fail_undecidable("a string", x[0]);
    }
    std::string const& text = *x[0].text();
    spend(1 + text.size() / 16);
    auto const made = [&](std::string s) { return made_text(std::move(s)); };
    bool const same_kind = x.size() >= 2 && x[1].text() != nullptr;
    std::string const other = same_kind ? *x[1].text() : std::string();
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
    if (name == "split" && (x.size() == 1 || same_kind || x[1].is() == kind::none)) {
        if (same_kind && other.empty()) fail("splits a string at an empty separator");
        std::vector<value> parts;
        for (std::string& each : split(text, other)) {
            spend(4); // the parts stay until the end
            parts.push_back(made(std::move(each)));
        }
        return heap_.list(std::move(parts));
    }
    if (name == "join" && x.size() == 2 && x[1].is() == kind::list) {
        std::string out;
        for (value const& each : x[1].list()->items) {
            if (each.is() == kind::open_text) return made_text({});
            if (each.text() == nullptr) fail("joins values that are not strings");
            if (&each != x[1].list()->items.data()) out += text;
            out += *each.text();
            if (out.size() > value::max_text) fail("makes a string of more than 65536 characters");
        }
        return made(std::move(out));
    }
    if (!same_kind) return {};
    // TorchScript may write the start and the end, which counts from the end of the string: -1 is all of it.
    auto const is_whole = [&] {
        if (x.size() == 2) return true;
        if (x.size() > 4 || x[2].integer() != 0) return false;
        std::optional<std::int64_t> const end = x.size() == 4 ? x[3].integer() : -1;
        return end && (*end == -1 || *end >= static_cast<std::int64_t>(text.size()));
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
    if (name == "replace" && x.size() >= 3 && x[2].text() != nullptr && !other.empty()) {
        std::string out;
        std::size_t at = 0;
        for (std::size_t next = text.find(other); next != std::string::npos; next = text.find(other, at)) {
            out += text.substr(at, next - at) + *x[2].text();
            at = next + other.size();
            if (out.size() > value::max_text) fail("makes a string of more than 65536 characters");
        }
        return made(out + text.substr(at));
    }
    if (name == "add") return made(text + other);
    return {};
}

} // namespace ATON_NAMESPACE::torchscript
