// SPDX-License-Identifier: MIT
// Whether a node meets what a runtime asks of it.
// Internal header.
#pragma once

#include <string>

#include <aton/ir/graph.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

/// Why a node does not meet a condition, after its operator's name: "needs a constant axes"; empty if it does. Where a
/// rank, a dtype or a size is not known, the condition holds, except for those that ask for known ones.
[[nodiscard]] std::string broken(graph_data const& g, graph_node const& n, int opset, node_condition const& c);

/// Whether there are such conditions: their words, and how many values they take.
[[nodiscard]] bool is_known(node_condition const& c);

} // namespace ATON_NAMESPACE::targets
