// SPDX-License-Identifier: MIT
// An example of a rewrite as a graph: one variant of its pattern.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/fusions/built_in.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/print.hpp>
#include <aton/passes/passes.hpp>
#include <aton/passes/patterns.hpp>
#include <aton/targets/built_in.hpp>

#include "decoder_examples.hpp"
#include "examples.hpp"
#include "target_examples.hpp"

namespace fusion_tests {

/// The built-in rewrites of nodes and those of the built-in targets. Those of ATen calls are run by
/// tests/exporter/recomposition_run_test.py.
inline std::vector<aton::rewrite_entry> every_rewrite() {
    std::vector<aton::rewrite_entry> all;
    auto const add = [&](aton::rewrites_view table) {
        std::copy_if(table.begin(), table.end(), std::back_inserter(all), [&](aton::rewrite_entry const& r) {
            auto const is_same = [&](aton::rewrite_entry const& other) { return other.build == r.build; };
            return !r.pattern.is_of_calls() && std::none_of(all.begin(), all.end(), is_same);
        });
    };
    add(aton::fusions::built_in_rewrites());
    for (aton::targets::target const* t : aton::targets::built_in_targets()) {
        add(t->rewrites);
        add(t->last_rewrites);
    }
    return all;
}
inline std::vector<example> every_example() {
    std::vector<example> all = all_examples();
    for (std::vector<example> const& more : {target_examples(), decoder_examples()})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

/// The nodes of a variant, whose results are the outputs of the graph.
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
    graph.outputs = aton::instantiate(graph, rewrite.pattern, variant, captures);
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
