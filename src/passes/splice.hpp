// SPDX-License-Identifier: MIT
// Moves the nodes of one graph into another, for branches of If and bodies of functions.
#pragma once

#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// In the list passed to splice(): a value that does not exist in the other graph yet.
inline constexpr value_id unassigned = no_value - 1;

/// Returns the nodes of `from` in terms of the values of `to`, for the caller to append, and adds values, initializers, origins and domains
/// to `to`. `ids` maps values of `from` to values of `to`: no_value omits an operand, and unassigned ones are created and filled in. Nodes
/// without an origin get that of `call`.
[[nodiscard]] std::vector<graph_node> splice(graph_data& to, graph_data from, std::vector<value_id>& ids,
                                             graph_node const& call);

} // namespace ATON_NAMESPACE::passes
