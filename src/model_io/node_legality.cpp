// SPDX-License-Identifier: MIT
// Checks one node of a finished graph against the schema of its operator.
#include "node_legality.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model_needs.hpp"

#include <aton/core/error.hpp>
#include <aton/ir/type_rules.hpp>
#include <aton/onnx/attribute_words.hpp>
#include <aton/onnx/call_rules.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

using onnx::formal;

[[noreturn]] void illegal(std::string const& what) { throw illegal_call(what); }

std::string in_quotes(std::string_view text) { return '\'' + std::string(text) + '\''; }

/// The inputs or outputs of a node; both follow the same rules.
struct side {
    bool is_output;
    std::vector<value_id> const& values;
    int formals, min, max;

    [[nodiscard]] formal at(onnx::op_schema const& schema, std::size_t i) const {
        int const k = onnx::detail::formal_index(static_cast<int>(i), formals);
        return is_output ? schema.output(k) : schema.input(k);
    }
    [[nodiscard]] char const* noun() const { return is_output ? "output " : "input "; }
};

void check_count(side const& s, onnx::op_schema const& schema) {
    std::size_t count = s.values.size();
    while (count != 0 && s.values[count - 1] == no_value) --count; // omitted at the end
    auto const n = static_cast<std::int64_t>(count);
    std::string const noun = s.is_output ? " outputs" : " inputs";
    if (n > s.max)
        illegal("has " + std::to_string(n) + noun + ", but at most " + std::to_string(s.max) + " are allowed");
    if (n < s.min)
        illegal("has " + std::to_string(n) + noun + ", but at least " + std::to_string(s.min) + " are required");
    for (std::size_t i = 0; i != count; ++i)
        if (s.values[i] == no_value && s.at(schema, i).kind == onnx::option::single)
            illegal(s.noun() + in_quotes(s.at(schema, i).name) + " is missing");
}

/// Checks known types against the constraints; `bound` has those of the type variables.
void check_types(graph_data const& graph, side const& s, onnx::op_schema const& schema, int version,
                 std::vector<value_type const*>& bound) {
    for (std::size_t i = 0; i != s.values.size(); ++i) {
        if (s.values[i] == no_value) continue;
        value_type const& given = graph.values[s.values[i]].type;
        if (given.dtype == dtype::undefined) continue;
        formal const f = s.at(schema, i);
        if (!f.types.contains(set_of(given))) illegal(refused_type(schema, version, s.is_output, i, given));
        if (f.type_var < 0 || !f.homogeneous) continue;
        value_type const*& known = bound[static_cast<std::size_t>(f.type_var)];
        if (known != nullptr && (known->dtype != given.dtype || known->kind != given.kind))
            illegal(s.noun() + in_quotes(f.name) + " is " + std::string(name(given.dtype)) +
                    ", but another value of the same type is " + std::string(name(known->dtype)));
        known = &given;
    }
}

char const* name_of(onnx::attr_type t) {
    constexpr std::array names{"undefined",
                               "a float",
                               "an integer",
                               "a string",
                               "a tensor",
                               "a graph",
                               "floats",
                               "integers",
                               "strings",
                               "tensors",
                               "graphs",
                               "a sparse tensor",
                               "sparse tensors",
                               "a type",
                               "types"};
    return names[std::min(static_cast<std::size_t>(t), names.size() - 1)];
}

void check_words(onnx::op_schema const& schema, std::string const& attribute, std::vector<std::string> const& values) {
    for (std::string const& each : values)
        if (std::string const why = onnx::refused_word(schema, attribute, each); !why.empty()) illegal(why);
}

void check_attributes(graph_node const& n, onnx::op_schema const& schema) {
    for (node_attribute const& a : n.attributes) {
        int const found = schema.find_attribute(a.name);
        if (found < 0) illegal("has no attribute " + in_quotes(a.name));
        if (onnx::attribute const declared = schema.attr(found); declared.type != a.type)
            illegal("attribute " + in_quotes(a.name) + " is " + name_of(a.type) + ", but must be " +
                    name_of(declared.type));
        auto const same = [&](node_attribute const& other) { return other.name == a.name; };
        if (std::count_if(n.attributes.begin(), n.attributes.end(), same) != 1)
            illegal("attribute " + in_quotes(a.name) + " is given twice");
        if (!a.reference.empty()) continue;
        check_words(schema, a.name, a.type == onnx::attr_type::s ? std::vector{a.s} : a.strings);
    }
    for (int i = 0; i != schema.attribute_count(); ++i)
        if (onnx::attribute const declared = schema.attr(i); declared.required && n.attribute(declared.name) == nullptr)
            illegal("requires the attribute " + in_quotes(declared.name));
}

