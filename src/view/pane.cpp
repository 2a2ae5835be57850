// SPDX-License-Identifier: MIT
// Which node of a program a node of its graph was made from, and panes as JSON.
#include "pane.hpp"

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ATON_NAMESPACE::view {

std::size_t string_pool::number_of(std::string const& text) {
    auto const [at, is_new] = numbers_.try_emplace(text, all_.size());
    if (is_new) all_.push_back(text);
    return at->second;
}

void find_origins(pane& graph, pane const& program) {
    std::unordered_map<std::string, index> by_name;  ///< "OWNER/NAME", where OWNER is the number of the node around it
    std::unordered_map<std::string, index> anywhere; ///< by the name alone; -1: several
    std::unordered_map<std::string, index> by_result;
    auto const key = [](index owner, std::string const& name) { return std::to_string(owner) + '/' + name; };
    for (std::size_t i = 0; i != program.nodes.size(); ++i) {
        pane_node const& n = program.nodes[i];
        index const owner = program.graphs[static_cast<std::size_t>(n.graph)].owner;
        by_name.try_emplace(key(owner, n.name), static_cast<index>(i));
        if (auto const [at, is_new] = anywhere.try_emplace(n.name, static_cast<index>(i)); !is_new) at->second = -1;
        for (index const v : n.results)
            by_result.try_emplace(program.values[static_cast<std::size_t>(v)].name, static_cast<index>(i));
    }
    for (pane_node& n : graph.nodes) { // a node comes before those in its graphs
        index const owner = graph.graphs[static_cast<std::size_t>(n.graph)].owner;
        index const around = owner < 0 ? -1 : graph.nodes[static_cast<std::size_t>(owner)].origin;
        for (index const scope : {around, index{-1}}) {
            auto const found = by_name.find(key(scope, n.name));
            if (n.origin < 0 && !n.name.empty() && found != by_name.end()) n.origin = found->second;
        }
        for (index const v : n.results) {
            auto const found = by_result.find(graph.values[static_cast<std::size_t>(v)].name);
            if (n.origin < 0 && found != by_result.end()) n.origin = found->second;
        }
        if (auto const found = anywhere.find(n.name); n.origin < 0 && found != anywhere.end()) n.origin = found->second;
        if (n.origin < 0) n.origin = around;
    }
}

void add_comparison(pane& program, std::vector<compared_node> const& nodes) {
    std::unordered_map<std::string_view, compared_node const*> by_name;
    for (compared_node const& n : nodes) by_name.try_emplace(n.name, &n);
    for (pane_node& n : program.nodes)
        if (auto const found = by_name.find(n.name); n.graph == 0 && found != by_name.end()) n.compared = found->second;
}

void write_pane(json_writer& out, string_pool& strings, pane const& p) {
    out.begin_object().field("kind", p.kind);
    out.name("values").array(p.values, [&](pane_value const& v) {
        out.begin_array().value(v.name).value(strings.number_of(v.type)).value(static_cast<int>(v.role)).end_array();
    });
    out.name("graphs").array(p.graphs, [&](pane_graph const& g) {
        out.new_line().begin_object().field("label", g.label).field("owner", g.owner).name("inputs").array(g.inputs);
        out.name("outputs").array(g.outputs, [&](std::pair<std::string, index> const& o) {
            out.begin_array().value(o.first).value(o.second).end_array();
        });
        out.end_object();
    });
    auto const optional = [&](std::string_view name, std::string const& text) {
        if (!text.empty()) out.field(name, strings.number_of(text));
    };
    out.name("nodes").array(p.nodes, [&](pane_node const& n) {
        out.new_line().begin_object().field("graph", n.graph).field("op", strings.number_of(n.op));
        out.field("name", n.name).name("inputs").array(n.inputs).name("results").array(n.results);
        optional("overload", n.overload);
        optional("module", n.module);
        optional("type", n.module_type);
        optional("source", n.source);
        optional("code", n.code);
        optional("refusal", n.refusal);
        if (n.origin >= 0) out.field("origin", n.origin);
        if (n.compared != nullptr) {
            out.field("verdict", static_cast<int>(n.compared->verdict)).name("error").value(n.compared->error, 3);
            optional("why", n.compared->why);
            if (n.compared->is_first_divergence) out.field("first", true);
        }
        if (!n.attributes.empty())
            out.name("attributes").array(n.attributes, [&](std::pair<std::string, std::string> const& a) {
                out.begin_array().value(strings.number_of(a.first)).value(strings.number_of(a.second)).end_array();
            });
        out.end_object();
    });
    out.end_object();
}

} // namespace ATON_NAMESPACE::view
