// SPDX-License-Identifier: MIT
// Runs the passes over an ONNX graph until nothing changes, and then over its nested graphs.
#include <aton/passes/passes.hpp>

#include <algorithm>
#include <string_view>

#include <aton/ir/nested_types.hpp>

#include "padded_pools.hpp"
#include "quantized_weights.hpp"
#include "rewrite_index.hpp"
#include "rewriter.hpp"
#include "short_sorts.hpp"
#include "widening.hpp"

namespace ATON_NAMESPACE {

namespace {

bool may_step(pass_options const& options) { return options.trace == nullptr || options.trace->may_step(); }

/// A pass over the whole graph. It is a step of the trace, and runs if that allows another one.
template <class Function>
void run_pass(pass_options const& options, std::string_view name, graph_data const& graph, Function const& pass) {
    pass_trace* const trace = options.trace;
    if (trace == nullptr) return pass();
    if (!trace->may_step()) return;
    pass();
    trace->record(name, {});
    trace->finish(name, graph);
}

/// Sweeps over one graph, without those nested in it. `whole`: calls the trace after each sweep; null for a part of a graph.
void sweep_level(passes::rewriter& r, pass_options const& options, graph_data const* whole) {
    constexpr int max_sweeps = 12;
    if (options.trace != nullptr && r.changes() != 0) options.trace->record("share-constants", {});
    auto const sweep = [&](bool with_weights) {
        bool const changed = passes::sweep(r, with_weights);
        if (whole != nullptr && options.trace != nullptr) options.trace->finish("simplify", *whole);
        return changed;
    };
    sweep(false); // merge equal nodes before weights are rewritten for them
    for (int i = 1; i != max_sweeps && sweep(true);) ++i;
}

void optimize_nested(passes::rewriter& r, std::deque<stored_tensor>& weights, pass_options const& options,
                     passes::rewrite_index const& rewrites) {
    for (graph_node& n : r.graph().nodes)
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) {
                if (!may_step(options)) return;
                passes::rewriter inner(nested, weights, options, rewrites, &r);
                sweep_level(inner, options, nullptr);
                optimize_nested(inner, weights, options, rewrites);
            }
}

bool has_references(graph_data const& graph) {
    for (graph_node const& n : graph.nodes)
        for (node_attribute const& a : n.attributes)
            if (!a.reference.empty() || std::any_of(a.graphs.begin(), a.graphs.end(), has_references)) return true;
    return false;
}

} // namespace

void optimize(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options) {
    auto const run = [&](std::string_view name, auto const& pass) { run_pass(options, name, graph, pass); };
    auto const finish = [&](std::string_view name) {
        if (options.trace != nullptr) options.trace->finish(name, graph);
    };
    run("remove-unused", [&] { remove_unused(graph); });
    if (options.avoid_runtime_faults) run("widen-dtypes", [&] { passes::widen_before_rewrites(graph); });
    for (graph_function& f : graph.functions)
        for (graph_data& body : f.body) {
            if (has_references(body) || !may_step(options)) continue; // depends on attributes of the call
            clear_types(body, false);
            pass_options const plain{.rewrite_weights = false,
                                     .trace = options.trace}; // without types, on which rewrites depend
            passes::rewrite_index const none({}, graph.opset);
            passes::rewriter r(body, weights, plain, none);
            sweep_level(r, plain, nullptr);
            optimize_nested(r, weights, plain, none);
            finish("simplify-functions");
            if (options.avoid_runtime_faults)
                run("separate-padded-pools", [&] { passes::separate_padded_pools(body); });
        }
    if (may_step(options)) {
        passes::rewrite_index const rewrites(options.rewrites, graph.opset);
        if (options.keeps_integers && options.rewrite_weights) {
            passes::rewriter first(graph, weights, options, rewrites);
            passes::sweep(first, false); // sizes become constants
            run("recognize-quantized-weights", [&] { passes::recognize_quantized_weights(graph); });
        }
        passes::rewriter r(graph, weights, options, rewrites);
        sweep_level(r, options, &graph);
        optimize_nested(r, weights, options, rewrites);
        finish("simplify-nested");
    }
    run("shorten-sorts", [&] { passes::shorten_sorts(graph); });
    if (options.avoid_runtime_faults) run("separate-padded-pools", [&] { passes::separate_padded_pools(graph); });
    run("remove-unused", [&] { remove_unused(graph); });
}

} // namespace ATON_NAMESPACE
