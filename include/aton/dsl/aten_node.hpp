// SPDX-License-Identifier: MIT
// `g.at<"pow">(x, attr_f<"exponent">(2.0))`: a node that calls ATen itself, for runtimes that have it; checked against ATen's schemas.
// The node is operator ATen of domain org.pytorch.aten with the attributes `operator` and, if the call names it, `overload_name`.
// Tensors are its inputs in schema order. Every other argument is an attribute with its name; a Tensor[] adds one for its length.
// Internal header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/aten/schema_table.hpp>
#include <aton/core/fixed_string.hpp>
#include <aton/core/nearest.hpp>
#include <aton/dsl/call.hpp>
#include <aton/dsl/diagnosis.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

enum class aten_rule : std::uint8_t {
    none,
    aten_operator,
    aten_operand,
    aten_operands,
    aten_argument,
    aten_attribute_type,
    aten_twice,
    aten_missing,
    aten_optional,
    aten_outputs,
};

struct aten_fault {
    aten_rule rule = aten_rule::none;
    std::string_view schema = {}; ///< of the overload that matches best
    std::string_view culprit = {};
    std::string_view wanted = {};
    int given = 0;
};

/// The attributes that an argument takes, for messages; empty: none, as for a tensor or a type that ONNX cannot express.
constexpr std::string_view attributes_for(aten::schema_type const& t) {
    using aten::base_type;
    switch (t.base) {
    case base_type::scalar:
    case base_type::float_:
    case base_type::sym_float: return t.list ? "attr_f with a list" : "attr_f or attr_i";
    case base_type::int_:
    case base_type::sym_int: return t.list ? "attr_i with a list or a number" : "attr_i";
    case base_type::bool_:
    case base_type::sym_bool: return t.list ? "attr_i with a list" : "attr_i";
    case base_type::scalar_type: return "attr_i or attr_s";
    case base_type::str:
    case base_type::layout:
    case base_type::device:
    case base_type::memory_format: return t.list ? "attr_s with a list" : "attr_s";
    default: return {};
    }
}

constexpr bool takes_attribute(aten::schema_type const& t, onnx::attr_type given) {
    using aten::base_type;
    using onnx::attr_type;
    switch (t.base) {
    case base_type::scalar:
    case base_type::float_:
    case base_type::sym_float:
        return t.list ? given == attr_type::floats || given == attr_type::ints
                      : given == attr_type::f || given == attr_type::i;
    case base_type::int_:
    case base_type::sym_int: return given == attr_type::i || (t.list && given == attr_type::ints);
    case base_type::bool_:
    case base_type::sym_bool: return given == (t.list ? attr_type::ints : attr_type::i);
    case base_type::scalar_type: return given == attr_type::i || given == attr_type::s;
    case base_type::str:
    case base_type::layout:
    case base_type::device:
    case base_type::memory_format: return given == (t.list ? attr_type::strings : attr_type::s);
    default: return false;
    }
}

/// Checks that each attribute names an argument that is not a tensor.
template <std::size_t N>
constexpr aten_fault check_attribute_names(std::string_view schema, call_facts<N> const& f) {
    aten::schema_argument a;
    for (std::size_t i = 0; i != f.attribute_count; ++i) {
        int position = 0;
        std::string_view const name = f.attributes[i].name;
        if (aten::find_argument(schema, name, a, position)) {
            if (a.type.base == aten::base_type::tensor) return {aten_rule::aten_attribute_type, schema, name};
            continue;
        }
        bool const old_dtype = name == "type" && aten::find_argument(schema, "dtype", a, position); // Caffe2's name
        if (!old_dtype) return {aten_rule::aten_argument, schema, name, aten::nearest_argument(schema, name)};
    }
    return {aten_rule::none, schema};
}

/// Checks the attribute for an argument that is not a tensor.
template <std::size_t N>
constexpr aten_fault check_attribute(std::string_view schema, call_facts<N> const& f, aten::schema_argument const& a) {
    bool given = false;
    bool optional = false;
    for (std::size_t i = 0; i != f.attribute_count; ++i) {
        if (f.attributes[i].name != a.name) continue;
        if (given) return {aten_rule::aten_twice, schema, a.name};
        if (!takes_attribute(a.type, f.attributes[i].type))
            return {aten_rule::aten_attribute_type, schema, a.name, attributes_for(a.type)};
        given = true;
        optional = f.attributes[i].optional;
    }
    bool const required = !a.has_default && !a.type.optional && a.type.base != aten::base_type::generator;
    if (!given && required) return {aten_rule::aten_missing, schema, a.name, a.type.text};
    if (optional && required) return {aten_rule::aten_optional, schema, a.name, a.type.text};
    return {aten_rule::none, schema};
}

