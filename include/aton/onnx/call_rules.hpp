// SPDX-License-Identifier: MIT
// The rules of a call: legal in every schema version between two opsets, or the first rule that is broken, where and by what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/onnx/schema.hpp>
#include <aton/onnx/semantic_breaks.hpp>

namespace aton::onnx {

/// What stands at a position of a call: a value, one that may be missing, nothing, a list of values, or a C++ number.
enum class operand_kind : std::uint8_t { value, optional_value, absent, list, number };

struct call_operand {
    operand_kind kind = operand_kind::value;
    type_set types = any_type;
};

struct call_attribute {
    std::string_view name;
    attr_type type = attr_type::undefined;
};

/// A call as the compiler sees it. `outputs` is -1 where their number is known only at run time.
struct call {
    std::string_view domain;
    std::string_view name;
    int since = 1;
    int until = newest_opset;
    std::span<call_operand const> operands;
    std::span<call_attribute const> attributes;
    int outputs = 1;
};

enum class rule : std::uint8_t {
    none,
    no_such_operator,
    operator_too_new,
    operator_deprecated,
    too_few_inputs,
    too_many_inputs,
    input_required,
    list_not_variadic,
    number_without_type,
    no_such_attribute,
    attribute_type,
    attribute_twice,
    attribute_missing,
    too_few_outputs,
    too_many_outputs,
    outputs_not_variadic,
    no_common_type,
    meaning_changed,
};

/// The first broken rule of a call; `culprit` and `nearest` are names from the call or the schema.
struct broken_rule {
    rule kind = rule::none;
    int opset = 0;     ///< the schema version that refuses the call
    int position = -1; ///< of the operand, 0-based
    int limit = 0;     ///< how many are allowed, or the opset from which it would be legal
    std::string_view culprit = {};
    std::string_view nearest = {};
    type_set given = {};
    type_set allowed = {};

