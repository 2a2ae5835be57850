// SPDX-License-Identifier: MIT
// Renumbers the nodes of a graph, with their nested graphs, for another graph.
#include "splice.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "captures.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Omits a captured value, which has no outer value, from all operands.
void skip_value(graph_data& graph, value_id id) {
    for (graph_node& n : graph.nodes) {
        std::replace(n.inputs.begin(), n.inputs.end(), id, no_value);
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs)
                for (value_id inner = 0; inner != nested.values.size(); ++inner)
                    if (nested.values[inner].outer == id) {
                        nested.values[inner].outer = no_value;
                        skip_value(nested, inner);
                    }
    }
}

} // namespace

std::vector<graph_node> splice(graph_data& to, graph_data from, std::vector<value_id>& ids, graph_node const& call) {
    for (value_id id = 0; id != from.values.size(); ++id) {
        if (ids[id] == no_value) skip_value(from, id);
        if (ids[id] != unassigned) continue;
        graph_value& v = from.values[id];
        ids[id] = to.add_value(std::move(v.type), std::move(v.name));
        to.values[ids[id]].wrapped_number = v.wrapped_number;
    }
    for (graph_initializer& i : from.initializers) to.set_initializer(ids[i.value], std::move(i.data), i.stored);
    for (auto const& [domain, version] : from.opset_imports) to.import_domain(domain, version);
    std::vector<std::uint32_t> origins(from.origins.size(), call.origin);
    for (std::size_t i = 1; i < from.origins.size(); ++i) {
        origins[i] = static_cast<std::uint32_t>(to.origins.size());
        to.origins.push_back(std::move(from.origins[i]));
    }
    for (graph_node& n : from.nodes) {
        for (std::vector<value_id>* list : {&n.inputs, &n.outputs})
            for (value_id& id : *list)
                if (id != no_value) id = ids[id];
        while (!n.inputs.empty() && n.inputs.back() == no_value) n.inputs.pop_back();
        for_each_capture(n, [&](value_id& id) { id = ids[id]; });
        n.origin = n.origin < origins.size() ? origins[n.origin] : call.origin;
        if (n.source.empty()) n.source = call.source;
    }
    return std::move(from.nodes);
}

} // namespace ATON_NAMESPACE::passes
