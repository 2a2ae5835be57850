// SPDX-License-Identifier: MIT
// Methods of strings, and functions that make or read strings.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "builtins.hpp"
#include "text_functions.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

using arguments = builtin_arguments;
using result = builtin_result;

constexpr std::string_view blanks = " \n\t\f\v";
constexpr std::string_view not_there = "the string does not contain the other one";
constexpr std::string_view out_of_range = "the part of the string starts behind its end";

template <class Texts>
result many(Texts&& texts, result::shape shape) {
    result out{shape, {}};
    for (std::string& each : texts) out.items.emplace_back(kind::text, std::move(each));
    return out;
}
result list_of(std::vector<std::string> texts) { return many(texts, result::shape::list); }
result tuple_of(std::array<std::string, 3> texts) { return many(texts, result::shape::tuple); }

texts::range range_in(arguments const& x) { return {x.integer(2, 0), x.integer(3, -1)}; }

result place(std::optional<std::int64_t> at, bool must_be_there) {
    if (!at) return result::refused(out_of_range);
    return must_be_there && *at < 0 ? result::refused(not_there) : result::of(scalar(*at));
}
result answer(std::optional<bool> holds) { return holds ? result::of(scalar(*holds)) : result::refused(out_of_range); }

result padded(arguments const& x, std::string_view fill, bool left, bool right) {
    if (fill.size() != 1) return result::refused("a string is padded with more or less than one character");
    if (x.integer(1) > static_cast<std::int64_t>(value::max_text))
        return result::refused("makes a string of more than 65536 characters");
    return result::of(texts::pad(x.text(0), x.integer(1), fill[0], left, right));
}

/// A string is split, or counted, at a string that is not empty: torch does not end otherwise.
result separated(arguments const& x, std::string_view by, result (*run)(arguments const&, std::string_view)) {
    return by.empty() ? result::refused("an empty string separates nothing") : run(x, by);
}

#define ATON_TEXT_TEST(name) {name, "str", [](arguments const& x) { return answer(texts::is_all(name, x.text(0))); }}

