// SPDX-License-Identifier: MIT
// Keeps uses, names, types and producers of a graph consistent while its nodes are replaced.
#include "graph_editor.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <aton/ir/producers.hpp>

#include "attributes.hpp"
#include "captures.hpp"

namespace ATON_NAMESPACE::passes {

bool is_default_domain(graph_node const& n) { return plain_domain(n.domain).empty(); }

void merge(value_type& to, value_type const& more) {
    if (to.dtype == dtype::undefined) to.dtype = more.dtype;
    if (!more.shape.has_rank()) return;
    if (!to.shape.has_rank()) {
        to.shape = more.shape;
        return;
    }
    if (to.shape.rank() != more.shape.rank()) return;
    std::vector<dim> dims = to.shape.dims();
    for (std::size_t i = 0; i != dims.size(); ++i)
        if (!dims[i].is_static() && (more.shape[i].is_static() || !dims[i].is_symbolic())) dims[i] = more.shape[i];
    to.shape = shape(dims);
}

graph_node make_node(std::string_view op, std::vector<value_id> inputs, graph_node const& like) {
    graph_node n;
    n.op = op;
    n.inputs = std::move(inputs);
    n.source = like.source;
    n.origin = like.origin;
    return n;
}

graph_editor::graph_editor(graph_data& graph) : graph_(graph) {
    grow();
    for (value_id id : graph.inputs) mark_input(id);
    for (value_id id : graph.outputs) mark_used(id);
    for (graph_node& n : graph.nodes) count_uses(n);
}

void graph_editor::count_uses(graph_node& n) {
    for (value_id id : n.inputs)
        if (id != no_value) ++uses_[id];
    for_each_capture(n, [&](value_id id) { ++uses_[id]; });
}

void graph_editor::grow() {
    std::size_t const n = graph_.values.size();
    uses_.resize(n, 0);
    is_input_.resize(n, 0);
    for (std::size_t i = replaced_.size(); i != n; ++i) replaced_.push_back(static_cast<value_id>(i));
}

graph_node const* graph_editor::producer(value_id id) const {
    if (id == no_value || graph_.values[id].producer < 0) return nullptr;
    graph_node const& n = graph_.nodes[static_cast<std::size_t>(graph_.values[id].producer)];
    return is_default_domain(n) ? &n : nullptr;
}

graph_node const* graph_editor::producer(value_id id, std::string_view op) const {
    graph_node const* const n = producer(id);
    return n != nullptr && n->op == op ? n : nullptr;
}

bool graph_editor::is_alive(value_id id) const {
    std::int64_t const p = graph_.values[id].producer;
    return p < 0 || dead_[static_cast<std::size_t>(p)] == 0;
}

value_id graph_editor::resolve(value_id id) const {
    while (replaced_[id] != id) id = replaced_[id];
    return id;
}

void graph_editor::merge_type(value_id into, value_id from) {
    if (is_input(into) || graph_.values[into].initializer >= 0) return;
    merge(graph_.values[into].type, graph_.values[from].type);
}

void graph_editor::replace(value_id old, value_id by) {
    uses_[by] += uses_[old];
    uses_[old] = 0;
    replaced_[old] = by;
    merge_type(by, old);
    std::string& name = graph_.values[old].name;
    graph_value& heir = graph_.values[by];
    if (heir.name.empty() && heir.initializer < 0 && !is_input(by)) heir.name.swap(name);
    ++changes_;
}

void graph_editor::replace_from_here(value_id old, value_id by, std::uint32_t kept) {
    uses_[old] -= kept;
    replace(old, by);
    uses_[old] = kept;
}

void graph_editor::drop(value_id id) {
    std::vector<value_id> unused{id};
    while (!unused.empty()) {
        value_id const v = unused.back();
        unused.pop_back();
        if (v == no_value || --uses_[v] != 0 || graph_.values[v].producer < 0) continue;
        auto const p = static_cast<std::size_t>(graph_.values[v].producer);
        if (p >= dead_.size() || dead_[p] != 0) continue;
        graph_node const& n = graph_.nodes[p];
        if (std::find(n.outputs.begin(), n.outputs.end(), v) == n.outputs.end()) continue;
        if (std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id o) { return o != no_value && uses_[o] != 0; }))
            continue;
        dead_[p] = 1;
        unused.insert(unused.end(), n.inputs.begin(), n.inputs.end());
        for_each_capture(n, [&](value_id captured) { unused.push_back(captured); });
    }
}

void graph_editor::drop_node(graph_node& n) {
    for (value_id id : n.outputs)
        if (id != no_value) graph_.values[id].producer = -1;
    for (value_id id : n.inputs) drop(id);
    for_each_capture(n, [&](value_id id) { drop(id); });
    ++changes_;
}

void graph_editor::set_shape(value_id id, shape s) {
    graph_.values[id].type.shape = std::move(s);
    ++changes_;
}

void graph_editor::set_inputs(graph_node& n, std::vector<value_id> inputs) {
    for (value_id id : inputs)
        if (id != no_value) ++uses_[id];
    n.inputs.swap(inputs);
    for (value_id id : inputs) drop(id);
    ++changes_;
}

void graph_editor::set_input(graph_node& n, std::size_t i, value_id id) {
    if (id != no_value) ++uses_[id];
    drop(std::exchange(n.inputs[i], id));
    ++changes_;
}

std::vector<graph_node> graph_editor::take_nodes() {
    std::vector<graph_node> old;
    old.swap(graph_.nodes);
    graph_.nodes.reserve(old.size() + 64);
    dead_.clear();
    first_.clear();
    return old;
}

void graph_editor::append(graph_node&& n, bool first) {
    for (value_id id : n.outputs)
        if (id != no_value) graph_.values[id].producer = static_cast<std::int64_t>(graph_.nodes.size());
    graph_.nodes.push_back(std::move(n));
    dead_.push_back(0);
    first_.push_back(first ? 1 : 0);
}

void graph_editor::put_in_order() {
    std::vector<graph_node> kept;
    kept.reserve(graph_.nodes.size());
    for (std::uint8_t const wanted : {std::uint8_t{1}, std::uint8_t{0}})
        for (std::size_t i = 0; i != graph_.nodes.size(); ++i)
            if (dead_[i] == 0 && first_[i] == wanted) kept.push_back(std::move(graph_.nodes[i]));
            else if (dead_[i] != 0)
                for (value_id id : graph_.nodes[i].outputs)
                    if (id != no_value) graph_.values[id].producer = -1;
    graph_.nodes = std::move(kept);
    number_producers(graph_);
    for (value_id& id : graph_.outputs) id = resolve(id);
}

} // namespace ATON_NAMESPACE::passes
