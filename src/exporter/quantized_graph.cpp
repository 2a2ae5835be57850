// SPDX-License-Identifier: MIT
#include "quantized_graph.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/ir/producers.hpp>
#include <aton/model_io/weights.hpp>

#include "make_attribute.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

/// Whether it has at least two dimensions, and enough elements.
bool is_integer_weight(graph_data const& graph, graph_initializer const& i) {
    value_type const& type = graph.values[i.value].type;
    dtype const t = type.dtype;
    return is_integral(t) && t != dtype::bool_ && bits(t) <= 32 && type.shape.has_rank() && type.shape.rank() >= 2 &&
           type.shape.element_count_or(0) >= quantized_ir::min_weight_elements;
}

} // namespace

bool is_quantized(graph_data const& graph) {
    for (graph_node const& n : graph.nodes) {
        if (n.domain == quantized_ir::domain) return true;
        for (node_attribute const& a : n.attributes)
            if (std::any_of(a.graphs.begin(), a.graphs.end(), is_quantized)) return true;
    }
    return std::any_of(graph.initializers.begin(), graph.initializers.end(), [&](graph_initializer const& i) {
        return is_integer_weight(graph, i);
    });
}

quantized_style style_of(export_options const& options) {
    quantized_style out;
    bool const is_symmetric = options.target != nullptr && options.target->is_symmetric;
    if (options.quantization == quantization_mode::exact) {
        out.fuses = out.integer_products = false;
    } else if (is_symmetric) {
        out.clips_integers = out.integer_products = false;
    } else if (options.target != nullptr && options.target->has_onnxruntime_kernels) {
        out.has_n_bits = true;
        out.accuracy_level = options.product_accuracy;
    }
    out.unsigned_bytes = !is_symmetric;
    out.symmetric_only = is_symmetric;
    return out;
}

quantized_graph::quantized_graph(exported_graph& made)
    : graph_(made.graph),
      count_(made.graph.nodes.size()),
      readers_(made.graph.values.size()),
      escapes_(made.graph.values.size(), 0),
      before_(count_ + 1),
      removed_(count_, 0) {
    for (value_id const id : graph_.outputs) escapes_[id] = 1;
    for (std::size_t i = 0; i != count_; ++i) {
        for (value_id const id : graph_.nodes[i].inputs)
            if (id != no_value) readers_[id].push_back(i);
        for (node_attribute const& a : graph_.nodes[i].attributes)
            for (graph_data const& inner : a.graphs)
                for (graph_value const& v : inner.values)
                    if (v.outer != no_value) escapes_[v.outer] = 1;
    }
}

graph_node* quantized_graph::producer(value_id id) {
    if (id == no_value || id >= readers_.size()) return nullptr;
    std::int64_t const at = graph_.values[id].producer;
    return at < 0 ? nullptr : &graph_.nodes[static_cast<std::size_t>(at)];
}

std::optional<std::vector<std::size_t>> quantized_graph::readers(value_id id) const {
    if (id >= readers_.size() || escapes_[id] != 0) return {};
    std::vector<std::size_t> out;
    for (std::size_t const i : readers_[id])
        if (removed_[i] == 0 && std::find(out.begin(), out.end(), i) == out.end()) out.push_back(i);
    return out;
}

std::optional<tensor> quantized_graph::constant(value_id id, std::uint64_t at_most) const {
    if (id == no_value) return {};
    if (tensor const* const t = graph_.constant(id)) return *t;
    std::int64_t const at = graph_.values[id].initializer;
    if (graph_.values[id].producer >= 0 || at < 0) return {};
    stored_tensor const* const stored = graph_.initializers[static_cast<std::size_t>(at)].stored;
    if (stored == nullptr || stored->is_absent() || stored->byte_count() > at_most) return {};
    return load(*stored);
}

value_id quantized_graph::add_constant(tensor t, std::string const& name) {
    value_type type{t.type, shape(std::vector<dim>(t.sizes.begin(), t.sizes.end()))};
    value_id const id = graph_.add_value(std::move(type), name);
    graph_.set_initializer(id, std::move(t));
    return id;
}