    constexpr explicit operator bool() const { return kind != rule::none; }
};

namespace detail {

constexpr int formal_index(int position, int formal_count) {
    return position < formal_count ? position : formal_count - 1;
}

constexpr bool carries_type(call_operand const& o) {
    return o.kind != operand_kind::absent && o.kind != operand_kind::number;
}

/// The types that a type variable can still have after the first `count` operands.
constexpr type_set bound_types(op_schema const& schema, int type_var, std::span<call_operand const> operands,
                               int count) {
    type_set types = schema.var(type_var).types;
    for (int i = 0; i != count; ++i) {
        formal const in = schema.input(formal_index(i, schema.input_count()));
        if (in.type_var == type_var && in.homogeneous && carries_type(operands[static_cast<std::size_t>(i)]))
            types = types & operands[static_cast<std::size_t>(i)].types;
    }
    return types;
}

constexpr bool type_is_determined(op_schema const& schema, formal const& target,
                                  std::span<call_operand const> operands) {
    if (target.type_var < 0) return (target.types.plain & (target.types.plain - 1)) == 0;
    for (int i = 0; i != static_cast<int>(operands.size()); ++i)
        if (schema.input(formal_index(i, schema.input_count())).type_var == target.type_var &&
            carries_type(operands[static_cast<std::size_t>(i)]))
            return true;
    return false;
}

constexpr broken_rule check_inputs(call const& c, op_schema const& schema) {
    int const count = static_cast<int>(c.operands.size());
    int const formals = schema.input_count();
    bool has_list = false;
    for (call_operand const& o : c.operands) has_list = has_list || o.kind == operand_kind::list;
    if (count > schema.max_inputs()) return {rule::too_many_inputs, schema.since(), count - 1, schema.max_inputs()};
    if (count < schema.min_inputs() && !has_list)
        return {rule::too_few_inputs,
                schema.since(),
                count,
                schema.min_inputs(),
                schema.input(formal_index(count, formals)).name};
    for (int i = 0; i != count; ++i) {
        call_operand const& o = c.operands[static_cast<std::size_t>(i)];
        formal const in = schema.input(formal_index(i, formals));
        if (o.kind == operand_kind::list && in.kind != option::variadic)
            return {rule::list_not_variadic, schema.since(), i, 0, in.name};
        bool const may_miss = o.kind == operand_kind::absent || o.kind == operand_kind::optional_value;
        if (may_miss && in.kind != option::optional) return {rule::input_required, schema.since(), i, 0, in.name};
        if (o.kind == operand_kind::number && !type_is_determined(schema, in, c.operands))
            return {rule::number_without_type, schema.since(), i, 0, in.name};
        if (!carries_type(o)) continue;
        type_set const allowed =
            in.type_var >= 0 && in.homogeneous ? bound_types(schema, in.type_var, c.operands, i) : in.types;
        if ((allowed & o.types).empty())
            return {rule::no_common_type, schema.since(), i, 0, in.name, {}, o.types, allowed};
    }
    return {};
}

constexpr std::string_view input_named(op_schema const& schema, std::string_view name) {
    for (int i = 0; i != schema.input_count(); ++i)
        if (schema.input(i).name == name) return schema.input(i).name;
    return {};
}

constexpr broken_rule check_attributes(call const& c, op_schema const& schema) {
    for (std::size_t i = 0; i != c.attributes.size(); ++i) {
        call_attribute const& a = c.attributes[i];
        for (std::size_t j = 0; j != i; ++j)
            if (c.attributes[j].name == a.name) return {rule::attribute_twice, schema.since(), -1, 0, a.name};
        int const found = schema.find_attribute(a.name);
        if (found < 0) {
            bool const is_input = !input_named(schema, a.name).empty();
            return {rule::no_such_attribute,
                    schema.since(),
                    -1,
                    is_input ? 1 : 0,
                    a.name,
                    is_input ? a.name : nearest_attribute(schema, a.name)};
        }
        if (a.type != schema.attr(found).type) {
            broken_rule r{rule::attribute_type, schema.since(), -1, static_cast<int>(schema.attr(found).type), a.name};
            r.position = static_cast<int>(a.type);
            return r;
        }
    }
    for (int i = 0; i != schema.attribute_count(); ++i) {
        attribute const declared = schema.attr(i);
        if (!declared.required) continue;
        bool given = false;
        for (call_attribute const& a : c.attributes) given = given || a.name == declared.name;
        if (!given)
            return {rule::attribute_missing, schema.since(), -1, static_cast<int>(declared.type), declared.name};
    }
    return {};
}

constexpr broken_rule check_outputs(call const& c, op_schema const& schema) {
    bool const variadic =
        schema.output_count() > 0 && schema.output(schema.output_count() - 1).kind == option::variadic;
    if (c.outputs < 0)
        return variadic ? broken_rule{}
                        : broken_rule{rule::outputs_not_variadic, schema.since(), -1, schema.max_outputs()};
    if (c.outputs < schema.min_outputs())
        return {rule::too_few_outputs, schema.since(), c.outputs, schema.min_outputs()};
    if (c.outputs > schema.max_outputs())
        return {rule::too_many_outputs, schema.since(), c.outputs, schema.max_outputs()};
    return {};
}

} // namespace detail

namespace detail {

/// The first version after `schema` that is not deprecated; 0: none.
constexpr int next_legal_version(op_schema const& schema) {
    auto const later = versions(schema.domain(), schema.name(), schema.since(), newest_opset);
    for (int i = 1; i < later.size(); ++i)
        if (!later[i].deprecated()) return later[i].since();
    return 0;
}

} // namespace detail

/// Holds the call against every schema version in force inside [since, until]; `all` are those versions.
constexpr broken_rule check_call(call const& c, version_range const& all) {
    if (all.empty() || all[0].since() > c.since) {
        int const first = first_version(c.domain, c.name);
        if (first == 0) return {rule::no_such_operator, c.since, -1, 0, c.name, nearest_name(c.domain, c.name)};
        return {rule::operator_too_new, c.since, -1, first, c.name};
    }
    for (int i = 0; i != all.size(); ++i) {
        op_schema const schema = all[i];
        if (schema.deprecated())
            return {rule::operator_deprecated, schema.since(), i, detail::next_legal_version(schema), c.name};
        if (auto r = detail::check_inputs(c, schema)) return r;
        if (auto r = detail::check_attributes(c, schema)) return r;
        if (auto r = detail::check_outputs(c, schema)) return r;
    }
    if (!c.domain.empty()) return {};
    auto const gives = [&c](std::string_view name) {
        for (call_attribute const& a : c.attributes)
            if (a.name == name) return true;
        return false;
    };
    if (auto const* b = find_break(c.name, c.since, c.until, static_cast<int>(c.operands.size()), c.outputs, gives);
        b != nullptr)
        return {rule::meaning_changed, b->opset, -1, c.since, c.name, b->reason};
    return {};
}

/// Every type that output `index` of a legal call can have in one of the schema versions.
constexpr type_set result_types(call const& c, int index, version_range const& all) {
    type_set result;
    for (int i = 0; i != all.size(); ++i) {
        op_schema const schema = all[i];
        if (schema.output_count() == 0) continue;
        formal const out = schema.output(detail::formal_index(index, schema.output_count()));
        bool const follows_inputs = out.type_var >= 0 && out.homogeneous;
        result =
            result |
            (follows_inputs ? detail::bound_types(schema, out.type_var, c.operands, static_cast<int>(c.operands.size()))
                            : out.types);
    }
    return result;
}
constexpr type_set result_types(call const& c, int index) {
    return result_types(c, index, versions(c.domain, c.name, c.since, c.until));
}

/// What a call comes to: the broken rule, or the types that its first output can have.
struct call_outcome {
    broken_rule broken;
    type_set first_result;
};

constexpr call_outcome evaluate(call const& c) {
    version_range const all = versions(c.domain, c.name, c.since, c.until);
    broken_rule const broken = check_call(c, all);
    return {broken, broken ? type_set{} : result_types(c, 0, all)};
}

} // namespace aton::onnx
