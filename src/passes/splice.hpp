// SPDX-License-Identifier: MIT
// Puts the nodes of one graph into another: a branch of an If, the body of a function.
#pragma once

#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// In the list given to splice(): a value that the other graph does not have yet.
inline constexpr value_id to_be_made = no_value - 1;

/// The nodes of `from`, in terms of the values of `to`, which gets new values, initializers, origins and domains; the caller appends
/// the nodes. `ids` says for each value of `from` which value of `to` it is, no_value: it is skipped where it is an operand. Those to
/// be made are filled in. Nodes that do not say what they are made for are made for what `call` is.
[[nodiscard]] std::vector<graph_node> splice(graph_data& to, graph_data from, std::vector<value_id>& ids,
                                             graph_node const& call);

} // namespace ATON_NAMESPACE::passes
