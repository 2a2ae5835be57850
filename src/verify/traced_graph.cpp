// SPDX-License-Identifier: MIT
// Runs a graph from a changed node onwards.
#include "traced_graph.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <span>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>
#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using runtime::tensor;
using runtime::uses_of;
using runtime::value;

bool identical(tensor const& a, tensor const& b) {
    if (static_cast<bool>(a) != static_cast<bool>(b)) return false;
    if (!a) return true;
    if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
    tensor const x = runtime::to_host(a).contiguous();
    tensor const y = runtime::to_host(b).contiguous();
    if (x.is_strings()) return std::equal(x.strings().begin(), x.strings().end(), y.strings().begin());
    std::size_t const bytes = static_cast<std::size_t>(x.count()) * runtime::element_bytes(x.dtype());
    return x.count() == 0 || std::memcmp(x.bytes(), y.bytes(), bytes) == 0;
}

bool identical(value const& a, value const& b) {
    return a.is_sequence() == b.is_sequence() && identical(a.one(), b.one()) &&
           std::equal(a.many().begin(), a.many().end(), b.many().begin(), b.many().end(), [](auto& x, auto& y) {
               return identical(x, y);
           });
}

dtype type_of(value const& v) {
    if (v.is_tensor()) return v.one().dtype();
    return v.is_sequence() && !v.many().empty() ? v.many().front().dtype() : dtype::undefined;
}

bool holds(type_set const& set, bool is_sequence, dtype t) {
    std::uint64_t const bit = std::uint64_t{1} << static_cast<unsigned>(t);
    return set.contains(is_sequence ? type_set{bit << 32, 0} : type_set{bit, 0}) || set.contains({0, bit});
}

/// What is known of an operand; `undefined`: nothing.
struct operand {
    dtype type = dtype::undefined;
    bool is_sequence = false;
};

/// Whether an operator of ONNX allows operands of these types.
template <class OperandOf>
bool allows(graph_node const& n, int opset, OperandOf const& operand_of) {
    onnx::op_schema const schema = n.domain.empty() ? onnx::find("", n.op, opset) : onnx::op_schema();
    if (!schema || schema.input_count() == 0) return true;
    std::vector<dtype> bound(static_cast<std::size_t>(schema.type_var_count()), dtype::undefined);
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        operand const of = n.inputs[i] == no_value ? operand{} : operand_of(n.inputs[i]);
        if (of.type == dtype::undefined) continue;
        onnx::formal const in = schema.input(std::min(static_cast<int>(i), schema.input_count() - 1));
        if (!holds(in.types, of.is_sequence, of.type)) return false;
        if (in.type_var < 0 || !in.homogeneous) continue;
        dtype& known = bound[static_cast<std::size_t>(in.type_var)];
        if (known != dtype::undefined && known != of.type) return false;
        known = of.type;
    }
    if (n.op == "Mod" && is_floating(operand_of(n.inputs[0]).type)) { // floats need fmod=1
        node_attribute const* const fmod = n.attribute("fmod");
        return fmod != nullptr && fmod->i == 1;
    }
    return true;
}

/// Stores the results of nodes by value id.
runtime::onnx_observer store_in(std::vector<value>& values) {
    return [&values](graph_node const& n, std::span<value const> given) {
        for (std::size_t i = 0; i != given.size(); ++i)
            if (n.outputs[i] != no_value) values[n.outputs[i]] = given[i];
    };
}

/// Limits of steps: a graph beyond the first has no mutants, and a mutant beyond the second is one that does not end.
constexpr std::uint64_t max_steps = std::uint64_t{1} << 13;
constexpr std::uint64_t max_steps_of_mutants = max_steps * 2;

runtime::onnx_options limited(runtime::device where, std::uint64_t steps) { return {where, 0, steps}; }

constexpr bool is_constant(graph_node const& n) { return n.op == "Constant" && n.domain.empty(); }

} // namespace

traced_graph::traced_graph(translation const& t, runtime::device where) : of_(&t), where_(where) {
    graph_data const& g = t.graph;
    shell_.name = g.name;
    shell_.opset = g.opset;
    shell_.opset_imports = g.opset_imports;
    shell_.functions = g.functions;
    for (graph_value const& v : g.values) {
        shell_.values.push_back(v);
        shell_.values.back().type = {};
    }
    values_.resize(g.values.size());
    (void)runtime::onnx_model(g, limited(where, max_steps)).run(t.inputs, store_in(values_));
    for (graph_initializer const& i : g.initializers)
        values_[i.value] = runtime::to_device(tensor::from_constant(i.data), where);
    for (std::size_t i = 0; i != g.inputs.size(); ++i) values_[g.inputs[i]] = t.inputs[i];

    std::set<value_id> needed(g.outputs.begin(), g.outputs.end());
    used_.resize(g.nodes.size());
    for (std::size_t n = g.nodes.size(); n-- != 0;) {
        used_[n] = std::any_of(
            g.nodes[n].outputs.begin(), g.nodes[n].outputs.end(), [&](value_id id) { return needed.contains(id); });
        if (!used_[n]) continue;
        std::set<value_id> const uses = uses_of(g.nodes[n]);
        needed.insert(uses.begin(), uses.end());
    }
}

