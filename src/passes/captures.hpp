// SPDX-License-Identifier: MIT
// Values that graphs nested in a node capture from the outer graph; they count as operands of the node.
#pragma once

#include <algorithm>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Calls `f` with the id, which it may change, of every captured value. Captures of deeper graphs go through the outer ones.
template <class Node, class Function>
void for_each_capture(Node& n, Function const& f) {
    for (auto& a : n.attributes)
        for (auto& nested : a.graphs)
            for (auto& v : nested.values)
                if (v.outer != no_value) f(v.outer);
}

inline bool has_graphs(graph_node const& n) {
    return std::any_of(
        n.attributes.begin(), n.attributes.end(), [](node_attribute const& a) { return !a.graphs.empty(); });
}

} // namespace ATON_NAMESPACE::passes
