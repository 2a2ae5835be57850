// SPDX-License-Identifier: MIT
// Which kinds of values an argument can have follows from its type and its part of the sampling rule.
#include "argument_coverage.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "argument_values.hpp"
#include "rule_reader.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using aten::base_type;
using kind = aten::argument_kind;

double largest(dtype t) {
    return is_integral(t) ? std::exp2(bits(t) - (is_signed_integral(t) ? 1 : 0)) : largest_number(t);
}

/// Adds the kinds of a number that is an argument beside tensors of a dtype.
void add_number(std::set<std::string>& to, scalar const& s, dtype of, bool any) {
    if (any && (s.is_bool() || s.is_integral())) to.insert(s.is_bool() ? "bool" : "integer");
    double const v = s.to<double>();
    constexpr double many = 1e4;
    if (std::isnan(v)) to.insert("NaN");
    else if (std::isinf(v)) to.insert(v > 0 ? "infinity" : "-infinity");
    else if (std::abs(v) > largest(of)) to.insert("beyond the dtype");
    else if (std::abs(v) >= many) to.insert("large");
    else if (v == 0 || std::abs(v) == 1) to.insert(v == 0 ? "0" : v > 0 ? "1" : "-1");
    else if (v != std::round(v)) to.insert("fraction");
    else to.insert(v < 0 ? "negative" : "positive");
}

/// Adds the alternatives of 'sum' | 'mean' and of float32 | int64.
void add_words(std::set<std::string>& to, std::string_view part) {
    for (std::string& word : alternatives_of(part)) to.insert(std::move(word));
}

/// Adds the kinds of a list of numbers: its length, signs, and whether the numbers differ.
void add_list(std::set<std::string>& to, std::vector<scalar> const& all) {
    to.insert(all.empty() ? "no elements" : all.size() == 1 ? "one element" : "several elements");
    for (scalar const& each : all) {
        if (each.is_bool()) to.insert(each.to<bool>() ? "true" : "false");
        else if (each.to<double>() <= 0) to.insert(each.to<double>() == 0 ? "0" : "negative");
        if (!(each == all.front())) to.insert("different elements");
    }
}

/// Adds those of 0, 1 and -1 that a range of integers contains.
void add_range(std::set<std::string>& to, std::string_view part) {
    std::size_t const dots = part.find("..");
    if (dots == std::string_view::npos || part.find_first_of("+*/(abcdefghijklmnopqrstuvwxyz|.") < dots) return;
    long const min = std::strtol(std::string(part).c_str(), nullptr, 10);
    long const max = std::strtol(std::string(part.substr(dots + 2)).c_str(), nullptr, 10);
    for (long const v : {-1L, 0L, 1L})
        if (min <= v && v <= max) to.insert(std::to_string(v));
}

bool has_word(std::string_view part, std::string_view word) {
    std::size_t const at = part.find(word);
    return at != std::string_view::npos && (at == 0 || part[at - 1] == ' ');
}

std::set<std::string> kinds_of(aten::schema_argument const& a, std::string_view part) {
    std::set<std::string> out;
    bool const tensor = a.type.base == base_type::tensor;
    if (a.has_default && !part.starts_with('{') && (!tensor || part.empty())) out.insert("default");
    if (part == "default") return {a.has_default ? "default" : "None"};
    if (part.empty() ? a.type.optional : part.ends_with('?')) out.insert("None");
    if (tensor || a.type.list) return out;
    bool const of_sizes = part.starts_with('{') || part.starts_with("axis");
    switch (a.type.base) {
    case base_type::bool_:
        if (part.empty() || has_word(part, "true")) out.insert("true");
        if (part.empty() || has_word(part, "false")) out.insert("false");
        break;
    case base_type::str: add_words(out, part); break;
    case base_type::scalar_type:
        add_words(out, part.empty() ? "float32 | float64 | int64 | float16 | int32" : part);
        break;
    case base_type::scalar: [[fallthrough]];
    case base_type::float_:
        if (of_sizes || has_word(part, "only")) break;
        out.insert({"NaN", "infinity", "-infinity", "beyond the dtype", "large", "0", "1", "-1", "fraction"});
        if (part.find("..") != std::string_view::npos && part.find('.', part.find("..") + 2) == std::string_view::npos)
            out.erase("fraction");
        if (a.type.base == base_type::scalar) out.insert({"integer", "bool"});
        break;
    case base_type::int_:
    case base_type::sym_int:
        if (!of_sizes) add_range(out, part);
        break;
    default: break;
    }
    return out;
}

} // namespace

argument_coverage::argument_coverage(dsl::entry const& row, std::string_view rule) {
    aten::schema_argument formal;
    std::uint8_t position = 0;
    for (aten::argument_cursor each{row.schema}; each.next(formal); ++position) {
        std::string_view const part = part_of_rule(rule, formal.name);
        if ((is_placement(formal.type.base) && part.empty()) || formal.name == "pin_memory") continue;
        bool const is_read = std::ranges::find(row.named, position) != row.named.end();
        all_.push_back({formal, is_read, reason_of_rule(rule, formal.name), kinds_of(formal, part), {}});
    }
}

void argument_coverage::add(sample const& s, dtype of) {
    for (one& a : all_) {
        auto const given = std::ranges::find(s.arguments, a.formal.name, &runtime::aten_argument::name);
        if (given == s.arguments.end()) {
            a.drawn.insert("default");
            continue;
        }
        bool const any = a.formal.type.base == base_type::scalar;
        switch (given->kind) {
        case kind::text:
        case kind::tag: a.drawn.insert('\'' + given->text + '\''); break;
        case kind::type: a.drawn.emplace(name(given->type)); break;
        case kind::tensor: a.drawn.emplace(name(given->tensor.dtype())); break;
        case kind::tensors: a.drawn.insert(std::to_string(given->tensors.size()) + " tensors"); break;
        case kind::numbers: add_list(a.drawn, given->numbers); break;
        case kind::number:
            if (a.formal.type.base == base_type::bool_) a.drawn.insert(given->number.to<bool>() ? "true" : "false");
            else add_number(a.drawn, given->number, of, any);
            break;
        default: a.drawn.insert("None");
        }
    }
}

std::vector<argument_report> argument_coverage::report() const {
    std::vector<argument_report> out;
    for (one const& a : all_) {
        argument_report& r = out.emplace_back();
        r.name = a.formal.name;
        r.is_read = a.is_read;
        r.reason = a.reason;
        r.drawn.assign(a.drawn.begin(), a.drawn.end());
        std::ranges::set_difference(a.possible, a.drawn, std::back_inserter(r.missing));
    }
    return out;
}

} // namespace ATON_NAMESPACE::verify