value_id quantized_graph::add(std::size_t at, graph_node const& like, std::string_view op, std::vector<value_id> inputs,
                              value_type result, std::vector<node_attribute> attributes, std::string_view domain) {
    graph_node n;
    n.domain = domain;
    n.op = op;
    n.inputs = std::move(inputs);
    n.attributes = std::move(attributes);
    n.source = like.source;
    n.origin = like.origin;
    value_id const id = graph_.add_value(std::move(result));
    n.outputs = {id};
    insert(at, std::move(n));
    return id;
}

void quantized_graph::replace(std::size_t at, std::string_view op, std::vector<value_id> inputs,
                              std::vector<node_attribute> attributes) {
    graph_node n;
    n.op = op;
    n.inputs = std::move(inputs);
    n.outputs = node(at).outputs;
    n.attributes = std::move(attributes);
    n.source = node(at).source;
    n.origin = node(at).origin;
    insert(at, std::move(n));
    remove(at);
}

void quantized_graph::set_input(std::size_t at, std::size_t i, value_id id) {
    value_id const old = std::exchange(node(at).inputs[i], id);
    if (old != no_value && old < readers_.size()) {
        auto& list = readers_[old];
        if (auto const found = std::find(list.begin(), list.end(), at); found != list.end()) list.erase(found);
    }
    if (id != no_value && id < readers_.size()) readers_[id].push_back(at);
}

void quantized_graph::finish() {
    std::vector<graph_node> nodes;
    for (std::size_t i = 0; i <= count_; ++i) {
        for (graph_node& n : before_[i]) nodes.push_back(std::move(n));
        if (i != count_ && removed_[i] == 0) nodes.push_back(std::move(graph_.nodes[i]));
    }
    for (graph_value& v : graph_.values) v.producer = -1;
    graph_.nodes = std::move(nodes);
    number_producers(graph_);
}

namespace {

/// Refuses quantized tensors with zero points, for a target that takes none.
void require_symmetric(quantized_graph& g, std::string const& file, std::string_view target) {
    for (std::size_t i = 0; i != g.size(); ++i) {
        graph_node const& n = g.node(i);
        if (n.domain != quantized_ir::domain) continue;
        std::string found;
        if (n.op == quantized_ir::choose_parameters) {
            found = "a zero point that is computed at run time";
        } else if (n.inputs.size() > quantized_ir::zero_point && n.inputs[quantized_ir::zero_point] != no_value) {
            auto const zero = g.constant(n.inputs[quantized_ir::zero_point]);
            if (!zero) found = "a zero point that is computed at run time";
            for (std::int64_t k = 0; zero && k != zero->element_count(); ++k)
                if (auto const z = zero->at(static_cast<std::size_t>(k)).to<double>(); z != 0 && found.empty())
                    found = "zero point " + std::to_string(static_cast<std::int64_t>(z));
        }
        if (found.empty()) continue;
        node_origin const& from = g.graph().origins[n.origin < g.graph().origins.size() ? n.origin : 0];
        std::string const where = from.source.empty() ? std::string() : " at " + from.source;
        std::string const why = std::string(target) + " quantizes symmetrically, and this has " + found +
                                "; quantize the model with a symmetric quantizer";
        unconvertible refused{n.subject(), why, {}, {}, 1};
        if (!from.source.empty()) refused.places.push_back(from.source);
        throw export_error(file + ": " + n.subject() + where + ": " + why, {std::move(refused)});
    }
}

} // namespace

void choose_quantized_forms(exported_graph& made, std::string const& file, export_options const& options) {
    quantized_style const style = style_of(options);
    for (int step = 0; step != 3; ++step) { // each sees what the one before has made
        quantized_graph g(made);
        if (step == 0 && style.symmetric_only) require_symmetric(g, file, options.target->title);
        if (step == 0) write_activations(g, style);
        if (step == 1) write_products(g, style, made.products);
        if (step == 2) pack_weights(g);
        g.finish();
    }
}

} // namespace ATON_NAMESPACE::exporter
