// SPDX-License-Identifier: MIT
// The types of a declared operator's results: by the rules of its declaration, and compared with its body and its infer<...> rule.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/core/shape.hpp>
#include <aton/dsl/value.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/shapes/context.hpp>
#include <aton/onnx/declared_schema.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// Applies the rules of the outputs, like(X) and broadcast(X, Y).
template <class Graph>
void infer_by_declaration(Graph& graph, graph_node const& node, onnx::declared_schema schema) {
    for (std::size_t i = 0; i != node.outputs.size() && static_cast<int>(i) < schema.output_count(); ++i) {
        onnx::output_rule const& rule = schema.rule(static_cast<int>(i));
        auto const input = [&](std::int8_t at) -> value_type const* {
            auto const k = static_cast<std::size_t>(std::int64_t{at});
            return k < node.inputs.size() && node.inputs[k] != no_value ? &graph.values[node.inputs[k]].type : nullptr;
        };
        value_type& out = graph.values[node.outputs[i]].type;
        value_type const* const first = rule.is == onnx::output_rule::kind::none ? nullptr : input(rule.first);
        if (first == nullptr) continue;
        if (rule.is == onnx::output_rule::kind::like) {
            dtype const known = out.dtype;
            out = *first;
            if (known != dtype::undefined) out.dtype = known;
        } else if (value_type const* const second = input(rule.second);
                   second != nullptr && first->shape.has_rank() && second->shape.has_rank()) {
            out.shape = shape(shapes::broadcast(first->shape.dims(), second->shape.dims()));
        }
    }
}

/// Refuses a type of an output that contradicts its declaration or the operands; `by` is its origin, for the message.
template <class Graph, class Type>
void require_declared(Graph const& graph, graph_node const& node, onnx::declared_schema schema, std::size_t output,
                      Type const& type, std::string_view by) {
    if (type.dtype == dtype::undefined) return;
    int const last = schema.output_count() - 1;
    onnx::formal const& formal = schema.output(static_cast<int>(output) < last ? static_cast<int>(output) : last);
    dtype const bound = output < node.outputs.size() ? graph.values[node.outputs[output]].type.dtype : type.dtype;
    bool const follows = bound == dtype::undefined || bound == type.dtype;
    if (follows && formal.types.contains(set_of(type))) return;
    throw illegal_call(node.domain + "::" + node.op + ": output '" + std::string(formal.name) + "' is " +
                       std::string(name(type.dtype)) + " according to " + std::string(by) +
                       (follows ? ", which its declaration does not allow"
                                : ", but " + std::string(name(bound)) + " according to its declaration"));
}

/// A rule of an output as it is written: " = like(X)"; the types of an output without one come from infer<...>.
template <class Schema>
std::string rule_text(Schema const& schema, std::size_t output) {
    auto const& rule = schema.rule(static_cast<int>(output));
    if (rule.is == onnx::output_rule::kind::none) return "its infer<...> rule";
    std::string out = "its declaration, ";
    out += rule.is == onnx::output_rule::kind::like ? "like(" : "broadcast(";
    out += schema.input(rule.first).name;
    if (rule.is == onnx::output_rule::kind::broadcast) (out += ", ") += schema.input(rule.second).name;
    return out + ')';
}

template <class Shape>
std::string shape_text(Shape const& s) {
    std::string out;
    for (auto const& d : s.dims()) {
        if (!out.empty()) out += ", ";
        if (d.is_static()) out += std::to_string(d.size());
        else out += d.is_symbolic() ? d.symbol() : std::string_view("*");
    }
    return '[' + out + ']';
}

/// Refuses a shape of a result of the body that contradicts the declared one. Sizes that are not known fit any.
template <class Graph, class Shape>
void require_declared_shape(Graph const& graph, graph_node const& node, onnx::declared_schema schema,
                            std::size_t output, Shape const& computed) {
    Shape const& declared = graph.values[node.outputs[output]].type.shape;
    if (!declared.has_rank() || !computed.has_rank()) return;
    bool fits = declared.rank() == computed.rank();
    for (std::size_t i = 0; fits && i != declared.rank(); ++i) {
        dim const& a = declared.dims()[i];
        dim const& b = computed.dims()[i];
        fits = !a.is_static() || !b.is_static() || a.size() == b.size();
    }
    if (fits) return;
    throw illegal_call(node.domain + "::" + node.op + ": output '" +
                       std::string(schema.output(static_cast<int>(output)).name) + "' is " + shape_text(computed) +
                       " according to its body, but " + shape_text(declared) + " according to " +
                       rule_text(schema, output));
}

/// Refuses results of a body that do not match the outputs of a call, and removes those from the first absent one on, which the call does
/// not ask for.
template <class Values, class Node>
void drop_absent_results(Values& results, Node const& node, onnx::declared_schema schema) {
    if (results.size() != static_cast<std::size_t>(schema.output_count()))
        throw illegal_call(node.op + ": the body returns " + std::to_string(results.size()) +
                           " values, but the operator has " + std::to_string(schema.output_count()) + " outputs");
    std::size_t present = results.size();
    for (std::size_t i = results.size(); i-- != 0;) {
        if (results[i].id() != no_value) continue;
        present = i;
        onnx::formal const& formal = schema.output(static_cast<int>(i));
        std::string const what = node.domain + "::" + node.op + ": output '" + std::string(formal.name) + "' ";
        if (formal.kind != onnx::option::optional)
            throw illegal_call(what + "is absent in the body, but not optional in the declaration");
        if (i < node.outputs.size())
            throw unsupported_error(what + "is used by the call, but its body returns nothing for it");
    }
    results.resize(present);
}

} // namespace ATON_NAMESPACE::dsl::detail
