// SPDX-License-Identifier: MIT
// Appends Constant nodes: of numbers, or of attributes of the call whose function is built. Counts what one call may add.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/type_rules.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::dsl::detail {

/// Counts new nodes and values, and refuses a call that exceeds budget::max_nodes.
template <class Graph>
void count_nodes(Graph& graph, std::size_t more) {
    std::uint32_t& left = graph.context.nodes_left;
    if (more > left)
        throw unsupported_error("more than " + std::to_string(budget::max_nodes) + " nodes for one operator");
    if (left != node_context::unlimited) left -= static_cast<std::uint32_t>(more);
}

/// Refuses a constant whose bytes do not match its sizes, such as one of a dtype that append() does not support.
template <class = void>
void expect_whole(tensor const& data) {
    std::int64_t const count = data.element_count();
    std::size_t const width = bits(data.type);
    bool const countable = width != 0 && count <= static_cast<std::int64_t>(data.bytes.size()) * 8;
    bool const fits = data.type == dtype::string
                          ? count == static_cast<std::int64_t>(data.strings.size())
                          : countable && data.bytes.size() == (static_cast<std::size_t>(count) * width + 7) / 8;
    if (!fits)
        throw unsupported_error("a constant of " + std::to_string(count) + " elements of " +
                                std::string(name(data.type)) + " has " + std::to_string(data.bytes.size()) + " bytes");
}

/// Appends a Constant node; all constants of a graph are made here. Below opset 9, where Constant supports only floating-point numbers,
/// other constants become initializers, except in functions, which cannot have them.
template <class Graph>
value_id append_constant(Graph& graph, tensor data) {
    expect_whole(data);
    bool const is_initializer = graph.opset < 9 && !is_floating(data.type) && !graph.in_function;
    if (onnx::op_schema const schema = onnx::find("", "Constant", graph.opset); schema && !is_initializer)
        require_type(schema, graph.opset, true, 0, {data.type, shape(), value_kind::tensor});
    std::uint32_t& left = graph.context.constant_bytes_left;
    if (data.bytes.size() > left)
        throw unsupported_error("constants of more than " + std::to_string(budget::max_constant_bytes >> 20U) +
                                " MiB for one operator");
    if (left != node_context::unlimited) left -= static_cast<std::uint32_t>(data.bytes.size());
    count_nodes(graph, 1);
    value_id const id = graph.add_value({data.type, shape(data.sizes)});
    if (is_initializer) {
        graph.set_initializer(id, std::move(data));
        return id;
    }
    graph.values[id].producer = static_cast<std::int64_t>(graph.nodes.size());
    auto& node = graph.nodes.emplace_back();
    node.op = "Constant";
    node.outputs.push_back(id);
    node.source = graph.context.overload;
    node.origin = graph.context.origin;
    auto& payload = node.attributes.emplace_back();
    payload.name = "value";
    payload.type = onnx::attr_type::t;
    payload.tensors.push_back(std::move(data));
    return id;
}

/// Appends a Constant that refers to an attribute of the call whose function is built, and has its type in this call. Below opset 13 there are
/// no functions: it has the value.
template <class Graph, class Attribute>
value_id append_reference(Graph& graph, Attribute const& given) {
    using onnx::attr_type;
    bool const is_list = given.type == attr_type::floats || given.type == attr_type::strings;
    bool const is_text = given.type == attr_type::s || given.type == attr_type::strings;
    tensor data;
    if (given.type == attr_type::t) data = given.tensors.at(0);
    else if (given.type == attr_type::i) data = scalar_tensor(given.i, dtype::int64);
    else if (given.type == attr_type::ints) data = int64_tensor(given.ints);
    else data.type = is_text ? dtype::string : dtype::float32;
    if (is_list) data.sizes = {static_cast<std::int64_t>(given.floats.size() + given.strings.size())};
    if (given.type == attr_type::f) data.append(given.f);
    if (given.type == attr_type::s) data.strings = {given.s};
    for (float f : given.floats) data.append(f);
    if (given.type == attr_type::strings) data.strings = given.strings;
    value_id const id = append_constant(graph, std::move(data));
    if (graph.opset < 13) return id;
    Attribute& payload = graph.nodes.back().attributes.at(0);
    payload = given;
    payload.reference = given.name;
    payload.name = given.type == attr_type::t         ? "value"
                   : given.type == attr_type::f       ? "value_float"
                   : given.type == attr_type::i       ? "value_int"
                   : given.type == attr_type::s       ? "value_string"
                   : given.type == attr_type::floats  ? "value_floats"
                   : given.type == attr_type::strings ? "value_strings"
                                                      : "value_ints";
    return id;
}

} // namespace ATON_NAMESPACE::dsl::detail
