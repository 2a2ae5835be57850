// SPDX-License-Identifier: MIT
// Quantized activations and rows of embeddings in the form that runtimes run fastest.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "make_attribute.hpp"
#include "quantized_graph.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

namespace ir = quantized_ir;

/// The only element of a constant.
std::optional<double> number_of(quantized_graph const& g, graph_node const& n, std::size_t i) {
    auto const t = g.constant(ir::input_of(n, i), 64);
    if (!t || t->element_count() != 1 || !tensor::can_hold(t->type)) return {};
    return t->at(0).to<double>();
}

/// What Quantize makes of a number, as ATen computes it.
std::int64_t quantized(float x, float inverse, double zero, std::int64_t low, std::int64_t high) {
    double const n = std::nearbyint(static_cast<double>(x * inverse)) + zero;
    return n <= static_cast<double>(low) ? low : n >= static_cast<double>(high) ? high : static_cast<std::int64_t>(n);
}

/// A node that limits its input, as limits; nothing for other nodes.
struct float_limits {
    std::optional<double> low, high;
};
std::optional<float_limits> limits_of(quantized_graph const& g, graph_node const& n) {
    if (!n.domain.empty()) return {};
    if (n.op == "Relu") return float_limits{0.0, {}};
    if (n.op != "Clip") return {};
    float_limits out;
    for (std::size_t i = 1; i < n.inputs.size(); ++i) {
        if (n.inputs[i] == no_value) continue;
        auto const bound = number_of(g, n, i);
        if (!bound || std::isnan(*bound)) return {};
        (i == 1 ? out.low : out.high) = bound;
    }
    return out;
}

/// Quantize of Relu or Clip is Quantize to a narrower range.
void absorb_limits(quantized_graph& g, std::size_t at, quantized_style const& style) {
    graph_node& n = g.node(at);
    auto const scale = number_of(g, n, ir::scale);
    auto const zero = number_of(g, n, ir::zero_point);
    auto const inverse = number_of(g, n, ir::inverse);
    if (!scale || !zero || !(*scale > 0)) return;
    auto const by = static_cast<float>(inverse.value_or(1 / *scale));
    for (;;) {
        graph_node const* const before = g.producer(n.inputs[0]);
        auto const limits = before == nullptr ? std::nullopt : limits_of(g, *before);
        auto const readers = g.readers(n.inputs[0]);
        if (!limits || !readers || !std::all_of(readers->begin(), readers->end(), [&](std::size_t i) {
                return ir::is(g.node(i), ir::quantize);
            }))
            return;
        std::int64_t const low = ir::number(n, ir::low_attribute, 0);
        std::int64_t const high = ir::number(n, ir::high_attribute, 0);
        auto const bound = [&](std::optional<double> x, std::int64_t otherwise) {
            return x ? quantized(static_cast<float>(*x), by, *zero, low, high) : otherwise;
        };
        std::int64_t const least = bound(limits->low, low);
        std::int64_t const most = bound(limits->high, high);
        bool const is_whole = least == low && most == high;
        if (least > most || (!is_whole && !style.clips_integers)) return;
        ir::set_number(n, ir::low_attribute, least);
        ir::set_number(n, ir::high_attribute, most);
        value_id const old = n.inputs[0];
        g.set_input(at, 0, before->inputs[0]);
        if (auto const left = g.readers(old); left && left->empty()) g.remove_producer(old);
    }
}

/// Zero points of int8 numbers as those of uint8, 128 greater.
std::optional<tensor> raised(std::optional<tensor> const& zeros) {
    if (!zeros || !is_integral(zeros->type)) return {};
    tensor out{dtype::uint8, zeros->sizes, {}};
    for (std::size_t i = 0; i != static_cast<std::size_t>(zeros->element_count()); ++i) {
        auto const z = zeros->at(i).to<std::int64_t>() + 128;
        if (z < 0 || z > 255) return {};
        out.append(z);
    }
    return out;
}

/// int8 as uint8: ONNX Runtime 1.31 does not load some graphs with int8 since opset 21, and does not fuse others.
void use_unsigned(quantized_graph& g, std::size_t at) {
    graph_node& n = g.node(at);
    auto const readers = g.readers(n.outputs[0]);
    value_id const zero = ir::input_of(n, ir::zero_point);
    if (ir::type_of(n) != dtype::int8 || !readers || readers->empty() || zero == no_value) return;
    auto const moved = raised(g.constant(zero));
    if (!moved) return;
    for (std::size_t const i : *readers) {
        graph_node const& r = g.node(i);
        if (!ir::is(r, ir::dequantize) || r.inputs.size() <= ir::zero_point || ir::type_of(r) != dtype::int8) return;
        if (!raised(g.constant(r.inputs[ir::zero_point]))) return;
    }
    auto const raise = [&](std::size_t i, value_id zeros) {
        graph_node& each = g.node(i);
        g.set_input(i, ir::zero_point, zeros);
        ir::set_number(each, ir::type_attribute, static_cast<std::int64_t>(dtype::uint8));
        for (std::string_view const name : {ir::low_attribute, ir::high_attribute})
            ir::set_number(each, name, ir::number(each, name, 0) + 128);
    };
    value_id const own = g.add_constant(*moved);
    for (std::size_t const i : *readers) {
        auto const theirs = raised(g.constant(g.node(i).inputs[ir::zero_point]));
        raise(i, *theirs == *moved ? own : g.add_constant(*theirs));
    }
    raise(at, own);
    g.graph().values[n.outputs[0]].type.dtype = dtype::uint8;
}

