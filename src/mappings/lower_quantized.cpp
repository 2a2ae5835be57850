// SPDX-License-Identifier: MIT
#include <aton/mappings/lower_quantized.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <aton/ir/quantized.hpp>
#include <aton/mappings/detail/quantized_forms.hpp>

namespace ATON_NAMESPACE::mappings {

namespace {

namespace ir = quantized_ir;

optional_value operand_of(graph_data& graph, graph_node const& n, std::size_t i) {
    value_id const id = ir::input_of(n, i);
    return id == no_value ? optional_value() : optional_value(value(graph, id));
}

quantization_scheme scheme_of(graph_data& graph, graph_node const& n) {
    quantization_scheme s{.scale = *operand_of(graph, n, ir::scale),
                          .zero_point = operand_of(graph, n, ir::zero_point)};
    s.type = ir::type_of(n);
    s.low = ir::number(n, ir::low_attribute, 0);
    s.high = ir::number(n, ir::high_attribute, 0);
    if (ir::has_axis(n)) s.axis = ir::number(n, ir::axis_attribute, 0);
    s.block = ir::number(n, ir::block_attribute, 0);
    (n.op == ir::quantize ? s.inverse : s.table) = operand_of(graph, n, ir::inverse);
    return s;
}

/// The values that a node stands for.
std::vector<value> expansion_of(graph_data& data, graph_node const& n, quantize_form form) {
    dsl::graph<11> const g(data, data.opset);
    value const x(data, n.inputs[0]);
    if (n.op == ir::choose_parameters) {
        auto const eps = n.attribute(ir::eps_attribute)->f;
        auto const chosen = detail::choose_by_arithmetic(
            g, x, ir::number(n, ir::low_attribute, 0), ir::number(n, ir::high_attribute, 0), eps);
        return {chosen.scale, chosen.zero_point};
    }
    quantization_scheme const s = scheme_of(data, n);
    if (n.op == ir::dequantize) {
        optional_value const y = detail::dequantize_linearly(g, x, s);
        return {y ? *y : detail::dequantize_by_arithmetic(g, x, s)};
    }
    optional_value y = absent;
    if (form == quantize_form::linear || detail::is_exact_scale(s.scale)) y = detail::quantize_linearly(g, x, s);
    return {y ? *y : detail::quantize_by_arithmetic(g, x, s)};
}

void append_node(graph_data& graph, graph_node n) {
    for (value_id const id : n.outputs)
        if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(n));
}

/// Makes `made`, which only its node knows, the value `id`.
void name_as(graph_data& graph, value const& made, value_id id, graph_node const& like, std::size_t first) {
    std::int64_t const producer = graph.values[made.id()].producer;
    if (producer < static_cast<std::int64_t>(first)) { // it was there before
        graph_node same;
        same.op = "Identity";
        same.inputs = {made.id()};
        same.outputs = {id};
        same.source = like.source;
        same.origin = like.origin;
        return append_node(graph, std::move(same));
    }
    for (value_id& out : graph.nodes[static_cast<std::size_t>(producer)].outputs)
        if (out == made.id()) out = id;
    graph.values[id].producer = producer;
    graph.values[made.id()].producer = -1;
}

void lower_graph(graph_data& graph, quantize_form form, graph_data* around) {
    graph_data* const before = std::exchange(graph.around, around); // for constants of the graph around it
    node_context const context = graph.context;
    std::vector<graph_node> nodes = std::exchange(graph.nodes, {});
    for (graph_node& n : nodes) {
        for (node_attribute& a : n.attributes)
            for (graph_data& inner : a.graphs) lower_graph(inner, form, &graph);
        if (n.domain != ir::domain) {
            append_node(graph, std::move(n));
            continue;
        }
        graph.context = {};
        graph.context.exact_nan = context.exact_nan;
        graph.context.overload = n.source;
        graph.context.origin = n.origin;
        std::size_t const first = graph.nodes.size();
        std::vector<value> const made = expansion_of(graph, n, form);
        for (std::size_t i = 0; i != n.outputs.size(); ++i)
            if (n.outputs[i] != no_value) name_as(graph, made[i], n.outputs[i], n, first);
    }
    graph.context = context;
    graph.around = before;
}

bool has_quantized(graph_data const& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](graph_node const& n) {
        return n.domain == ir::domain ||
               std::any_of(n.attributes.begin(), n.attributes.end(), [](node_attribute const& a) {
                   return std::any_of(a.graphs.begin(), a.graphs.end(), has_quantized);
               });
    });
}

} // namespace

bool lower_quantized(graph_data& graph, quantize_form form) {
    bool found = has_quantized(graph);
    if (found) lower_graph(graph, form, nullptr);
    for (graph_function& f : graph.functions)
        for (graph_data& body : f.body) found = lower_quantized(body, form) || found;
    return found;
}

} // namespace ATON_NAMESPACE::mappings
