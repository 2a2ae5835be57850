// SPDX-License-Identifier: MIT
// Creates and reads attributes of nodes that are not built by a row.
#pragma once

#include <cstdint>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::exporter {

inline node_attribute make_attribute(std::string_view name, onnx::attr_type type) {
    node_attribute a;
    a.name = name;
    a.type = type;
    return a;
}

inline node_attribute make_attribute(std::string_view name, std::int64_t value) {
    node_attribute a = make_attribute(name, onnx::attr_type::i);
    a.i = value;
    return a;
}

inline node_attribute make_attribute(std::string_view name, std::string_view value) {
    node_attribute a = make_attribute(name, onnx::attr_type::s);
    a.s = value;
    return a;
}

/// An integer attribute; `otherwise` if the node does not have it.
inline std::int64_t int_of(graph_node const& n, std::string_view name, std::int64_t otherwise = 0) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr ? otherwise : a->i;
}

/// A float attribute; `otherwise` if the node does not have it.
inline float float_of(graph_node const& n, std::string_view name, float otherwise) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr ? otherwise : a->f;
}

/// A number as a float attribute. Throws unsupported_error if it is out of range.
[[nodiscard]] float attribute_float(std::string_view name, double value);

} // namespace ATON_NAMESPACE::exporter
