// SPDX-License-Identifier: MIT
// The graphs of a program that its nodes use: the main one, branches, bodies of loops, what wrappers wrap.
// Internal header.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// The graph that an argument is: an index into p.subgraphs. Nothing: it is no graph, or one that the program does not have.
[[nodiscard]] inline std::optional<std::size_t> subgraph_of(program const& p, argument const& a) {
    if (a.kind != argument_kind::graph || a.integer < 0) return {};
    auto const index = static_cast<std::size_t>(a.integer);
    return index < p.subgraphs.size() ? std::optional(index) : std::nullopt;
}

/// Calls `f` with the main graph, and then with each graph that a node of these has as an argument, once. What `f` takes out of a graph
/// is not followed.
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