constexpr builtin text_rows[] = {
    {"len", "str", [](arguments const& x) { return result::of(scalar(static_cast<std::int64_t>(x.text(0).size()))); }},
    {"lower", "str", [](arguments const& x) { return result::of(texts::lower(x.text(0))); }},
    {"upper", "str", [](arguments const& x) { return result::of(texts::upper(x.text(0))); }},
    {"swapcase", "str", [](arguments const& x) { return result::of(texts::swapcase(x.text(0))); }},
    {"capitalize", "str", [](arguments const& x) { return result::of(texts::capitalize(x.text(0))); }},
    {"title", "str", [](arguments const& x) { return result::of(texts::title(x.text(0))); }},
    ATON_TEXT_TEST("isdigit"),
    ATON_TEXT_TEST("isdecimal"),
    ATON_TEXT_TEST("isnumeric"),
    ATON_TEXT_TEST("isalpha"),
    ATON_TEXT_TEST("isalnum"),
    ATON_TEXT_TEST("isspace"),
    ATON_TEXT_TEST("islower"),
    ATON_TEXT_TEST("isupper"),
    ATON_TEXT_TEST("istitle"),
    ATON_TEXT_TEST("isprintable"),
    ATON_TEXT_TEST("isidentifier"),
    {"strip",
     "str str?",
     [](arguments const& x) { return result::of(texts::strip(x.text(0), x.text(1, blanks), true, true)); }},
    {"lstrip",
     "str str?",
     [](arguments const& x) { return result::of(texts::strip(x.text(0), x.text(1, blanks), true, false)); }},
    {"rstrip",
     "str str?",
     [](arguments const& x) { return result::of(texts::strip(x.text(0), x.text(1, blanks), false, true)); }},
    {"split",
     "str str? int?",
     [](arguments const& x) {
         if (!x.has(1)) return list_of(texts::split_at_blanks(x.text(0)));
         return separated(x, x.text(1), [](arguments const& y, std::string_view by) {
             return list_of(texts::split(y.text(0), by, y.integer(2, -1)));
         });
     }},
    {"rsplit",
     "str str? int?",
     [](arguments const& x) {
         return separated(x, x.text(1, " "), [](arguments const& y, std::string_view by) {
             return list_of(texts::rsplit(y.text(0), by, y.integer(2, -1)));
         });
     }},
    {"splitlines",
     "str bool?",
     [](arguments const& x) { return list_of(texts::splitlines(x.text(0), x.integer(1, 0) != 0)); }},
    {"partition",
     "str str",
     [](arguments const& x) {
         return separated(x, x.text(1), [](arguments const& y, std::string_view by) {
             return tuple_of(texts::partition(y.text(0), by));
         });
     }},
    {"rpartition",
     "str str",
     [](arguments const& x) {
         return separated(x, x.text(1), [](arguments const& y, std::string_view by) {
             return tuple_of(texts::rpartition(y.text(0), by));
         });
     }},
    {"find",
     "str str int? int?",
     [](arguments const& x) { return place(texts::find(x.text(0), x.text(1), range_in(x)), false); }},
    {"rfind",
     "str str int? int?",
     [](arguments const& x) { return place(texts::rfind(x.text(0), x.text(1), range_in(x)), false); }},
    {"index",
     "str str int? int?",
     [](arguments const& x) { return place(texts::find(x.text(0), x.text(1), range_in(x)), true); }},
    {"rindex",
     "str str int? int?",
     [](arguments const& x) { return place(texts::rfind(x.text(0), x.text(1), range_in(x)), true); }},
    {"count",
     "str str int? int?",
     [](arguments const& x) {
         return separated(x, x.text(1), [](arguments const& y, std::string_view by) {
             return result::of(scalar(texts::count(y.text(0), by, range_in(y))));
         });
     }},
    {"startswith",
     "str str int? int?",
     [](arguments const& x) { return answer(texts::starts_with(x.text(0), x.text(1), range_in(x))); }},
    {"endswith",
     "str str int? int?",
     [](arguments const& x) { return answer(texts::ends_with(x.text(0), x.text(1), range_in(x))); }},
    {"replace",
     "str str str int?",
     [](arguments const& x) {
         return separated(x, x.text(1), [](arguments const& y, std::string_view old) {
             return result::of(texts::replace(y.text(0), old, y.text(2), y.integer(3, -1)));
         });
     }},
    {"expandtabs",
     "str int?",
     [](arguments const& x) {
         if (x.integer(1, 8) > 256) return result::refused("a tab is wider than 256 characters");
         return result::of(texts::expandtabs(x.text(0), x.integer(1, 8)));
     }},
    {"center", "str int str?", [](arguments const& x) { return padded(x, x.text(2, " "), true, true); }},
    {"ljust", "str int str?", [](arguments const& x) { return padded(x, x.text(2, " "), false, true); }},
    {"rjust", "str int str?", [](arguments const& x) { return padded(x, x.text(2, " "), true, false); }},
    {"zfill", "str int", [](arguments const& x) { return padded(x, "0", true, false); }},
    {"__contains__",
     "str str",
     [](arguments const& x) { return result::of(scalar(x.text(0).find(x.text(1)) != std::string_view::npos)); }},
    {"add", "str str", [](arguments const& x) { return result::of(std::string(x.text(0)) + std::string(x.text(1))); }},
    {"eq", "str str", [](arguments const& x) { return result::of(scalar(x.text(0) == x.text(1))); }},
    {"ne", "str str", [](arguments const& x) { return result::of(scalar(x.text(0) != x.text(1))); }},
    {"lt", "str str", [](arguments const& x) { return result::of(scalar(x.text(0) < x.text(1))); }},
    {"le", "str str", [](arguments const& x) { return result::of(scalar(x.text(0) <= x.text(1))); }},
    {"gt", "str str", [](arguments const& x) { return result::of(scalar(x.text(0) > x.text(1))); }},
    {"ge", "str str", [](arguments const& x) { return result::of(scalar(x.text(0) >= x.text(1))); }},
    {"list",
     "str",
     [](arguments const& x) {
         std::vector<std::string> out;
         for (char const c : x.text(0)) out.emplace_back(1, c);
         return list_of(std::move(out));
     }},
    {"ord",
     "str",
     [](arguments const& x) {
         if (x.text(0).size() != 1) return result::refused("ord() of a string that is not one character");
         return result::of(scalar(static_cast<std::int64_t>(static_cast<unsigned char>(x.text(0)[0]))));
     }},
    {"hash",
     "str",
     [](arguments const&) { return result::refused("the hash of a string differs between builds of torch"); }},
    {"device",
     "str int",
     [](arguments const& x) {
         return result{result::shape::one,
                       {constant(kind::device, std::string(x.text(0)) + ':' + std::to_string(x.integer(1)))}};
     }},
};

#undef ATON_TEXT_TEST

} // namespace

std::span<builtin const> text_builtins() { return text_rows; }

} // namespace ATON_NAMESPACE::torchscript
