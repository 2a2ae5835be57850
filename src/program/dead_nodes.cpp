// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <aton/program/program.hpp>

#include "subgraphs.hpp"

namespace aton::program {

void remove_dead_nodes(program& p) {
    std::vector<bool> needed(p.values.size());
    auto const need = [&needed](argument const& a) {
        for (value_index v : a.values)
            if (v != no_value) needed[v] = true;
    };
    // An operator that is not torch's, and that nobody knows, is there for what it does.
    auto const may_write = [](node const& n) {
        return n.kind == node_kind::aten && n.schema.empty() && !n.is_functional;
    };
    auto const is_needed = [&needed](node const& n) {
        return std::any_of(n.results.begin(), n.results.end(), [&](result const& r) {
            return std::any_of(
                r.values.begin(), r.values.end(), [&](value_index v) { return v != no_value && needed[v]; });
        });
    };

    for_each_graph(p, [&](graph& g) {
        for (argument const& each : g.outputs) need(each);
        std::vector<bool> stays(g.nodes.size());
        for (std::size_t i = g.nodes.size(); i-- > 0;) {
            stays[i] = is_needed(g.nodes[i]);
            if (!stays[i] && may_write(g.nodes[i])) {
                stays[i] = true;
                g.nodes[i].results.clear();
            }
            if (!stays[i]) continue;
            for (argument const& each : g.nodes[i].arguments) need(each);
        }
        std::size_t i = 0;
        std::erase_if(g.nodes, [&](node const&) { return !stays[i++]; });
    });
}

} // namespace aton::program
