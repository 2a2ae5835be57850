// SPDX-License-Identifier: MIT
// The state of a rewriter: what a sweep starts with, and what rules add.
#include "rewriter.hpp"

#include <unordered_map>
#include <utility>
#include <vector>

#include "zero_signs.hpp"

namespace ATON_NAMESPACE::passes {

rewriter::rewriter(graph_data& g, std::deque<stored_tensor>& weights, pass_options const& o,
                   rewrite_index const& rewrites, rewriter* outer)
    : graph_editor(g),
      options_(o),
      weights_(weights),
      rewrites_(rewrites),
      outer_(outer),
      sizes_(*this),
      forms_(*this),
      weight_plan_(*this) {
    share_captures();
    share_equal_constants();
    share_equal_weights();
}

/// Merges captured values that have become equal in the outer graph, and updates their types.
void rewriter::share_captures() {
    std::unordered_map<value_id, value_id> known;
    for (value_id id = 0; id != graph().values.size(); ++id) {
        graph_value& v = graph().values[id];
        if (v.outer == no_value) continue;
        mark_input(id);
        if (outer_ != nullptr) merge(v.type, outer_->type(v.outer));
        auto const [first, is_new] = known.try_emplace(v.outer, id);
        if (!is_new) replace(id, first->second);
    }
}

std::vector<graph_node> rewriter::begin_sweep(bool with_weights) {
    with_weights_ = with_weights;
    zero_signs_ = matter_zero_signs(graph());
    std::vector<graph_node> nodes = take_nodes();
    known_nodes_.clear();
    forms_.clear();
    sizes_.begin_sweep();
    if (with_weights) weight_plan_.plan(nodes);
    else weight_plan_.clear();
    return nodes;
}

bool rewriter::may_compute(std::uint64_t bytes) {
    if (bytes > computable_bytes_) return false;
    computable_bytes_ -= bytes;
    return true;
}

value_id rewriter::add_node(graph_node n, value_type type, bool first) {
    value_id const id = graph().add_value(std::move(type));
    grow();
    n.outputs = {id};
    for (value_id in : n.inputs)
        if (in != no_value) mark_used(in);
    record(n);
    append(std::move(n), first);
    note_change();
    return id;
}

void rewriter::record(graph_node const& n) {
    sizes_.record(n);
    forms_.record(n);
}

} // namespace ATON_NAMESPACE::passes