constexpr bool takes_operand(aten::schema_type const& t, onnx::operand_kind given) {
    using onnx::operand_kind;
    if (t.list) return given == operand_kind::list;
    return given == operand_kind::value ||
           ((given == operand_kind::absent || given == operand_kind::optional_value) && t.optional);
}

/// Checks the number of results, which is negative for a list.
constexpr aten_fault check_outputs(std::string_view schema, int given, bool asks_outputs) {
    int const results = aten::return_count(schema);
    aten::return_cursor returns(schema);
    aten::schema_return r;
    bool const is_list = results == 1 && returns.next(r) && r.type.list;
    bool const fits = is_list ? given < 0 : given == results || (results == 0 && !asks_outputs);
    if (!fits) return {aten_rule::aten_outputs, schema, {}, {}, is_list ? -1 : results};
    return {aten_rule::none, schema};
}

/// Checks a call against one overload.
template <std::size_t N>
constexpr aten_fault check_overload(std::string_view schema, call_facts<N> const& f, bool asks_outputs) {
    if (aten_fault const fault = check_attribute_names(schema, f); fault.rule != aten_rule::none) return fault;
    std::size_t operand = 0;
    aten::schema_argument a;
    aten::argument_cursor arguments(schema);
    while (arguments.next(a)) {
        if (a.type.base != aten::base_type::tensor) {
            if (aten_fault const fault = check_attribute(schema, f, a); fault.rule != aten_rule::none) return fault;
        } else if (operand != f.operand_count) {
            if (!takes_operand(a.type, f.operands[operand++].kind))
                return {aten_rule::aten_operand, schema, a.name, a.type.text};
        } else if (!a.type.optional && !a.has_default) {
            return {aten_rule::aten_missing, schema, a.name, a.type.text};
        }
    }
    if (operand != f.operand_count)
        return {aten_rule::aten_operands, schema, {}, {}, static_cast<int>(f.operand_count)};
    return check_outputs(schema, f.output_count, asks_outputs);
}

/// Whether an overload writes to an argument, like foo.out and foo_, which a graph cannot call.
constexpr bool writes(std::string_view schema) {
    aten::argument_cursor arguments(schema);
    aten::schema_argument a;
    while (arguments.next(a))
        if (a.type.mutates) return true;
    return false;
}

/// The name of a call with its namespace, "aten::" by default.
constexpr sentence qualified(std::string_view name) {
    sentence s;
    if (find_text(name, "::") == std::string_view::npos) s << "aten::";
    return s << name;
}

/// Checks a call against the overload that it names, or else against all overloads of the operator, one of which must match.
template <std::size_t N>
constexpr aten_fault check_aten(std::string_view name, call_facts<N> const& f, bool asks_outputs) {
    sentence const full = qualified(name);
    if (name.find('.') != std::string_view::npos) {
        std::string_view const schema = aten::find_schema(full.view());
        return schema.empty() ? aten_fault{aten_rule::aten_operator} : check_overload(schema, f, asks_outputs);
    }
    bool exact = false;
    aten_fault first{aten_rule::aten_operator};
    for (std::size_t i = aten::detail::lower_bound(full.view(), exact); i != aten::schema_count(); ++i) {
        if (aten::detail::table_op(i) != full.view()) break;
        std::string_view const schema = aten::schema_at(i);
        if (writes(schema) || (f.operand_count != 0 && find_text(schema, "Tensor") == std::string_view::npos)) continue;
        aten_fault const fault = check_overload(schema, f, asks_outputs);
        if (fault.rule == aten_rule::none) return fault;
        if (first.rule == aten_rule::aten_operator) first = fault;
    }
    return first;
}

