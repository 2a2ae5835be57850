// SPDX-License-Identifier: MIT
// Reads alternatives and ranges from the parts of rules, and defaults from schemas.
#include "argument_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <aton/aten/default_value.hpp>

namespace ATON_NAMESPACE::verify {

using kind = aten::argument_kind;
using runtime::aten_argument;

namespace {

std::string_view without_spaces(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// The parts between bars, without the mark of an optional argument.
std::vector<std::string_view> between_bars(std::string_view part) {
    if (part.ends_with('?')) part.remove_suffix(1);
    std::vector<std::string_view> out;
    for (std::size_t at = 0; at <= part.size();) {
        std::size_t const end = std::min(part.find('|', at), part.size());
        std::string_view const each = without_spaces(part.substr(at, end - at));
        if (!each.empty()) out.push_back(each);
        at = end + 1;
    }
    return out;
}

bool read_whole(std::string_view text, std::int64_t& to) {
    auto const [end, fault] = std::from_chars(text.data(), text.data() + text.size(), to);
    return fault == std::errc() && end == text.data() + text.size();
}

bool same_number(scalar const& a, scalar const& b) {
    return a.type() == b.type() && (a == b || (std::isnan(a.to<double>()) && std::isnan(b.to<double>())));
}

aten_argument of_default(aten::default_value const& value, aten::base_type base) {
    std::vector<scalar> all;
    switch (value.kind()) {
    case aten::default_kind::none: return aten_argument::none();
    case aten::default_kind::boolean: return aten_argument::of_number(value.as_bool());
    case aten::default_kind::floating: return aten_argument::of_number(value.as_double());
    case aten::default_kind::integer:
        if (base == aten::base_type::scalar_type || base == aten::base_type::memory_format) return {};
        return aten_argument::of_number(value.as_int());
    case aten::default_kind::string:
        return aten_argument::of_text(std::string(value.text().substr(1, value.text().size() - 2)));
    case aten::default_kind::int_list:
        for (std::size_t i = 0; i != value.size(); ++i) all.emplace_back(value.int_at(i));
        return aten_argument::of_numbers(std::move(all));
    case aten::default_kind::float_list:
        for (std::size_t i = 0; i != value.size(); ++i) all.emplace_back(value.double_at(i));
        return aten_argument::of_numbers(std::move(all));
    case aten::default_kind::bool_list:
        for (std::size_t i = 0; i != value.size(); ++i) all.emplace_back(value.bool_at(i));
        return aten_argument::of_numbers(std::move(all));
    default: return {};
    }
}

} // namespace

std::vector<std::string> alternatives_of(std::string_view part) {
    std::vector<std::string> out;
    for (std::string_view const each : between_bars(part)) out.emplace_back(each);
    return out;
}

std::vector<std::int64_t> enumeration_of(std::string_view part) {
    constexpr std::size_t most = 4;
    std::vector<std::int64_t> out;
    for (std::string_view const each : between_bars(part)) {
        std::size_t const dots = each.find("..");
        std::int64_t first = 0;
        std::int64_t last = 0;
        if (!read_whole(each.substr(0, dots), first)) return {};
        if (dots == std::string_view::npos) last = first;
        else if (!read_whole(each.substr(dots + 2), last)) return {};
        for (; first <= last && out.size() <= most; ++first) out.push_back(first);
    }
    return out.size() > most ? std::vector<std::int64_t>() : out;
}

aten_argument default_of(aten::schema_argument const& formal) {
    return of_default(aten::parse_default(formal), formal.type.base).named(std::string(formal.name));
}

bool same_value(aten_argument const& a, aten_argument const& b) {
    return a.kind == b.kind && a.text == b.text && a.type == b.type &&
           (a.kind != kind::number || same_number(a.number, b.number)) &&
           std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(), same_number);
}

} // namespace ATON_NAMESPACE::verify
