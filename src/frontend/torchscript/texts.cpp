// SPDX-License-Identifier: MIT
#include "texts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace ATON_NAMESPACE::torchscript {

namespace {

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
    if (v.is_number_as_tensor() || v.is() == kind::complex) return {};
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

value made_text(code_position const& at, std::optional<std::string> text) {
    if (!text) return value::of(kind::open_text, std::size_t{0});
    if (text->size() > value::max_text) at.fail("makes a string of more than 65536 characters");
    return value::of(kind::text, *std::move(text));
}

value format(code_position const& at, std::vector<value> const& x) {
    if (x[0].text() == nullptr) return made_text(at, {});
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
        if (!text) return made_text(at, {});
        out += *text;
        if (out.size() > value::max_text) return made_text(at, out); // refused
    }
    return made_text(at, std::move(out));
}

value format_percent(code_position const& at, std::string const& pattern, std::vector<value> given) {
    if (given.size() == 1 && given[0].is() == kind::tuple) {
        std::vector<value> const items = given[0].list()->items;
        given = items;
    }
    std::string out;
    std::size_t next = 0;
    for (std::size_t i = 0; i != pattern.size(); ++i) {
        if (pattern[i] != '%') {
            out += pattern[i];
            continue;
        }
        char const form = ++i == pattern.size() ? '\0' : pattern[i];
        if (form == '%') {
            out += '%';
            continue;
        }
        if (next == given.size()) at.fail("a string has more places for values than there are values");
        value const& v = given[next++];
        std::optional<scalar> const number = v.number();
        char digits[400];
        if (form == 's') {
            std::optional<std::string> const text = text_of(v);
            if (!text) return made_text(at, {});
            out += *text;
        } else if (v.known() == nullptr) {
            return made_text(at, {});
        } else if (number && (form == 'd' || form == 'i') && std::abs(number->to<double>()) < 9e18) {
            out += std::to_string(number->to<std::int64_t>());
        } else if (number && (form == 'f' || form == 'F' || form == 'e' || form == 'E')) {
            char const* const as = form == 'e' ? "%e" : form == 'E' ? "%E" : "%f";
            std::snprintf(digits, sizeof digits, as, number->to<double>());
            out += digits;
        } else if (form == 'c' && (v.text() != nullptr || v.integer())) {
            if (v.text() != nullptr) out += *v.text();
            else out += static_cast<char>(*v.integer());
        } else {
            at.fail("formats " + std::string(describe(v)) + " with '%" + form + "', which torch does not support");
        }
        if (out.size() > value::max_text) return made_text(at, out); // refused
    }
    if (next != given.size()) at.fail("a string has fewer places for values than there are values");
    return made_text(at, std::move(out));
}

} // namespace ATON_NAMESPACE::torchscript
