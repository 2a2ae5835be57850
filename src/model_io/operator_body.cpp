// SPDX-License-Identifier: MIT
// Bodies of operators that ONNX defines as functions of other operators.
#include <aton/model_io/operator_body.hpp>

#include <exception>
#include <map>
#include <string>
#include <vector>

#include "graph_writer.hpp"
#include "proto.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#include <onnx/defs/schema.h>
#pragma GCC diagnostic pop

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE {

namespace {

::onnx::OpSchema const* find_schema(std::string_view domain, std::string_view op, int opset) {
    return ::onnx::OpSchemaRegistry::Schema(std::string(op), opset, std::string(domain));
}

using attributes = std::map<std::string, ::onnx::AttributeProto const*, std::less<>>;

/// Replaces references to attributes of the call by their values. An attribute without a value or default is removed.
void fill_in(google::protobuf::RepeatedPtrField<::onnx::NodeProto>& nodes, attributes const& given) {
    for (::onnx::NodeProto& n : nodes) {
        google::protobuf::RepeatedPtrField<::onnx::AttributeProto> kept;
        for (::onnx::AttributeProto& a : *n.mutable_attribute()) {
            if (a.has_g()) fill_in(*a.mutable_g()->mutable_node(), given);
            auto const found = given.find(a.ref_attr_name());
            if (!a.ref_attr_name().empty() && found == given.end()) continue;
            std::string const name = a.name();
            *kept.Add() = a.ref_attr_name().empty() ? a : *found->second;
            kept.rbegin()->set_name(name);
        }
        n.mutable_attribute()->Swap(&kept);
    }
}

/// A model whose graph is the body.
::onnx::ModelProto model_of(::onnx::FunctionProto const& f) {
    ::onnx::ModelProto model;
    *model.mutable_opset_import() = f.opset_import();
    ::onnx::GraphProto& g = *model.mutable_graph();
    g.set_name(f.name());
    for (std::string const& i : f.input()) g.add_input()->set_name(i);
    for (std::string const& o : f.output()) g.add_output()->set_name(o);
    *g.mutable_node() = f.node();
    return model;
}

} // namespace

bool has_operator_body(std::string_view domain, std::string_view op, int opset) {
    ::onnx::OpSchema const* const schema = find_schema(domain, op, opset);
    return schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction());
}

graph_data operator_body(graph_node const& call, int opset, std::span<value_type const> inputs) {
    std::string const what = call.op + " (opset " + std::to_string(opset) + ")";
    ::onnx::OpSchema const* const schema = find_schema(call.domain, call.op, opset);
    if (schema == nullptr) detail::refuse("ONNX has no operator " + what);
    ::onnx::NodeProto node;
    std::vector<::onnx::TypeProto> types;
    detail::graph_writer(0).write_call(call, node);
    for (value_type const& t : inputs) detail::write_type(t, types.emplace_back());
    for (auto const& [name, a] : schema->attributes()) {
        bool given = false;
        for (::onnx::AttributeProto const& known : node.attribute()) given = given || known.name() == name;
        if (!given && a.default_value.has_type()) {
            *node.add_attribute() = a.default_value;
            node.mutable_attribute()->rbegin()->set_name(name);
        }
    }
    ::onnx::FunctionProto body;
    try {
        ::onnx::FunctionBodyBuildContextImpl const context(node, types);
        bool built =
            schema->HasContextDependentFunction() && schema->BuildContextDependentFunction(context, body, opset);
        if (!built && schema->HasFunction()) {
            ::onnx::FunctionProto const* const fixed = schema->GetFunction(opset);
            built = fixed != nullptr;
            if (built) body = *fixed;
        }
        if (!built) detail::refuse("ONNX has no body for " + what + " with these operands");
    } catch (error const&) {
        throw;
    } catch (std::exception const& e) {
        throw error(what + ": " + detail::one_line(e.what()));
    }
    attributes given;
    for (::onnx::AttributeProto const& a : node.attribute()) given.emplace(a.name(), &a);
    fill_in(*body.mutable_node(), given);
    return detail::read_model_proto(model_of(body), what).graph;
}

} // namespace ATON_NAMESPACE