/// The dtype that an attribute specifies for the first output; undefined if none does.
dtype stated_dtype(graph_node const& n) {
    for (node_attribute const& a : n.attributes) {
        if (!a.reference.empty()) continue;
        bool const is_tensor = a.name == "value" && a.type == onnx::attr_type::t && a.tensors.size() == 1;
        if (is_tensor && (n.op == "Constant" || n.op == "ConstantOfShape")) return a.tensors[0].type;
        bool const is_dtype =
            a.name == "to" || a.name == "dtype" || a.name == "output_dtype" || a.name == "output_datatype";
        if (!is_dtype || a.type != onnx::attr_type::i || a.i == 0) continue;
        dtype const type = dtype_from_onnx(a.i);
        if (type == dtype::undefined)
            illegal("attribute " + in_quotes(a.name) + " is " + std::to_string(a.i) + ", which is not a dtype");
        return type;
    }
    return dtype::undefined;
}

void check_stated_dtype(graph_data const& graph, graph_node const& n, onnx::op_schema const& schema, int version) {
    dtype const stated = stated_dtype(n);
    if (stated == dtype::undefined || n.outputs.empty() || n.outputs[0] == no_value) return;
    value_type type = graph.values[n.outputs[0]].type;
    if (type.dtype != dtype::undefined && type.dtype != stated)
        illegal("returns " + std::string(name(stated)) + ", but its result is declared as " +
                std::string(name(type.dtype)));
    type.dtype = stated;
    if (!schema.output(0).types.contains(set_of(type))) illegal(refused_type(schema, version, true, 0, type));
}

/// Checks the numbers of inputs and outputs of control-flow bodies.
void check_bodies(graph_node const& n) {
    bool const is_if = n.op == "If";
    bool const is_loop = n.op == "Loop";
    if (!plain_domain(n.domain).empty() || (!is_if && !is_loop && n.op != "Scan")) return;
    std::size_t const inputs = is_if ? 0 : is_loop ? std::max<std::size_t>(n.inputs.size(), 2) : n.inputs.size();
    std::size_t const outputs = n.outputs.size() + (is_loop ? 1 : 0);
    for (node_attribute const& a : n.attributes)
        for (graph_data const& body : a.graphs)
            if (body.inputs.size() != inputs || body.outputs.size() != outputs)
                illegal("the graph " + in_quotes(a.name) + " has " + std::to_string(body.inputs.size()) +
                        " inputs and " + std::to_string(body.outputs.size()) + " outputs, but must have " +
                        std::to_string(inputs) + " and " + std::to_string(outputs));
}

} // namespace

void require_legal_node(graph_data const& graph, graph_node const& n, int version) {
    std::string_view const domain = plain_domain(n.domain);
    onnx::op_schema const schema = onnx::find(domain, n.op, version);
    if (!schema) {
        int const first = onnx::first_version(domain, n.op);
        illegal(first == 0 ? std::string("is not an operator of ONNX")
                           : "exists only since opset " + std::to_string(first));
    }
    if (schema.deprecated()) illegal("is deprecated");
    side const in{false, n.inputs, schema.input_count(), schema.min_inputs(), schema.max_inputs()};
    side const out{true, n.outputs, schema.output_count(), schema.min_outputs(), schema.max_outputs()};
    check_count(in, schema);
    check_count(out, schema);
    check_attributes(n, schema);
    std::vector<value_type const*> bound(static_cast<std::size_t>(schema.type_var_count()));
    check_types(graph, in, schema, version, bound);
    check_types(graph, out, schema, version, bound);
    check_stated_dtype(graph, n, schema, version);
    check_bodies(n);
}

std::string made_for(graph_data const& graph, graph_node const& n) {
    std::string out;
    if (!n.source.empty()) out += "; made for " + n.source;
    if (n.origin >= graph.origins.size()) return out;
    node_origin const& from = graph.origins[n.origin];
    std::string const& place = from.source.empty() ? from.name : from.source;
    if (!place.empty()) out += (out.empty() ? "; made at " : " at ") + place;
    return out;
}

} // namespace ATON_NAMESPACE::detail