bool traced_graph::is_legal(graph_node const& n, std::vector<value> const& values) const {
    return allows(n, shell_.opset, [&](value_id id) { return operand{type_of(values[id]), values[id].is_sequence()}; });
}

/// The same for the node of a nested graph that a change concerns, and those that read its result.
bool traced_graph::is_legal_inside(graph_node const& n, mutation const& m) const {
    graph_data const& was = n.attributes.at(m.first).graphs.at(m.second);
    mutation const& inner = m.inside.at(0);
    graph_node changed = was.nodes.at(inner.node);
    if (inner.is == mutation::kind::nested) return is_legal_inside(changed, inner);
    apply(changed, inner);
    auto const recorded = [&](value_id id) {
        value_type const& type = was.values[id].type;
        return operand{type.dtype, type.kind == value_kind::sequence};
    };
    return allows(changed, shell_.opset, recorded);
}

std::vector<value> traced_graph::changed(mutation const& m, bool& legal) const {
    graph_node n = of_->graph.nodes.at(m.node);
    legal = true;
    if (m.is == mutation::kind::drop_node) {
        std::vector<value> out;
        for (value_id const id : n.outputs) out.push_back(id == no_value ? value() : values_[id]);
        out.at(0) = values_.at(n.inputs.at(m.first));
        return out;
    }
    if (m.is == mutation::kind::nested) legal = is_legal_inside(n, m);
    if (!legal) return {};
    apply(n, m);
    if (is_constant(n)) return {runtime::to_device(tensor::from_constant(n.attributes.at(0).tensors.at(0)), where_)};
    legal = is_legal(n, values_);
    if (!legal) return {};
    graph_data one = shell_;
    std::set<value_id> const takes = uses_of(n);
    std::vector<value> given;
    for (value_id const id : takes) {
        one.inputs.push_back(id);
        given.push_back(values_[id]);
    }
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i != n.outputs.size(); ++i) {
        if (n.outputs[i] == no_value) continue;
        one.outputs.push_back(n.outputs[i]);
        places.push_back(i);
    }
    std::size_t const count = n.outputs.size();
    one.nodes.push_back(std::move(n));
    std::vector<value> made = runtime::onnx_model(std::move(one), limited(where_, max_steps_of_mutants)).run(given);
    std::vector<value> out(count);
    for (std::size_t i = 0; i != places.size(); ++i) out[places[i]] = std::move(made[i]);
    return out;
}

traced_graph::downstream& traced_graph::downstream_of(std::size_t node) {
    auto const [known, is_new] = downstream_.try_emplace(node);
    downstream& c = known->second;
    if (!is_new) return c;
    graph_data const& g = of_->graph;
    c.graph = shell_;
    std::set<value_id> reached(g.nodes[node].outputs.begin(), g.nodes[node].outputs.end());
    std::set<value_id> takes = reached;
    for (std::size_t i = node + 1; i != g.nodes.size(); ++i) {
        if (!used_[i]) continue;
        std::set<value_id> const uses = uses_of(g.nodes[i]);
        if (std::none_of(uses.begin(), uses.end(), [&](value_id id) { return reached.contains(id); })) continue;
        for (value_id const id : uses)
            if (!reached.contains(id)) takes.insert(id);
        reached.insert(g.nodes[i].outputs.begin(), g.nodes[i].outputs.end());
        c.graph.nodes.push_back(g.nodes[i]);
    }
    c.graph.outputs = g.outputs;
    for (value_id const id : g.outputs)
        if (!reached.contains(id)) takes.insert(id);
    takes.erase(no_value);
    c.takes.assign(takes.begin(), takes.end());
    c.graph.inputs = c.takes;
    return c;
}

traced_graph::outcome traced_graph::run(mutation const& m) {
    graph_node const& n = of_->graph.nodes.at(m.node);
    try {
        bool legal = true;
        std::vector<value> now = changed(m, legal);
        if (!legal) return {effect::illegal};
        now.resize(n.outputs.size());
        bool same = true;
        bool same_types = true;
        std::vector<value> values = values_;
        for (std::size_t i = 0; i != now.size(); ++i) {
            if (n.outputs[i] == no_value) continue;
            same = same && identical(now[i], values_[n.outputs[i]]);
            same_types = same_types && type_of(now[i]) == type_of(values_[n.outputs[i]]);
            values[n.outputs[i]] = std::move(now[i]);
        }
        if (same) return {effect::same};
        downstream& c = downstream_of(m.node);
        std::vector<value> given;
        for (value_id const id : c.takes) given.push_back(values[id]);
        if (c.model == nullptr)
            c.model = std::make_unique<runtime::onnx_model>(c.graph, limited(where_, max_steps_of_mutants));
        std::vector<value> const results =
            c.model->run(given, same_types ? runtime::onnx_observer() : store_in(values));
        bool const legal_after =
            same_types || std::all_of(c.graph.nodes.begin(), c.graph.nodes.end(), [&](graph_node const& other) {
                return is_legal(other, values);
            });
        return legal_after ? outcome{effect::other, results_of(*of_, results)} : outcome{effect::illegal};
    } catch (runtime::step_limit_error const&) {
        return {effect::endless};
    } catch (error const&) {
        return {effect::fails};
    }
}

} // namespace ATON_NAMESPACE::verify
