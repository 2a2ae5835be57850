// SPDX-License-Identifier: MIT
// The methods of strings.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "interpreter.hpp"

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

/// A string, or one that is not known, such as the text of a tensor: it may only be printed, raised or passed on.
value interpreter::made_text(std::optional<std::string> text) const {
    if (!text) return value::of(kind::open_text, std::size_t{0});
    if (text->size() > value::max_text) at_.fail("makes a string of more than 65536 characters");
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
        if (name == "add" || name == "join" || name == "percentFormat") return made_text({});
        at_.fail_undecidable("a string", x[0].is() == kind::open_text || x.size() < 2 ? x[0] : x[1]);
    }
    std::string const& text = *x[0].text();
    at_.spend(1 + text.size() / 16);
    if (name == "__getitem__" && x.size() == 2) return item_of(x[0], x[1]);
    if (name == "slice") {
        std::string out;
        for (std::size_t const i : sliced(x, text.size())) out += text[i];
        return made_text(std::move(out));
    }
    if (name == "percentFormat") return format_percent(text, {x.begin() + 1, x.end()});
    if (name != "join" || x.size() != 2 || x[1].is() != kind::list) return {};
    std::string out;
    for (value const& each : x[1].list()->items) {
        if (each.is() == kind::open_text) return made_text({});
        if (each.text() == nullptr) at_.fail("joins values that are not strings");
        if (&each != x[1].list()->items.data()) out += text;
        out += *each.text();
        if (out.size() > value::max_text) return made_text(out); // refused
    }
    return made_text(std::move(out));
}

/// "%d of %s" % (a, b)
value interpreter::format_percent(std::string const& pattern, std::vector<value> given) const {
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
        if (next == given.size()) at_.fail("a string has more places for values than there are values");
        value const& v = given[next++];
        std::optional<scalar> const number = v.number();
        char digits[400];
        if (form == 's') {
            std::optional<std::string> const text = text_of(v);
            if (!text) return made_text({});
            out += *text;
        } else if (v.known() == nullptr) {
            return made_text({});
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
            at_.fail("formats " + std::string(describe(v)) + " with '%" + form + "', which torch does not support");
        }
        if (out.size() > value::max_text) return made_text(out); // refused
    }
    if (next != given.size()) at_.fail("a string has fewer places for values than there are values");
    return made_text(std::move(out));
}

} // namespace ATON_NAMESPACE::torchscript
