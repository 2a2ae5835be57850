// SPDX-License-Identifier: MIT
// What graphs nested in a node take from the graph around them, which uses those values like operands.
#pragma once

#include <algorithm>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Calls `f` with the id, which it may change, of every captured value. What graphs nested deeper take goes through the outer ones.
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
