// SPDX-License-Identifier: MIT
#include "overload_table.hpp"

#include <algorithm>

#include <aton/aten/schema_table.hpp>

namespace ATON_NAMESPACE::torchscript {

namespace {

using aten::base_type;

/// Overloads that only TorchScript's interpreter has, such as aten::to.prim_dtype.
constexpr int only_in_torchscript = 50;
/// A tensor of one number where a number is expected, and a number where a tensor is.
constexpr int implicit_number = 6;
constexpr int implicit_tensor = 8;
/// A constant that is as weak as a number, where a tensor is expected.
constexpr int weak_tensor = 4;
/// An argument by position that the schema allows only by name: the serializer writes those of operators with `out` so.
constexpr int positional_keyword = 20;

overload read_overload(std::string_view op, std::string_view schema) {
    overload out;
    out.op = op;
    out.schema = schema;
    aten::argument_cursor arguments{schema};
    for (aten::schema_argument each; arguments.next(each);) out.arguments.push_back(each);
    aten::return_cursor returns{schema};
    for (aten::schema_return each; returns.next(each);) out.returns.push_back(each);
    return out;
}

} // namespace

std::vector<overload> const& overload_table::of(std::string const& op) {
    auto const [known, is_new] = known_.try_emplace(op);
    if (!is_new) return known->second;
    bool exact = false;
    for (std::size_t i = aten::detail::lower_bound(op, exact); i != aten::schema_count(); ++i) {
        std::string_view const schema = aten::schema_at(i);
        if (!schema.starts_with(op)) break;
        if (aten::detail::table_op(i) == op)
            known->second.push_back(read_overload(aten::detail::table_name(i), schema));
    }
    if (known->second.empty() && schemas_of_)
        for (std::string_view const schema : schemas_of_(op)) {
            known->second.push_back(read_overload(aten::parse_head(schema).qualified, schema));
            known->second.back().is_torchs = false;
        }
    return known->second;
}

/// How well a value fits an element of a type; lower is better, nothing if it does not fit.
std::optional<int> overload_table::cost_of_element(aten::schema_type const& type, value const& v) const {
    auto const symbol_is = [&](program::value_kind k) { return v.is() == kind::symbol && build_.kind_of(v) == k; };
    bool const is_number = v.is_any_number();
    bool const is_held = v.is_number_as_tensor();
    bool const is_one_element = (v.is() == kind::weight && heap_.weights[v.weight()].data.element_count() == 1) ||
                                (v.is() == kind::tensor && types_.type_of(v.computed()).sizes.empty());
    switch (type.base) {
    case base_type::tensor:
        if (v.is_weak()) return weak_tensor;
        if (v.acts_as_tensor()) return 0;
        return is_number ? std::optional(implicit_tensor) : std::nullopt;
    case base_type::scalar:
        if (is_number) return is_held ? implicit_number : 1;
        if (v.is_weak()) return 1;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::int_:
    case base_type::sym_int:
        if (v.is() == kind::integer || symbol_is(program::value_kind::sym_int)) return is_held ? implicit_number : 0;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::float_:
    case base_type::sym_float:
        if (v.is() == kind::real || symbol_is(program::value_kind::sym_float)) return is_held ? implicit_number : 0;
        if (v.is() == kind::integer || symbol_is(program::value_kind::sym_int)) return 3;
        return is_one_element ? std::optional(implicit_number) : std::nullopt;
    case base_type::bool_:
    case base_type::sym_bool:
        return v.is() == kind::boolean || symbol_is(program::value_kind::sym_bool) ? std::optional(0) : std::nullopt;
    case base_type::str: return v.text() != nullptr ? std::optional(0) : std::nullopt;
    case base_type::scalar_type:
    case base_type::layout:
    case base_type::memory_format: return v.is() == kind::integer && !is_held ? std::optional(1) : std::nullopt;
    case base_type::device: return v.is() == kind::device || v.is() == kind::text ? std::optional(0) : std::nullopt;
    default: return {};
    }
}

std::optional<int> overload_table::cost_of(aten::schema_type const& type, value const& v) const {
    if (v.is() == kind::none) return type.optional ? std::optional(0) : std::nullopt;
    if (!type.list) return cost_of_element(type, v);
    if (v.is() != kind::list && v.is() != kind::tuple) {
        std::optional<int> const one = type.list_size > 0 ? cost_of_element(type, v) : std::nullopt;
        return one ? std::optional(*one + 2) : std::nullopt;
    }
    int worst = 0;
    for (value const& each : v.list()->items) {
        if (each.is() == kind::none && type.element_optional) continue;
        std::optional<int> const cost = cost_of_element(type, each);
        if (!cost || (type.base == base_type::tensor && *cost >= implicit_tensor)) return {};
        worst = std::max(worst, *cost);
    }
    return worst;
}

/// The cost of a call, and the value of each argument of the schema (null: its default); nothing if the arguments do not fit.
std::optional<int> overload_table::match(overload const& o, call_arguments const& given,
                                         std::vector<value const*>& bound) const {
    bound.assign(o.arguments.size(), nullptr);
    if (given.size() > o.arguments.size()) return {};
    int cost = aten::parse_head(o.schema).overload.starts_with("prim") ? only_in_torchscript : 0;
    for (std::size_t i = 0; i != given.positional.size(); ++i) {
        if (o.arguments[i].keyword_only && o.arguments[i].type.mutates) return {};
        if (o.arguments[i].keyword_only) cost += positional_keyword;
        bound[i] = &given.positional[i];
    }
    for (auto const& [name, each] : given.named) {
        auto const found =
            std::find_if(o.arguments.begin(), o.arguments.end(), [&](auto const& a) { return a.name == name; });
        if (found == o.arguments.end()) return {};
        value const*& place = bound[static_cast<std::size_t>(found - o.arguments.begin())];
        if (place != nullptr) return {};
        place = &each;
    }
    for (std::size_t i = 0; i != bound.size(); ++i) {
        if (bound[i] == nullptr) {
            if (!o.arguments[i].has_default) return {};
            continue;
        }
        std::optional<int> const each = cost_of(o.arguments[i].type, *bound[i]);
        if (!each) return {};
        cost += *each;
    }
    return cost;
}

std::vector<fitting_overload> overload_table::fitting(std::vector<overload> const& all,
                                                      call_arguments const& given) const {
    std::vector<fitting_overload> out;
    std::vector<value const*> bound;
    for (overload const& each : all)
        if (std::optional<int> const cost = match(each, given, bound)) out.push_back({*cost, &each, bound});
    std::stable_sort(out.begin(), out.end(), [](auto const& a, auto const& b) { return a.cost < b.cost; });
    return out;
}

} // namespace ATON_NAMESPACE::torchscript
