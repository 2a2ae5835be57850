// SPDX-License-Identifier: MIT
#include "schema_difference.hpp"

#include <cmath>

#include <aton/aten/default_value.hpp>
#include <aton/aten/function_schema.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using aten::base_type;
using aten::default_kind;
using aten::schema_argument;

bool same_type(aten::schema_type const& a, aten::schema_type const& b) {
    return without_symbol(a.base) == without_symbol(b.base) && a.list == b.list && a.optional == b.optional &&
           a.element_optional == b.element_optional && a.mutates == b.mutates &&
           (a.base != base_type::other || a.base_text == b.base_text);
}

bool same_number(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::string unescaped(std::string_view quoted) {
    std::string out;
    aten::unescape(quoted, [&](char c) { out += c; });
    return out;
}

bool same_default(schema_argument const& a, schema_argument const& b) {
    aten::default_value const x = aten::parse_default(a);
    aten::default_value const y = aten::parse_default(b);
    if (x.size() == 0 && y.size() == 0 && a.type.list) return true; // an empty list is of any kind
    if (x.kind() != y.kind() || x.size() != y.size()) return false;
    for (std::size_t i = 0; i != x.size(); ++i) {
        switch (x.kind()) {
        case default_kind::string:
            if (unescaped(x.text()) != unescaped(y.text())) return false;
            break;
        case default_kind::string_list:
            if (unescaped(x.element(i)) != unescaped(y.element(i))) return false;
            break;
        case default_kind::integer:
            if (x.as_int() != y.as_int()) return false;
            break;
        case default_kind::int_list:
            if (x.int_at(i) != y.int_at(i)) return false;
            break;
        case default_kind::floating:
            if (!same_number(x.as_double(), y.as_double())) return false;
            break;
        case default_kind::float_list:
            if (!same_number(x.double_at(i), y.double_at(i))) return false;
            break;
        case default_kind::bool_list:
            if (x.bool_at(i) != y.bool_at(i)) return false;
            break;
        default:
            if (x.text() != y.text()) return false;
        }
    }
    return true;
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

std::string default_text(schema_argument const& a) {
    return a.has_default ? "the default " + std::string(a.default_text) : "no default";
}

} // namespace

std::string schema_difference(std::string_view row, std::string_view registered) {
    aten::argument_cursor ours{row};
    aten::argument_cursor theirs{registered};
    schema_argument a;
    schema_argument b;
    for (int position = 1;; ++position) {
        bool const has_ours = ours.next(a);
        bool const has_theirs = theirs.next(b);
        if (has_ours != has_theirs)
            return "the argument " + quoted(has_ours ? a.name : b.name) + (has_ours ? " of the row" : "") +
                   " is not in the schema " + (has_ours ? "that the operator is registered with" : "of the row");
        if (!has_ours) break;
        if (a.name != b.name)
            return "argument " + std::to_string(position) + " is " + quoted(a.name) + " in the row, but " +
                   quoted(b.name) + " in the schema that the operator is registered with";
        if (!same_type(a.type, b.type))
            return "the argument " + quoted(a.name) + " is " + std::string(a.type.text) + " in the row, but " +
                   std::string(b.type.text) + " in the schema that the operator is registered with";
        if (a.has_default != b.has_default || !same_default(a, b))
            return "the argument " + quoted(a.name) + " has " + default_text(a) + " in the row, but " +
                   default_text(b) + " in the schema that the operator is registered with";
    }
    int const results = aten::return_count(row);
    int const registered_results = aten::return_count(registered);
    aten::return_cursor our_returns(row);
    aten::return_cursor their_returns(registered);
    aten::schema_return ours_now;
    aten::schema_return theirs_now;
    for (int i = 0; our_returns.next(ours_now) && their_returns.next(theirs_now); ++i)
        if (results == registered_results && !same_type(ours_now.type, theirs_now.type))
            return "result " + std::to_string(i) + " is " + std::string(ours_now.type.text) + " in the row, but " +
                   std::string(theirs_now.type.text) + " in the schema that the operator is registered with";
    if (results == registered_results) return {};
    return "the number of results is " + std::to_string(results) + " in the row, but " +
           std::to_string(registered_results) + " in the schema that the operator is registered with";
}

std::string find_schema_difference(dsl::entry const& row,
                                   std::function<std::string(std::string_view)> const& registered_schema,
                                   std::vector<recorded_call const*> const& recorded) {
    if (row.overload.starts_with("aten::")) return {};
    std::string const registered = registered_schema ? registered_schema(row.overload) : std::string();
    auto const with_both = [&](std::string difference, std::string_view theirs) {
        if (!difference.empty())
            difference += "; the row has " + std::string(row.schema) + ", the operator " + std::string(theirs);
        return difference;
    };
    std::string out =
        registered.empty() ? std::string() : with_both(schema_difference(row.schema, registered), registered);
    for (recorded_call const* c : recorded)
        if (out.empty()) out = with_both(schema_difference(row.schema, c->schema), c->schema);
    return out;
}

std::string call_of_other_overload(dsl::entry const& row, std::span<recorded_call const> calls) {
    auto const name_of = [](std::string_view overload) { return overload.substr(0, overload.find('.')); };
    recorded_call const* other = nullptr;
    for (recorded_call const& c : calls) {
        if (c.call.overload == row.overload) return {};
        if (name_of(c.call.overload) == name_of(row.overload)) other = &c;
    }
    if (other == nullptr) return {};
    return "; " + other->place + " has " + other->schema + ", the row " + std::string(row.schema);
}

} // namespace ATON_NAMESPACE::verify
