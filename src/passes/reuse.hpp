// SPDX-License-Identifier: MIT
// The nodes of a sweep by their operators, operands and attributes.
#pragma once

#include <cstddef>
#include <unordered_map>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

class graph_editor;

class known_nodes {
public:
    void clear() { nodes_.clear(); }
    /// Replaces a node by an earlier equal one, or records it as the next one of the graph. Whether it was replaced.
    bool reuse(graph_editor& g, graph_node const& n);

private:
    std::unordered_map<std::size_t, std::size_t> nodes_; // by hash
};

} // namespace ATON_NAMESPACE::passes
