// SPDX-License-Identifier: MIT
// One node of a finished graph against the schema of its operator.
#pragma once

#include <string>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

/// Throws illegal_call, which says what is wrong and not where. `version` is that of the node's domain, which is one of ONNX's.
void require_legal_node(graph_data const& graph, graph_node const& n, int version);

/// "; made for aten::add.Tensor at model.py:12 in forward": the end of a message on a node; empty where nothing is known.
[[nodiscard]] std::string made_for(graph_data const& graph, graph_node const& n);

} // namespace ATON_NAMESPACE::detail
