// SPDX-License-Identifier: MIT
// Removes dead code from a graph, its nested graphs and its functions.
#include <aton/ir/producers.hpp>
#include <aton/passes/passes.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "captures.hpp"
#include "functions.hpp"

namespace ATON_NAMESPACE {

namespace {

void remove_unused_values(graph_data& graph) {
    std::vector<char> needed(graph.values.size(), 0);
    auto const need = [&](value_id id) {
        if (id != no_value) needed[id] = 1;
    };
    auto const is_needed = [&](value_id id) { return id != no_value && needed[id] != 0; };
    std::for_each(graph.outputs.begin(), graph.outputs.end(), need);
    std::vector<graph_node> live;
    live.reserve(graph.nodes.size());
    for (auto n = graph.nodes.rbegin(); n != graph.nodes.rend(); ++n) {
        if (std::none_of(n->outputs.begin(), n->outputs.end(), is_needed)) {
            for (value_id id : n->outputs)
                if (id != no_value) graph.values[id].producer = -1;
            continue;
        }
        std::for_each(n->inputs.begin(), n->inputs.end(), need);
        for (node_attribute& a : n->attributes)
            for (graph_data& nested : a.graphs) remove_unused_values(nested);
        passes::for_each_capture(*n, need);
        live.push_back(std::move(*n));
    }
    std::reverse(live.begin(), live.end());
    graph.nodes = std::move(live);
    number_producers(graph);
    std::for_each(graph.inputs.begin(), graph.inputs.end(), need); // keep the default values of inputs
    std::vector<graph_initializer> kept;
    for (graph_initializer& i : graph.initializers) {
        bool const used = is_needed(i.value);
        graph.values[i.value].initializer = used ? static_cast<std::int64_t>(kept.size()) : -1;
        if (used) kept.push_back(std::move(i));
    }
    graph.initializers = std::move(kept);
    for (value_id id = 0; id != graph.values.size(); ++id)
        if (needed[id] == 0) graph.values[id].outer = no_value;
}

void mark_calls(graph_data const& graph, passes::function_table const& functions, std::vector<char>& called) {
    for (graph_node const& n : graph.nodes) {
        for (node_attribute const& a : n.attributes)
            for (graph_data const& nested : a.graphs) mark_calls(nested, functions, called);
        std::size_t const i = functions.find(n);
        if (i == passes::function_table::none || called[i] != 0) continue;
        called[i] = 1;
        for (graph_data const& body : functions[i].body) mark_calls(body, functions, called);
    }
}

} // namespace

void remove_unused(graph_data& graph) {
    remove_unused_values(graph);
    if (graph.functions.empty()) return;
    for (graph_function& f : graph.functions)
        for (graph_data& body : f.body) remove_unused_values(body);
    std::vector<char> called(graph.functions.size(), 0);
    mark_calls(graph, passes::function_table(graph), called);
    std::vector<graph_function> kept;
    for (std::size_t i = 0; i != called.size(); ++i)
        if (called[i] != 0) kept.push_back(std::move(graph.functions[i]));
    graph.functions = std::move(kept);
}

} // namespace ATON_NAMESPACE
