// SPDX-License-Identifier: MIT
// Sweeps over the nodes of a graph, and keeps uses, names, types and producers consistent while rules change them.
#include "rewriter.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/shapes/rules.hpp>

#include "attributes.hpp"
#include "captures.hpp"
#include "zero_signs.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

bool is_default_domain(graph_node const& n) { return plain_domain(n.domain).empty(); }

/// Completes a type with another one of the same value.
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

} // namespace

rewriter::rewriter(graph_data& g, std::deque<stored_tensor>& weights, pass_options const& o,
                   rewrite_index const& rewrites, rewriter* outer)
    : graph(g),
      options(o),
      forms(*this),
      weights_(weights),
      rewrites_(rewrites),
      outer_(outer) {
    grow();
    for (value_id id : graph.inputs) is_input_[id] = 1;
    for (value_id id : graph.outputs) ++uses_[id];
    for (graph_node& n : graph.nodes) count_uses(n);
    share_captures();
    share_equal_constants();
    share_equal_weights();
}

void rewriter::count_uses(graph_node& n) {
    for (value_id id : n.inputs)
        if (id != no_value) ++uses_[id];
    for_each_capture(n, [&](value_id id) { ++uses_[id]; });
}

/// Merges captured values that have become equal in the outer graph, and updates their types.
void rewriter::share_captures() {
    std::unordered_map<value_id, value_id> known;
    for (value_id id = 0; id != graph.values.size(); ++id) {
        graph_value& v = graph.values[id];
        if (v.outer == no_value) continue;
        is_input_[id] = 1;
        if (outer_ != nullptr) merge(v.type, outer_->type(v.outer));
        auto const [first, is_new] = known.try_emplace(v.outer, id);
        if (!is_new) replace(id, first->second);
    }
}

void rewriter::grow() {
    std::size_t const n = graph.values.size();
    uses_.resize(n, 0);
    is_input_.resize(n, 0);
    element_index_.resize(n, -1);
    for (std::size_t i = replaced_.size(); i != n; ++i) replaced_.push_back(static_cast<value_id>(i));
}

graph_node const* rewriter::producer(value_id id) const {
    if (id == no_value || graph.values[id].producer < 0) return nullptr;
    graph_node const& n = graph.nodes[static_cast<std::size_t>(graph.values[id].producer)];
    return is_default_domain(n) ? &n : nullptr;
}

graph_node const* rewriter::producer(value_id id, std::string_view op) const {
    graph_node const* const n = producer(id);
    return n != nullptr && n->op == op ? n : nullptr;
}

bool rewriter::is_alive(value_id id) const {
    std::int64_t const p = graph.values[id].producer;
    return p < 0 || dead_[static_cast<std::size_t>(p)] == 0;
}

value_id rewriter::resolve(value_id id) const {
    while (replaced_[id] != id) id = replaced_[id];
    return id;
}

graph_node rewriter::make_node(std::string_view op, std::vector<value_id> inputs, graph_node const& like) {
    graph_node n;
    n.op = op;
    n.inputs = std::move(inputs);
    n.source = like.source;
    n.origin = like.origin;
    return n;
}

value_id rewriter::add_node(graph_node n, value_type type, bool first) {
    value_id const id = graph.add_value(std::move(type));
    grow();
    n.outputs = {id};
    for (value_id in : n.inputs)
        if (in != no_value) ++uses_[in];
    record_sizes(n);
    forms.record(n);
    emit(std::move(n));
    first_.back() = first ? 1 : 0;
    changed_ = true;
    return id;
}

void rewriter::merge_type(value_id into, value_id from) {
    if (is_input(into) || graph.values[into].initializer >= 0) return;
    merge(graph.values[into].type, graph.values[from].type);
}

void rewriter::replace(value_id old, value_id by) {
    uses_[by] += uses_[old];
    uses_[old] = 0;
    replaced_[old] = by;
    merge_type(by, old);
    std::string& name = graph.values[old].name;
    graph_value& heir = graph.values[by];
    if (heir.name.empty() && heir.initializer < 0 && !is_input(by)) heir.name.swap(name);
    changed_ = true;
}

void rewriter::drop(value_id id) {
    std::vector<value_id> unused{id};
    while (!unused.empty()) {
        value_id const v = unused.back();
        unused.pop_back();
        if (v == no_value || --uses_[v] != 0 || graph.values[v].producer < 0) continue;
        auto const p = static_cast<std::size_t>(graph.values[v].producer);
        if (p >= dead_.size() || dead_[p] != 0) continue;
        graph_node const& n = graph.nodes[p];
        if (std::find(n.outputs.begin(), n.outputs.end(), v) == n.outputs.end()) continue;
        if (std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id o) { return o != no_value && uses_[o] != 0; }))
            continue;
        dead_[p] = 1;
        unused.insert(unused.end(), n.inputs.begin(), n.inputs.end());
        for_each_capture(n, [&](value_id id) { unused.push_back(id); });
    }
}

void rewriter::drop_inputs(graph_node& n) {
    for (value_id id : n.inputs) drop(id);
    for_each_capture(n, [&](value_id id) { drop(id); });
}

