// SPDX-License-Identifier: MIT
// One node of a finished graph against the schema of its operator.
#pragma once

#include <aton/dsl/graph_data.hpp>

namespace aton::detail {

/// Throws illegal_call, which says what is wrong and not where. `version` is that of the node's domain, which is one of ONNX's.
void require_legal_node(graph_data const& graph, graph_node const& n, int version);

} // namespace aton::detail
