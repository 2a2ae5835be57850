// SPDX-License-Identifier: MIT
// The types of the inputs of nested graphs: what their node says of them, and what the body of a function may say for every call.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/shape.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// The number of inputs of a nested graph whose types do not follow from operands: iteration number and condition of Loop.
template <class Node>
std::size_t count_fixed_inputs(Node const& node) {
    return node.op == "Loop" && node.domain.empty() ? 2 : 0;
}

namespace detail {

/// The type of a Scan input in the body: without the scanned axis.
template <class Type>
Type scanned(Type t, std::int64_t axis) {
    if (!t.shape.has_rank()) return t;
    auto rest = t.shape.dims();
    if (axis < 0) axis += static_cast<std::int64_t>(rest.size());
    if (axis >= 0 && axis < static_cast<std::int64_t>(rest.size())) rest.erase(rest.begin() + axis);
    t.shape = shape(rest);
    return t;
}

} // namespace detail

/// The types of the inputs of a node's nested graphs, for a node that has its operands and other attributes.
/// (The type of the list is a parameter, so that an include instantiates nothing of it.)
template <class Graph, class Node, class Type = value_type>
auto nested_input_types(Graph const& graph, Node const& node) {
    std::vector<Type> types;
    if (node.op == "If" || !node.domain.empty()) return types;
    std::size_t const first = count_fixed_inputs(node);
    if (first != 0) {
        types.push_back({dtype::int64, shape(std::vector<dim>()), value_kind::tensor});
        types.push_back({dtype::bool_, shape(std::vector<dim>()), value_kind::tensor});
    }
    std::size_t const count = node.inputs.size();
    auto const* const scan_inputs = node.attribute("num_scan_inputs");
    auto const* const scan_axes = node.attribute("scan_input_axes");
    std::size_t const scans = scan_inputs == nullptr ? 0 : static_cast<std::size_t>(scan_inputs->i);
    for (std::size_t i = first; i < count; ++i) {
        Type t = node.inputs[i] == no_value ? Type{} : graph.values[node.inputs[i]].type;
        if (node.op == "Loop" && t.kind == value_kind::tensor) t.shape = shape(); // may change between iterations
        if (node.op == "SequenceMap" && t.kind == value_kind::sequence) t.kind = value_kind::tensor;
        if (node.op == "Scan" && scans <= count && i >= count - scans) {
            std::size_t const k = i - (count - scans);
            t = detail::scanned(std::move(t),
                                scan_axes != nullptr && k < scan_axes->ints.size() ? scan_axes->ints[k] : 0);
        }
        types.push_back(std::move(t));
    }
    return types;
}

/// Fills in what is not known of the types of a nested graph's inputs.
template <class Graph, class Types>
void complete_nested_inputs(Graph& nested, Types const& types) {
    for (std::size_t i = 0; i < nested.inputs.size() && i < types.size(); ++i) {
        auto& known = nested.values[nested.inputs[i]].type;
        if (known.dtype == dtype::undefined) {
            known.dtype = types[i].dtype;
            known.kind = types[i].kind;
        }
        if (!known.shape.has_rank()) known.shape = types[i].shape;
    }
}

/// Clears the types in the body of a function, because calls differ in shapes and, unless `keep_dtypes`, in dtypes. Runtimes need those of
/// iteration numbers and conditions, which stay.
template <class Graph, class Type = value_type>
void clear_types(Graph& body, bool keep_dtypes) {
    for (auto& v : body.values)
        if (v.initializer < 0) v.type = {keep_dtypes ? v.type.dtype : dtype::undefined, shape(), v.type.kind};
    for (auto& n : body.nodes) {
        std::size_t const fixed = count_fixed_inputs(n);
        for (auto& a : n.attributes)
            for (auto& nested : a.graphs) {
                std::vector<Type> types;
                for (std::size_t i = 0; i < fixed && i < nested.inputs.size(); ++i)
                    types.push_back(nested.values[nested.inputs[i]].type);
                clear_types(nested, keep_dtypes);
                complete_nested_inputs(nested, types);
                auto all = nested_input_types(body, n);
                if (all.size() > fixed) all.resize(fixed);
                complete_nested_inputs(nested, all);
            }
    }
}

} // namespace ATON_NAMESPACE
