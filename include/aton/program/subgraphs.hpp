// SPDX-License-Identifier: MIT
// Iterates over the graphs that a program uses: the main graph, branches, loop bodies and wrapped graphs.
// Internal header.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// The index in p.subgraphs of a graph argument; nullopt if it is not a graph, or out of range.
[[nodiscard]] inline std::optional<std::size_t> subgraph_of(program const& p, argument const& a) {
    if (a.kind != argument_kind::graph || a.index < 0) return {};
    auto const index = static_cast<std::size_t>(a.index);
    return index < p.subgraphs.size() ? std::optional(index) : std::nullopt;
}

/// Calls `f` once with the main graph and with each graph that is reachable from it through arguments of nodes. `f` may change the graph; the
/// nodes that it leaves there are followed.
template <class Function>
void for_each_graph(program& p, Function const& f) {
    std::vector<bool> seen(p.subgraphs.size());
    std::vector<graph*> left{&p.main};
    while (!left.empty()) {
        graph& g = *left.back();
        left.pop_back();
        f(g);
        for (node const& n : g.nodes)
            for (argument const& a : n.arguments)
                if (auto const index = subgraph_of(p, a); index.has_value() && !seen[*index]) {
                    seen[*index] = true;
                    left.push_back(&p.subgraphs[*index]);
                }
    }
}

} // namespace ATON_NAMESPACE::program