constexpr sentence describe(aten_fault const& fault, std::string_view name) {
    sentence s;
    std::string_view const overload = aten::parse_head(fault.schema).qualified;
    if (fault.rule == aten_rule::aten_operator) {
        sentence const full = qualified(name);
        std::string_view const near = aten::nearest_overload(full.view());
        s << full.view() << ": no such ATen operator";
        return near.empty() ? s : s << "; did you mean " << near << "?";
    }
    s << overload << ": ";
    switch (fault.rule) {
    case aten_rule::aten_operand:
        return s << "argument " << fault.culprit << " is " << fault.wanted << "; the operand is of another kind";
    case aten_rule::aten_operands: return s << fault.given << " operands given, more than it has tensor arguments";
    case aten_rule::aten_argument:
        s << "no argument " << fault.culprit;
        return fault.wanted.empty() ? s : s << "; did you mean " << fault.wanted << "?";
    case aten_rule::aten_attribute_type:
        s << "argument " << fault.culprit;
        return fault.wanted.empty() ? s << " cannot be an attribute" : s << " takes " << fault.wanted;
    case aten_rule::aten_twice: return s << "argument " << fault.culprit << " is given twice";
    case aten_rule::aten_missing: return s << "argument " << fault.culprit << " (" << fault.wanted << ") is missing";
    case aten_rule::aten_optional:
        return s << "argument " << fault.culprit << " (" << fault.wanted
                 << ") is a std::optional, which may be empty; give the value";
    case aten_rule::aten_outputs:
        if (fault.given < 0) return s << "returns a list; ask for it with output_list(n)";
        return s << "returns " << fault.given << (fault.given == 1 ? " result" : " results") << "; ask for outputs<"
                 << fault.given << ">";
    default: return s;
    }
}

/// A checked call of ATen.
template <fixed_string Name, class... Args>
struct aten_call {
    static constexpr auto facts = sort_arguments<Args...>();
    static constexpr bool asks_outputs = (false || ... || (outputs_asked<Args> != 0));
    static constexpr aten_fault fault =
        facts.unusable != 0 ? aten_fault{} : check_aten(Name.view(), facts, asks_outputs);
    static constexpr bool legal = facts.unusable == 0 && fault.rule == aten_rule::none;

    static constexpr sentence describe_problem() {
        if (facts.unusable == 0) return describe(fault, Name.view());
        sentence s;
        return s << qualified(Name.view()).view() << ": argument " << facts.unusable
                 << " is not a value, list of values, attribute or outputs<n>";
    }
    static constexpr sentence problem = legal ? sentence{} : describe_problem();

    /// The name without its namespace, "add.Tensor", split into operator and overload.
    static constexpr std::string_view bare = Name.view().substr(
        find_text(Name.view(), "::") == std::string_view::npos ? 0 : find_text(Name.view(), "::") + 2);
    static constexpr std::size_t dot = bare.find('.');
    static constexpr std::string_view op = bare.substr(0, dot);
    static constexpr std::string_view overload =
        dot == std::string_view::npos ? std::string_view{} : bare.substr(dot + 1);

    /// The name of the Tensor[] argument with this index.
    static constexpr std::string_view list_name(std::size_t number) {
        aten::argument_cursor arguments(fault.schema);
        aten::schema_argument a;
        std::size_t lists = 0;
        while (arguments.next(a))
            if (a.type.base == aten::base_type::tensor && a.type.list && lists++ == number) return a.name;
        return {};
    }
    /// Adds the attribute with the number of inputs of a list.
    template <class Node, class T>
    static void add_count(Node& node, [[maybe_unused]] T const& argument, [[maybe_unused]] std::size_t& lists) {
        if constexpr (is_value_list<T>)
            node.add_integer(list_name(lists++), static_cast<std::int64_t>(std::span<value const>(argument).size()));
    }

    /// One value; an array for outputs<n>; a vector for output_list.
    static auto results(graph_data& g, value_id first, std::size_t count) {
        if constexpr (facts.output_count < 0) {
            safe_vector<value> all;
            for (std::size_t i = 0; i != count; ++i) all.emplace_back(g, first + static_cast<value_id>(i));
            return all;
        } else if constexpr (legal && asks_outputs) {
            return [&]<std::size_t... I>(std::index_sequence<I...>) {
                return std::array<value, sizeof...(I)>{value(g, first + static_cast<value_id>(I))...};
            }(std::make_index_sequence<static_cast<std::size_t>(facts.output_count)>{});
        } else {
            return value(g, first);
        }
    }
};

/// Appends the node of a checked call and returns its results.
template <class Checked, class... Args>
auto append_aten_call(graph_data& graph, int opset, Args const&... args) {
    node_builder<graph_data> node(graph, aten_domain, "ATen", {}, 1, opset);
    graph.import_domain(aten_domain, 1);
    node.add(attr_s<"operator">(Checked::op));
    if constexpr (!Checked::overload.empty()) node.add(attr_s<"overload_name">(Checked::overload));
    if constexpr (Checked::legal) (node.add(args), ...);
    if constexpr (Checked::legal && (false || ... || is_value_list<Args>)) {
        std::size_t lists = 0;
        (Checked::add_count(node, args, lists), ...);
    }
    value_id const first = node.finish();
    return Checked::results(graph, first, graph.values.size() - first);
}

} // namespace detail

} // namespace ATON_NAMESPACE::dsl
