// SPDX-License-Identifier: MIT
// Checks a node of ONNX Runtime's domain com.microsoft, which a domain of the user's may declare otherwise.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

/// Throws illegal_call with the problem, without the position: a call that the runtime does not have, or a dtype that it does not take.
/// `has_body`: the model has a function of this name, which the runtime uses only if it has no such operator.
void require_legal_contrib_node(graph_data const& graph, graph_node const& n, bool has_body);

} // namespace ATON_NAMESPACE::detail
