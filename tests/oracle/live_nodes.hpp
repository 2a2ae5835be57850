// SPDX-License-Identifier: MIT
// Removes the nodes that no output of a graph needs: only what a mapping made for its results is written and run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <aton/dsl/graph_data.hpp>

namespace oracle {

/// Adds the names that a subgraph takes from outside: values that nothing in it makes.
inline void captured_names(aton::graph_data const& sub, std::set<std::string>& names) {
    for (aton::graph_value const& v : sub.values)
        if (v.producer < 0 && !v.name.empty()) names.insert(v.name);
    for (aton::graph_node const& n : sub.nodes)
        for (aton::node_attribute const& a : n.attributes)
            for (aton::graph_data const& g : a.graphs) captured_names(g, names);
}

/// Keeps the nodes from which an output can be reached, in their order.
inline void remove_dead_nodes(aton::graph_data& graph) {
    std::vector<char> needed(graph.values.size(), 0);
    for (aton::value_id id : graph.outputs) needed[id] = 1;
    std::set<std::string> captured;
    std::vector<aton::graph_node> live;
    for (auto n = graph.nodes.rbegin(); n != graph.nodes.rend(); ++n) {
        bool const used = std::any_of(n->outputs.begin(), n->outputs.end(), [&](aton::value_id id) {
            return needed[id] != 0 || (!graph.values[id].name.empty() && captured.count(graph.values[id].name) != 0);
        });
        if (!used) continue;
        for (aton::value_id id : n->inputs)
            if (id != aton::no_value) needed[id] = 1;
        for (aton::node_attribute const& a : n->attributes)
            for (aton::graph_data const& g : a.graphs) captured_names(g, captured);
        live.push_back(std::move(*n));
    }
    std::reverse(live.begin(), live.end());
    graph.nodes = std::move(live);
    for (std::size_t i = 0; i != graph.nodes.size(); ++i)
        for (aton::value_id id : graph.nodes[i].outputs) graph.values[id].producer = static_cast<std::int64_t>(i);
}

} // namespace oracle