/// The value behind Cast, Reshape, Squeeze and Reciprocal of one element.
graph_node* behind_casts(quantized_graph& g, value_id id) {
    graph_node* n = g.producer(id);
    while (n != nullptr && n->domain.empty() &&
           (n->op == "Cast" || n->op == "Reshape" || n->op == "Squeeze" || n->op == "Unsqueeze"))
        n = g.producer(n->inputs[0]);
    return n;
}

/// DynamicQuantizeLinear for Quantize to all numbers of a byte with the parameters of its input.
bool use_dynamic(quantized_graph& g, std::size_t at) {
    graph_node& n = g.node(at);
    if (n.inputs.size() <= ir::zero_point || ir::has_axis(n) || bits(ir::type_of(n)) != 8) return false;
    graph_node* const chooser = behind_casts(g, n.inputs[ir::scale]);
    if (chooser == nullptr || !ir::is(*chooser, ir::choose_parameters) || chooser->inputs[0] != n.inputs[0] ||
        behind_casts(g, n.inputs[ir::zero_point]) != chooser)
        return false;
    auto const full = [](graph_node const& q) {
        return ir::number(q, ir::high_attribute, 0) - ir::number(q, ir::low_attribute, 0) == 255;
    };
    auto const readers = g.readers(n.outputs[0]);
    if (!full(n) || !full(*chooser) || !readers) return false;
    for (std::size_t const i : *readers) {
        graph_node const& r = g.node(i);
        if (!ir::is(r, ir::dequantize) || behind_casts(g, r.inputs[ir::scale]) != chooser) return false;
    }
    graph_node made;
    made.op = "DynamicQuantizeLinear";
    made.inputs = {n.inputs[0]};
    made.source = n.source;
    made.origin = n.origin;
    value_id const scale = g.graph().add_value({dtype::float32, shape(std::vector<dim>{})});
    value_id const zero = g.graph().add_value({dtype::uint8, shape(std::vector<dim>{})});
    made.outputs = {n.outputs[0], scale, zero};
    g.graph().values[n.outputs[0]].type.dtype = dtype::uint8;
    for (std::size_t const i : *readers) {
        g.set_input(i, ir::scale, scale);
        g.set_input(i, ir::zero_point, zero);
        ir::set_number(g.node(i), ir::type_attribute, static_cast<std::int64_t>(dtype::uint8));
        ir::set_number(g.node(i), ir::low_attribute, 0);
        ir::set_number(g.node(i), ir::high_attribute, 255);
    }
    g.insert(at, std::move(made));
    g.remove(at);
    return true;
}

/// Looks rows up before they are dequantized, not the other way round.
void look_up_integers(quantized_graph& g, std::size_t at) {
    graph_node const n = g.node(at);
    if (n.op != "Gather" || !n.domain.empty() || int_of(n, "axis") != 0) return;
    graph_node const* const weight = g.producer(n.inputs[0]);
    if (weight == nullptr || !ir::is(*weight, ir::dequantize) || weight->inputs.size() > ir::table) return;
    value_id const numbers = weight->inputs[ir::data];
    value_type const& type = g.type(numbers);
    value_type const& result = g.type(n.outputs[0]);
    if (g.producer(numbers) != nullptr || !type.shape.is_static() || type.shape.rank() != 2 || !result.shape.has_rank())
        return;
    std::int64_t const block = ir::number(*weight, ir::block_attribute, 0);
    bool const by_row = ir::has_axis(*weight) && block == 0 && ir::number(*weight, ir::axis_attribute, 0) == 0;
    bool const by_block = block != 0 && ir::number(*weight, ir::axis_attribute, 0) == 1;
    if (block != 0 && !by_block) return;
    auto const looked_up = [&](value_id from, std::int64_t width) {
        value_type t = result;
        t.dtype = g.type(from).dtype;
        std::vector<dim> dims = t.shape.dims();
        dims.back() = width;
        t.shape = shape(std::move(dims));
        return g.add(at, n, "Gather", {from, n.inputs[1]}, std::move(t), {make_attribute("axis", std::int64_t{0})});
    };
    graph_node q = *weight;
    q.source = n.source;
    q.origin = n.origin;
    q.inputs[ir::data] = looked_up(numbers, type.shape[1].size());
    for (std::size_t i = ir::scale; i < q.inputs.size() && (by_row || by_block); ++i) {
        if (q.inputs[i] == no_value) continue;
        std::optional<tensor> p = g.constant(q.inputs[i]);
        if (!p) return;
        if (by_row) p->sizes = {p->element_count(), 1};
        std::int64_t const width = p->sizes.back();
        q.inputs[i] = looked_up(g.add_constant(std::move(*p)), width);
    }
    std::erase_if(q.attributes, [&](node_attribute const& a) { return by_row && a.name == ir::axis_attribute; });
    ir::set_number(q, ir::axis_attribute, static_cast<std::int64_t>(result.shape.rank()) - 1);
    q.outputs = n.outputs;
    g.insert(at, std::move(q));
    g.remove(at);
}

} // namespace

void write_activations(quantized_graph& g, quantized_style const& style) {
    for (std::size_t i = 0; i != g.size(); ++i) {
        look_up_integers(g, i);
        if (!ir::is(g.node(i), ir::quantize)) continue;
        if (style.integer_products && use_dynamic(g, i)) continue;
        if (style.fuses) absorb_limits(g, i, style);
        if (style.unsigned_bytes) use_unsigned(g, i);
    }
}

} // namespace ATON_NAMESPACE::exporter
