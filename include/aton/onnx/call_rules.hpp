// SPDX-License-Identifier: MIT
// Checks a call against every schema version between two opsets, and returns the first broken rule: where, and by what.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <aton/core/dtype.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/onnx/schema.hpp>
#include <aton/onnx/semantic_breaks.hpp>

namespace ATON_NAMESPACE::onnx {

/// The kinds of operands: a value, one that may be missing, nothing, a list of values, or a C++ number.
enum class operand_kind : std::uint8_t { value, optional_value, absent, list, number };

struct call_operand {
    operand_kind kind = operand_kind::value;
    type_set types = any_type; ///< of a number: the types that can represent its C++ type
};

/// A graph that a lambda builds, as far as it is known at compile time; -1: known only when the graph is built.
struct call_body {
    int since = 1; ///< the opset range of the lambda's graph
    int until = newest_opset;
    int inputs = -1;  ///< how many values it takes
    int results = -1; ///< how many it returns
};

struct call_attribute {
    std::string_view name;
    attr_type type = attr_type::undefined;
    dtype constant = dtype::undefined; ///< an element type known at compile time: `attr::to_i(dtype_c<...>)`
    call_body const* body = nullptr;
    bool optional = false; ///< a std::optional, which may be empty
};

/// A call as far as it is known at compile time. `outputs` is -1 if their number is known only at run time.
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
    no_such_domain,
    no_such_operator,
    operator_too_new,
    operator_deprecated,
    too_few_inputs,
    too_many_inputs,
    input_required,
    list_not_variadic,
    number_without_type,
    number_kind,
    no_such_attribute,
    attribute_type,
    attribute_twice,
    attribute_missing,
    attribute_optional,
    too_few_outputs,
    too_many_outputs,
    outputs_not_variadic,
    no_common_type,
    attribute_dtype,
    body_range,
    body_inputs,
    body_results,
    meaning_changed,
};

/// What the call has, and what the schema asks for.
template <class T>
struct mismatch {
    T given = {};
    T allowed = {};
};

/// The facts of a broken rule. Each rule fills in those that its sentence is about.
struct rule_facts {
    std::string_view nearest = {};      ///< the correct name, or the nearest one
    bool is_input = false;              ///< of an attribute that does not exist: an input has its name
    mismatch<int> count = {};           ///< of inputs, of outputs, or of the values that a body takes or returns
    mismatch<type_set> types = {};      ///< of an operand, or of the element type that an attribute states
    mismatch<attr_type> attribute = {}; ///< the type of an attribute
    call_body const* body = nullptr;    ///< that does not cover the range of the call
    int legal_from = 0;                 ///< the first later opset that has the operator; 0: none
    int legal_until = 0;                ///< the last earlier opset of the call's range that has the operator; 0: none
    semantic_break const* change = nullptr; ///< of the operator's meaning
};

