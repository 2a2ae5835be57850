// SPDX-License-Identifier: MIT
// Runs the passes over an ONNX graph until nothing changes, and then over its nested graphs.
#include <aton/passes/passes.hpp>

#include <algorithm>

#include <aton/ir/nested_types.hpp>

#include "padded_pools.hpp"
#include "rewrite_index.hpp"
#include "rewriter.hpp"
#include "short_sorts.hpp"
#include "widening.hpp"

namespace ATON_NAMESPACE {

namespace {

void optimize_level(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options,
                    passes::rewrite_index const& rewrites, passes::rewriter* outer) {
    constexpr int max_sweeps = 12;
    passes::rewriter r(graph, weights, options, rewrites, outer);
    passes::sweep(r, false); // merge equal nodes before weights are rewritten for them
    for (int i = 1; i != max_sweeps && passes::sweep(r, true);) ++i;
    for (graph_node& n : graph.nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) optimize_level(nested, weights, options, rewrites, &r);
}

bool has_references(graph_data const& graph) {
    for (graph_node const& n : graph.nodes)
        for (node_attribute const& a : n.attributes)
            if (!a.reference.empty() || std::any_of(a.graphs.begin(), a.graphs.end(), has_references)) return true;
    return false;
}

} // namespace

void optimize(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options) {
    remove_unused(graph);
    passes::widen_before_rewrites(graph);
    for (graph_function& f : graph.functions)
        for (graph_data& body : f.body) {
            if (has_references(body)) continue; // depends on attributes of the call
            clear_types(body, false);
            optimize_level(
                body, weights, {false}, {{}, graph.opset}, nullptr); // without types, on which rewrites depend
            if (options.avoid_runtime_faults) passes::separate_padded_pools(body);
        }
    optimize_level(graph, weights, options, {options.rewrites, graph.opset}, nullptr);
    passes::shorten_sorts(graph);
    if (options.avoid_runtime_faults) passes::separate_padded_pools(graph);
    remove_unused(graph);
}

} // namespace ATON_NAMESPACE
