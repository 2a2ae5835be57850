// SPDX-License-Identifier: MIT
// Dead code: what no output and no nested graph needs.
#include <aton/exporter/passes.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "captures.hpp"

namespace aton {

void remove_unused(graph_data& graph) {
    std::vector<char> needed(graph.values.size(), 0);
    for (value_id id : graph.outputs) needed[id] = 1;
    std::unordered_set<std::string> captured;
    auto const is_needed = [&](value_id id) {
        if (id == no_value) return false;
        std::string const& name = graph.values[id].name;
        return needed[id] != 0 || (!name.empty() && !captured.empty() && captured.count(name) != 0);
    };
    std::vector<graph_node> live;
    live.reserve(graph.nodes.size());
    for (auto n = graph.nodes.rbegin(); n != graph.nodes.rend(); ++n) {
        if (std::none_of(n->outputs.begin(), n->outputs.end(), is_needed)) {
            for (value_id id : n->outputs)
                if (id != no_value) graph.values[id].producer = -1;
            continue;
        }
        for (value_id id : n->inputs)
            if (id != no_value) needed[id] = 1;
        for (node_attribute const& a : n->attributes)
            for (graph_data const& nested : a.graphs)
                passes::for_each_capture(nested, [&](std::string const& name) { captured.insert(name); });
        live.push_back(std::move(*n));
    }
    std::reverse(live.begin(), live.end());
    graph.nodes = std::move(live);
    for (std::size_t i = 0; i != graph.nodes.size(); ++i)
        for (value_id id : graph.nodes[i].outputs)
            if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(i);
    for (value_id id : graph.inputs) needed[id] = 1; // the default of an input belongs to it
    std::vector<graph_initializer> kept;
    for (graph_initializer& i : graph.initializers) {
        bool const used = is_needed(i.value);
        graph.values[i.value].initializer = used ? static_cast<std::int64_t>(kept.size()) : -1;
        if (used) kept.push_back(std::move(i));
    }
    graph.initializers = std::move(kept);
}

} // namespace aton