void rewriter::set_inputs(graph_node& n, std::vector<value_id> inputs) {
    for (value_id id : inputs)
        if (id != no_value) ++uses_[id];
    n.inputs.swap(inputs);
    for (value_id id : inputs) drop(id);
    changed_ = true;
}

void rewriter::set_input(graph_node& n, std::size_t i, value_id id) {
    if (id != no_value) ++uses_[id];
    drop(std::exchange(n.inputs[i], id));
    changed_ = true;
}

bool rewriter::simplify(graph_node& n) {
    if (n.op == "If" && inline_branch(n)) return true;
    if (has_graphs(n)) return false;
    if (n.op == "Constant") return lift_constant(n);
    if (fold(n) || simplify_sizes(n) || simplify_indices(*this, n)) return true;
    if (std::vector<rule> const* const rules = rules_of(n.op); rules != nullptr) {
        std::string const op = n.op;
        for (rule const each : *rules) {
            if (each(*this, n)) return true;
            if (n.op != op) break; // the other rules do not apply to the new operator
        }
    }
    return apply_rewrites(n) || reuse(n);
}

void rewriter::emit(graph_node&& n) {
    for (value_id id : n.outputs)
        if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(graph.nodes.size());
    graph.nodes.push_back(std::move(n));
    dead_.push_back(0);
    first_.push_back(0);
}

bool rewriter::sweep(bool with_weights) {
    changed_ = false;
    with_weights_ = with_weights;
    zero_signs_ = matter_zero_signs(graph);
    std::vector<graph_node> old;
    old.swap(graph.nodes);
    graph.nodes.reserve(old.size() + 64);
    dead_.clear();
    first_.clear();
    known_nodes_.clear();
    symbol_index_.clear();
    symbols_.clear();
    elements_.clear();
    forms.clear();
    std::fill(element_index_.begin(), element_index_.end(), -1);
    for (value_id id : graph.inputs) record_symbols(id);
    if (with_weights) plan_weights(old);
    else rewritten_.clear();
    for (graph_node& n : old) visit(std::move(n));
    finish();
    return changed_;
}

void rewriter::visit(graph_node&& n) {
    for (value_id& id : n.inputs)
        if (id != no_value) id = resolve(id);
    for_each_capture(n, [&](value_id& id) { id = resolve(id); });
    bool const used =
        std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id id) { return id != no_value && uses_[id] != 0; });
    if (!used || (is_default_domain(n) && simplify(n))) {
        for (value_id id : n.outputs)
            if (id != no_value) graph.values[id].producer = -1;
        drop_inputs(n);
        changed_ = true;
        return;
    }
    if (is_default_domain(n)) {
        complete_types(n);
        record_sizes(n);
        forms.record(n);
    }
    emit(std::move(n));
}

/// Infers unknown dimensions of results again: more may be known of the operands than when the node was made.
void rewriter::complete_types(graph_node const& n) {
    auto const is_known = [&](value_id id) {
        if (id == no_value || type(id).kind != value_kind::tensor) return true;
        std::vector<dim> const& dims = shape_of(id).dims();
        return shape_of(id).has_rank() &&
               std::all_of(dims.begin(), dims.end(), [](dim const& d) { return d.is_static() || d.is_symbolic(); });
    };
    if (has_graphs(n) || std::all_of(n.outputs.begin(), n.outputs.end(), is_known)) return;
    std::vector<value_type> known;
    for (value_id id : n.outputs) known.push_back(id == no_value ? value_type() : type(id));
    std::vector<value_type> const before = known;
    try {
        shapes::infer_types(graph, n);
        for (std::size_t i = 0; i != known.size(); ++i)
            if (n.outputs[i] != no_value) merge(known[i], type(n.outputs[i]));
    } catch (illegal_call const&) { // what the program recorded contradicts its operators; the converter reports it
    }
    for (std::size_t i = 0; i != known.size(); ++i) {
        if (n.outputs[i] == no_value) continue;
        changed_ = changed_ || !(known[i].shape == before[i].shape);
        graph.values[n.outputs[i]].type = std::move(known[i]);
    }
}

void rewriter::set_shape(value_id id, shape s) {
    graph.values[id].type.shape = std::move(s);
    changed_ = true;
}

/// Moves nodes marked as first to the front, removes dropped ones, and renumbers producers and outputs.
void rewriter::finish() {
    std::vector<graph_node> kept;
    kept.reserve(graph.nodes.size());
    for (std::uint8_t const wanted : {std::uint8_t{1}, std::uint8_t{0}})
        for (std::size_t i = 0; i != graph.nodes.size(); ++i)
            if (dead_[i] == 0 && first_[i] == wanted) kept.push_back(std::move(graph.nodes[i]));
            else if (dead_[i] != 0)
                for (value_id id : graph.nodes[i].outputs)
                    if (id != no_value) graph.values[id].producer = -1;
    graph.nodes = std::move(kept);
    for (std::size_t i = 0; i != graph.nodes.size(); ++i)
        for (value_id id : graph.nodes[i].outputs)
            if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(i);
    for (value_id& id : graph.outputs) id = resolve(id);
}

} // namespace ATON_NAMESPACE::passes
