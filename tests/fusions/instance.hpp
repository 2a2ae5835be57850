// SPDX-License-Identifier: MIT
// An example of a rewrite as a graph: one variant of its pattern.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/print.hpp>
#include <aton/passes/passes.hpp>
#include <aton/passes/patterns.hpp>

#include "examples.hpp"

namespace fusion_tests {

/// The nodes of a variant, whose result is the output of the graph.
inline aton::graph_data instance(aton::rewrite_entry const& rewrite, aton::pattern_variant const& variant,
                                 example const& e, int opset) {
    aton::graph_data graph;
    graph.opset = opset;
    std::vector<captured> captures;
    for (std::size_t i = 0; i != e.captures.size(); ++i) {
        part const& p = e.captures[i];
        captures.push_back(p.other);
        if (p.is_value)
            captures.back().value =
                graph.add_input('x' + std::to_string(i), aton::value_type{p.value.type, p.value.shape});
    }
    graph.outputs.push_back(aton::instantiate(graph, rewrite.pattern, variant, captures));
    return graph;
}

inline std::string optimized(aton::graph_data& graph, std::span<aton::rewrite_entry const> rewrites) {
    std::deque<aton::stored_tensor> weights;
    aton::optimize(graph, weights, {.rewrites = rewrites});
    std::string ops;
    for (aton::graph_node const& n : graph.nodes) ops += (ops.empty() ? "" : " ") + n.op;
    return ops;
}

} // namespace fusion_tests
