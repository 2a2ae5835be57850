// SPDX-License-Identifier: MIT
// Checks one node of a finished graph against the schema of its operator.
#pragma once

#include <string>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

/// Throws illegal_call with the problem, without the position. `version` is that of the node's domain, which ONNX defines.
void require_legal_node(graph_data const& graph, graph_node const& n, int version);

/// "; made for aten::add.Tensor at model.py:12 in forward": the end of a message about a node; empty if the origin is unknown.
[[nodiscard]] std::string made_for(graph_data const& graph, graph_node const& n);

} // namespace ATON_NAMESPACE::detail
