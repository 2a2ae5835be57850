// SPDX-License-Identifier: MIT
// Removes Squeeze of one element to a 0-d tensor where the operator after it broadcasts; else moves it down: x / sqrt(x.shape[0]).
#include "rewriter.hpp"

#include <utility>

namespace ATON_NAMESPACE::passes {

namespace {

/// The view that makes a 0-d tensor of a tensor of shape [1], or null.
graph_node const* view_of_one(rewriter const& r, value_id id) {
    if (id == no_value || !r.shape_of(id).has_rank() || r.shape_of(id).rank() != 0) return nullptr;
    graph_node const* const p = r.producer(id);
    if (p == nullptr || (p->op != "Squeeze" && p->op != "Reshape")) return nullptr;
    shape const& from = r.shape_of(p->inputs[0]);
    return from.has_rank() && from.rank() == 1 && from[0].is(1) ? p : nullptr;
}

} // namespace

bool skip_squeezes(rewriter& r, graph_node& n) {
    if (r.shape_of(n.outputs[0]).rank() == 0) return false; // or unknown
    for (std::size_t i = 0; i != n.inputs.size(); ++i)
        if (graph_node const* const view = view_of_one(r, n.inputs[i]); view != nullptr)
            r.set_input(n, i, view->inputs[0]);
    return false;
}

bool delay_squeeze(rewriter& r, graph_node& n) {
    value_type const& type = r.type(n.outputs[0]);
    if (!is_floating(type.dtype) || !type.shape.has_rank() || type.shape.rank() != 0) return false;
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        value_id const id = n.inputs[i];
        graph_node const* const view = view_of_one(r, id);
        if (view == nullptr || r.uses(id) != 1) continue;
        graph_node moved = *view;
        graph_node first = n;
        first.inputs[i] = view->inputs[0];
        value_id const computed = r.add_node(std::move(first), {type.dtype, shape({1})});
        n.op = moved.op;
        n.attributes = std::move(moved.attributes);
        moved.inputs[0] = computed;
        r.set_inputs(n, std::move(moved.inputs));
        return false;
    }
    return false;
}

} // namespace ATON_NAMESPACE::passes
