// SPDX-License-Identifier: MIT
// Keeps ONNX Runtime from merging padding with zeros into a pool.
#include "padded_pools.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <aton/ir/producers.hpp>
#include <aton/version.hpp>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Whether the node pads with zeros, as far as is known.
bool pads_with_zeros(graph_data const& graph, graph_node const& n) {
    if (n.op != "Pad" || !n.domain.empty()) return false;
    node_attribute const* const mode = n.attribute("mode");
    if (mode != nullptr && mode->s != "constant") return false;
    value_id const number = input(n, 2); // an attribute below opset 11
    tensor const* const t = number == no_value ? nullptr : graph.constant(number);
    return float_attribute(n, "value", 0) == 0 && (t == nullptr || t->at(0).to<double>() == 0);
}

bool is_padded_pool(graph_data const& graph, graph_node const& n) {
    if ((n.op != "MaxPool" && n.op != "AveragePool") || !n.domain.empty()) return false;
    std::int64_t const producer = graph.values[n.inputs[0]].producer;
    return producer >= 0 && n.attribute("kernel_shape") != nullptr &&
           pads_with_zeros(graph, graph.nodes[static_cast<std::size_t>(producer)]);
}

/// Inserts the Reshape of node `at`, so that the node moves one place on.
void separate(graph_data& graph, std::size_t at) {
    graph_node& pool = graph.nodes[at];
    value_type type = graph.values[pool.inputs[0]].type;
    std::size_t const rank = pool.attribute("kernel_shape")->ints.size() + 2;
    std::vector<std::int64_t> const same(rank, 0); // 0: as the operand's
    tensor sizes = int64_tensor(same);
    value_id const target = graph.add_value({sizes.type, shape(sizes.sizes)});
    graph.set_initializer(target, std::move(sizes));
    graph_node reshape;
    reshape.op = "Reshape";
    reshape.source = pool.source;
    reshape.origin = pool.origin;
    reshape.inputs = {pool.inputs[0], target};
    reshape.outputs = {graph.add_value(std::move(type))};
    pool.inputs[0] = reshape.outputs[0];
    graph.nodes.insert(graph.nodes.begin() + static_cast<std::ptrdiff_t>(at), std::move(reshape));
    number_producers(graph, at);
}

} // namespace

void separate_padded_pools(graph_data& graph) {
    for (std::size_t i = 0; i != graph.nodes.size(); ++i) {
        if (is_padded_pool(graph, graph.nodes[i])) separate(graph, i++);
        for (node_attribute& a : graph.nodes[i].attributes)
            for (graph_data& nested : a.graphs) separate_padded_pools(nested);
    }
}

} // namespace ATON_NAMESPACE::passes
