// SPDX-License-Identifier: MIT
// Keeps the producers of values right when the nodes of a graph have changed.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Sets the producers of the results of all nodes from `first` on, which were added, removed or reordered.
inline void number_producers(graph_data& graph, std::size_t first = 0) {
    for (std::size_t i = first; i != graph.nodes.size(); ++i)
        for (value_id const id : graph.nodes[i].outputs)
            if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(i);
}

} // namespace ATON_NAMESPACE
