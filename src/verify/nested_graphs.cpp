// SPDX-License-Identifier: MIT
#include "nested_graphs.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace ATON_NAMESPACE::verify {

namespace {

/// "(Neg, Add)": what a reader recognizes a graph by.
std::string operators_in(graph_data const& g) {
    std::string out;
    for (graph_node const& n : g.nodes) {
        if (n.op == "Constant" && n.domain.empty()) continue;
        out += (out.empty() ? "" : ", ") + n.op;
    }
    return out.empty() ? "" : " (" + out + ')';
}

std::string name_of(graph_node const& node, std::string_view attribute, graph_data const& body) {
    return "the " + std::string(attribute) + operators_in(body) + " of " + node.op;
}

} // namespace

nested_graphs::counted& nested_graphs::find(std::string what) {
    auto const known = std::ranges::find(all_, what, &counted::what);
    return known != all_.end() ? *known : all_.emplace_back(counted{std::move(what)});
}

void nested_graphs::watch(graph_data const& g, runtime::onnx_options& options) {
    add(g);
    options.on_nested_graph = [this](graph_node const& node, graph_data const& body) { note(node, body); };
}

void nested_graphs::add(graph_data const& g) {
    for (graph_node const& n : g.nodes)
        for (node_attribute const& a : n.attributes)
            for (graph_data const& body : a.graphs) {
                (void)find(name_of(n, a.name, body));
                add(body);
            }
    for (graph_function const& f : g.functions)
        for (graph_data const& body : f.body) add(body);
}

void nested_graphs::note(graph_node const& node, graph_data const& body) {
    for (node_attribute const& a : node.attributes)
        for (graph_data const& each : a.graphs)
            if (&each == &body) find(name_of(node, a.name, body)).ran = true;
}

std::string nested_graphs::not_run() const {
    auto const first = std::ranges::find(all_, false, &counted::ran);
    return first == all_.end() ? "" : first->what;
}

} // namespace ATON_NAMESPACE::verify