/// The first broken rule of a call.
struct broken_rule {
    rule kind = rule::none;
    int opset = 0;                 ///< the schema version that refuses the call
    std::string_view culprit = {}; ///< a name from the call or the schema: of a domain, operator, input or attribute
    rule_facts facts = {};

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
template <class Schema>
constexpr type_set bound_types(Schema const& schema, int type_var, std::span<call_operand const> operands, int count) {
    type_set types = schema.var(type_var).types;
    for (int i = 0; i != count; ++i) {
        formal const in = schema.input(formal_index(i, schema.input_count()));
        if (in.type_var == type_var && in.homogeneous && carries_type(operands[static_cast<std::size_t>(i)]))
            types = types & operands[static_cast<std::size_t>(i)].types;
    }
    return types;
}

template <class Schema>
constexpr bool type_is_determined(Schema const& schema, formal const& target, std::span<call_operand const> operands) {
    if ((target.types.plain & (target.types.plain - 1)) == 0) return true;
    if (target.type_var < 0) return false;
    for (int i = 0; i != static_cast<int>(operands.size()); ++i)
        if (schema.input(formal_index(i, schema.input_count())).type_var == target.type_var &&
            carries_type(operands[static_cast<std::size_t>(i)]))
            return true;
    return false;
}

template <class Schema>
constexpr broken_rule check_inputs(call const& c, Schema const& schema) {
    int const count = static_cast<int>(c.operands.size());
    int const formals = schema.input_count();
    bool has_list = false;
    for (call_operand const& o : c.operands) has_list = has_list || o.kind == operand_kind::list;
    if (count > schema.max_inputs())
        return {rule::too_many_inputs, schema.since(), {}, {.count = {count, schema.max_inputs()}}};
    if (count < schema.min_inputs() && !has_list)
        return {rule::too_few_inputs,
                schema.since(),
                schema.input(formal_index(count, formals)).name,
                {.count = {count, schema.min_inputs()}}};
    for (int i = 0; i != count; ++i) {
        call_operand const& o = c.operands[static_cast<std::size_t>(i)];
        formal const in = schema.input(formal_index(i, formals));
        if (o.kind == operand_kind::list && in.kind != option::variadic)
            return {rule::list_not_variadic, schema.since(), in.name};
        bool const may_be_missing = o.kind == operand_kind::absent || o.kind == operand_kind::optional_value;
        if (may_be_missing && in.kind != option::optional) return {rule::input_required, schema.since(), in.name};
        if (o.kind == operand_kind::number && !type_is_determined(schema, in, c.operands))
            return {rule::number_without_type, schema.since(), in.name};
        if (o.kind == operand_kind::number && o.types != any_type) {
            type_set const possible =
                in.type_var >= 0 && in.homogeneous ? bound_types(schema, in.type_var, c.operands, count) : in.types;
            if (!possible.empty() && (possible & o.types).empty())
                return {rule::number_kind, schema.since(), in.name, {.types = {o.types, possible}}};
        }
        if (!carries_type(o)) continue;
        type_set const allowed =
            in.type_var >= 0 && in.homogeneous ? bound_types(schema, in.type_var, c.operands, i) : in.types;
        if ((allowed & o.types).empty())
            return {rule::no_common_type, schema.since(), in.name, {.types = {o.types, allowed}}};
    }
    return {};
}

template <class Schema>
constexpr std::string_view input_named(Schema const& schema, std::string_view name) {
    for (int i = 0; i != schema.input_count(); ++i)
        if (schema.input(i).name == name) return schema.input(i).name;
    return {};
}

/// Whether the attribute states the element type of the first output at compile time: Cast's `to`.
constexpr bool names_result_type(call_attribute const& a) {
    return a.constant != dtype::undefined &&
           (a.name == "to" || a.name == "dtype" || a.name == "output_dtype" || a.name == "output_datatype");
}
/// The types of the first output, a tensor or a sequence, that such an attribute leaves.
template <class Schema>
constexpr type_set stated_types(Schema const& schema, call_attribute const& a) {
    type_set const tensor = tensors(a.constant);
    type_set const sequence{tensor.plain << 32, 0};
    return schema.output_count() == 0 ? type_set{} : schema.output(0).types & (tensor | sequence);
}

template <class Schema>
constexpr broken_rule check_attributes(call const& c, Schema const& schema) {
    for (std::size_t i = 0; i != c.attributes.size(); ++i) {
        call_attribute const& a = c.attributes[i];
        for (std::size_t j = 0; j != i; ++j)
            if (c.attributes[j].name == a.name) return {rule::attribute_twice, schema.since(), a.name};
        int const found = schema.find_attribute(a.name);
        if (found < 0) {
            bool const is_input = !input_named(schema, a.name).empty();
            return {rule::no_such_attribute,
                    schema.since(),
                    a.name,
                    {.nearest = is_input ? a.name : nearest_attribute(schema, a.name), .is_input = is_input}};
        }
        if (a.type != schema.attr(found).type)
            return {rule::attribute_type, schema.since(), a.name, {.attribute = {a.type, schema.attr(found).type}}};
        if (names_result_type(a) && stated_types(schema, a).empty())
            return {rule::attribute_dtype,
                    schema.since(),
                    a.name,
                    {.types = {tensors(a.constant), schema.output(0).types}}};
    }
    for (int i = 0; i != schema.attribute_count(); ++i) {
        attribute const declared = schema.attr(i);
        if (!declared.required) continue;
        rule broken = rule::attribute_missing;
        for (call_attribute const& a : c.attributes)
            if (a.name == declared.name) broken = a.optional ? rule::attribute_optional : rule::none;
        if (broken != rule::none)
            return {broken, schema.since(), declared.name, {.attribute = {.allowed = declared.type}}};
    }
    return {};
}

template <class Schema>
constexpr broken_rule check_outputs(call const& c, Schema const& schema) {
    if (c.outputs < 0) {
        int const last = schema.output_count() - 1;
        if (last >= 0 && schema.output(last).kind == option::variadic) return {};
        return {rule::outputs_not_variadic, schema.since(), {}, {.count = {c.outputs, schema.max_outputs()}}};
    }
    if (c.outputs < schema.min_outputs())
        return {rule::too_few_outputs, schema.since(), {}, {.count = {c.outputs, schema.min_outputs()}}};
    if (c.outputs > schema.max_outputs())
        return {rule::too_many_outputs, schema.since(), {}, {.count = {c.outputs, schema.max_outputs()}}};
    return {};
}

/// Bodies of control flow: they take the operands (Loop: an iteration number and a condition instead of the first two) and return the
/// outputs (Loop: preceded by a condition).
constexpr broken_rule check_bodies(call const& c) {
    bool const known =
        c.domain.empty() && (c.name == "If" || c.name == "Loop" || c.name == "Scan" || c.name == "SequenceMap");
    bool has_list = false;
    for (call_operand const& o : c.operands) has_list = has_list || o.kind == operand_kind::list;
    int const inputs = c.name == "If" ? 0 : has_list ? -1 : static_cast<int>(c.operands.size());
    int const results = c.outputs < 0 ? -1 : c.outputs + (c.name == "Loop" ? 1 : 0);
    for (call_attribute const& a : c.attributes) {
        if (a.body == nullptr) continue;
        if (a.body->since > c.since) return {rule::body_range, c.since, a.name, {.body = a.body}};
        if (a.body->until < c.until) return {rule::body_range, c.until, a.name, {.body = a.body}};
        if (!known) continue;
        if (inputs >= 0 && a.body->inputs >= 0 && a.body->inputs != inputs)
            return {rule::body_inputs, c.since, a.name, {.count = {a.body->inputs, inputs}}};
        if (results >= 0 && a.body->results >= 0 && a.body->results != results)
            return {rule::body_results, c.since, a.name, {.count = {a.body->results, results}}};
    }
    return {};
}

/// The number of inputs that the node will have, without trailing `absent`.
constexpr int given_inputs(call const& c) {
    int count = static_cast<int>(c.operands.size());
    while (count != 0 && c.operands[static_cast<std::size_t>(count - 1)].kind == operand_kind::absent) --count;
    return count;
}

/// The first version after `schema` that is not deprecated; 0: none.
constexpr int next_legal_version(op_schema const& schema) {
    auto const later = versions(schema.domain(), schema.name(), schema.since(), newest_opset);
    for (int i = 1; i < later.size(); ++i)
        if (!later[i].deprecated()) return later[i].since();
    return 0;
}

} // namespace detail

