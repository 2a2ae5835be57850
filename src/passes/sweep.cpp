// SPDX-License-Identifier: MIT
// A sweep: visits the nodes of a graph in topological order, and applies rules to each.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/cancellation.hpp>
#include <aton/core/error.hpp>
#include <aton/ir/shapes/rules.hpp>

#include "captures.hpp"
#include "rewriter.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Infers unknown dimensions of results again: more may be known of the operands than when the node was made.
void complete_types(rewriter& r, graph_node const& n) {
    auto const is_known = [&](value_id id) {
        if (id == no_value || r.type(id).kind != value_kind::tensor) return true;
        std::vector<dim> const& dims = r.shape_of(id).dims();
        return r.shape_of(id).has_rank() &&
               std::all_of(dims.begin(), dims.end(), [](dim const& d) { return d.is_static() || d.is_symbolic(); });
    };
    if (has_graphs(n) || std::all_of(n.outputs.begin(), n.outputs.end(), is_known)) return;
    std::vector<value_type> known;
    for (value_id id : n.outputs) known.push_back(id == no_value ? value_type() : r.type(id));
    std::vector<value_type> const before = known;
    try {
        shapes::infer_types(r.graph(), n);
        for (std::size_t i = 0; i != known.size(); ++i)
            if (n.outputs[i] != no_value) merge(known[i], r.type(n.outputs[i]));
    } catch (illegal_call const&) { // what the program recorded contradicts its operators; the converter reports it
    }
    for (std::size_t i = 0; i != known.size(); ++i) {
        if (n.outputs[i] == no_value) continue;
        r.graph().values[n.outputs[i]].type = known[i];
        if (!(known[i].shape == before[i].shape)) r.set_shape(n.outputs[i], std::move(known[i].shape));
    }
}

/// The node that a step is about, and the source line of its call.
std::string subject_of(rewriter const& r, graph_node const& n) {
    std::string out = n.op;
    value_id const result = n.outputs.empty() ? no_value : n.outputs[0];
    if (result != no_value && !r.graph().values[result].name.empty()) out += " '" + r.graph().values[result].name + "'";
    if (!n.source.empty()) out += " of " + n.source;
    if (n.origin < r.graph().origins.size() && !r.graph().origins[n.origin].source.empty())
        out += ", " + r.graph().origins[n.origin].source;
    return out;
}

std::string_view name_of(rule what) {
    return std::ranges::find(node_passes(), what, &node_pass::run)->name; // all rules are in the table: rules.cpp
}

/// Applies a rule to a node, if the trace allows another change, and records what it changes. Whether the node was replaced.
bool apply(rule what, rewriter& r, graph_node& n) {
    pass_trace* const trace = r.options().trace;
    if (trace == nullptr) return what(r, n);
    if (!trace->may_step()) return false;
    std::size_t const before = r.changes();
    std::string const op = n.op;
    std::string subject = subject_of(r, n); // the names move
    bool const is_replaced = what(r, n);
    if (!r.pending().rewrite.empty()) subject = std::string(r.pending().rewrite) + " at " + subject;
    if (is_replaced || r.changes() != before || n.op != op) trace->record(name_of(what), std::move(subject));
    return is_replaced;
}

/// Applies the rules of a node. Whether it was replaced.
bool simplify(rewriter& r, graph_node& n) {
    if (n.op == "If" && apply(inline_branch, r, n)) return true;
    if (has_graphs(n)) return false;
    if (n.op == "Constant") return apply(lift_constant, r, n);
    for (rule const each : {fold_constants, simplify_sizes, simplify_indices})
        if (apply(each, r, n)) return true;
    if (std::vector<rule> const* const rules = rules_of(n.op); rules != nullptr) {
        std::string const op = n.op;
        for (rule const each : *rules) {
            if (apply(each, r, n)) return true;
            if (n.op != op) break; // the other rules do not apply to the new operator
        }
    }
    return apply(apply_rewrites, r, n) || apply(merge_equal_nodes, r, n);
}

void visit(rewriter& r, graph_node&& n) {
    stop_if_cancelled();
    for (value_id& id : n.inputs)
        if (id != no_value) id = r.resolve(id);
    for_each_capture(n, [&](value_id& id) { id = r.resolve(id); });
    bool const used =
        std::any_of(n.outputs.begin(), n.outputs.end(), [&](value_id id) { return id != no_value && r.uses(id) != 0; });
    if (!used || (is_default_domain(n) ? simplify(r, n) : apply(apply_rewrites, r, n))) {
        expansion made = r.take_expansion();
        int const depth = r.set_rewrite_depth(made.nodes.empty() ? r.rewrite_depth() : made.depth);
        for (graph_node& each : made.nodes) visit(r, std::move(each));
        r.set_rewrite_depth(depth);
        r.drop_node(n);
        return;
    }
    if (is_default_domain(n)) {
        complete_types(r, n);
        r.record(n);
    }
    r.append(std::move(n), false);
}

} // namespace

bool simplify_sizes(rewriter& r, graph_node& n) { return r.sizes().simplify(n); }
bool merge_equal_nodes(rewriter& r, graph_node& n) { return r.known().reuse(r, n); }

bool sweep(rewriter& r, bool with_weights) {
    std::size_t const before = r.changes();
    for (graph_node& n : r.begin_sweep(with_weights)) visit(r, std::move(n));
    r.put_in_order();
    return r.changes() != before;
}

} // namespace ATON_NAMESPACE::passes
