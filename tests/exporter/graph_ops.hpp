// SPDX-License-Identifier: MIT
// The operators of a graph, without constants.
#pragma once

#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/passes/passes.hpp>

namespace aton::tests {

/// In the order of the nodes.
inline std::vector<std::string> ops_of(graph_data const& g) {
    std::vector<std::string> out;
    for (graph_node const& n : g.nodes)
        if (n.op != "Constant") out.push_back(n.op);
    return out;
}

/// The same without nodes whose results nothing uses.
inline std::vector<std::string> used_ops_of(graph_data graph) {
    remove_unused(graph);
    return ops_of(graph);
}

} // namespace aton::tests