/// Checks the call against one version of a schema.
template <class Schema>
constexpr broken_rule check_version(call const& c, Schema const& schema) {
    if (auto r = detail::check_inputs(c, schema)) return r;
    if (auto r = detail::check_attributes(c, schema)) return r;
    return detail::check_outputs(c, schema);
}

/// Checks the call against all schema versions in force inside [since, until], which are `all`.
constexpr broken_rule check_call(call const& c, version_range const& all) {
    if (all.empty() || all[0].since() > c.since) {
        int const first = first_version(c.domain, c.name);
        if (!c.domain.empty() && newest_version(c.domain) == 0) return {rule::no_such_domain, c.since, c.domain};
        if (first == 0) return {rule::no_such_operator, c.since, c.name, {.nearest = nearest_name(c.domain, c.name)}};
        return {rule::operator_too_new, c.since, c.name, {.legal_from = first}};
    }
    bool has_body = false;
    for (call_attribute const& a : c.attributes) has_body = has_body || a.body != nullptr;
    for (int i = 0; i != all.size(); ++i) {
        op_schema const schema = all[i];
        if (schema.deprecated())
            return {rule::operator_deprecated,
                    schema.since(),
                    c.name,
                    {.legal_from = detail::next_legal_version(schema), .legal_until = i > 0 ? schema.since() - 1 : 0}};
        if (auto r = check_version(c, schema)) return r;
    }
    if (has_body)
        if (auto r = detail::check_bodies(c)) return r;
    if (!c.domain.empty()) return {};
    auto const gives = [&c](std::string_view name) {
        for (call_attribute const& a : c.attributes)
            if (a.name == name) return true;
        return false;
    };
    if (auto const* b = find_break(c.name, c.since, c.until, detail::given_inputs(c), c.outputs, gives); b != nullptr)
        return {rule::meaning_changed, b->opset, c.name, {.change = b}};
    return {};
}

/// The types that output `index` of a legal call can have in one version of the schema.
template <class Schema>
constexpr type_set result_types_of(call const& c, int index, Schema const& schema) {
    if (schema.output_count() == 0) return {};
    formal const out = schema.output(detail::formal_index(index, schema.output_count()));
    if (index == 0)
        for (call_attribute const& a : c.attributes)
            if (detail::names_result_type(a)) return detail::stated_types(schema, a);
    bool const follows_inputs = out.type_var >= 0 && out.homogeneous;
    return follows_inputs ? detail::bound_types(schema, out.type_var, c.operands, static_cast<int>(c.operands.size()))
                          : out.types;
}
/// The same in any of several versions.
template <class Versions>
constexpr type_set result_types(call const& c, int index, Versions const& all) {
    type_set result;
    for (int i = 0; i != all.size(); ++i) result = result | result_types_of(c, index, all[i]);
    return result;
}
constexpr type_set result_types(call const& c, int index) {
    return result_types(c, index, versions(c.domain, c.name, c.since, c.until));
}

/// The result of a check: the broken rule, or the types that the first output can have.
struct call_outcome {
    broken_rule broken;
    type_set first_result;
};

constexpr call_outcome evaluate(call const& c) {
    version_range const all = versions(c.domain, c.name, c.since, c.until);
    broken_rule const broken = check_call(c, all);
    return {broken, broken ? type_set{} : result_types(c, 0, all)};
}

} // namespace ATON_NAMESPACE::onnx
