// SPDX-License-Identifier: MIT
// Removes Expand and ConstantOfShape if they change nothing, or if the following operator broadcasts.
#include "rewriter.hpp"

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// The number that ConstantOfShape repeats, as a 0-d constant.
value_id filling(rewriter& r, graph_node const& n) {
    node_attribute const* const a = n.attribute("value");
    if (a == nullptr) return r.add_constant(scalar_tensor(0.0, dtype::float32));
    if (a->tensors.size() != 1) return no_value;
    return r.add_constant({a->tensors[0].type, {}, a->tensors[0].bytes});
}

} // namespace

bool simplify_expand(rewriter& r, graph_node& n) {
    value_id const out = n.outputs[0];
    shape const& from = r.shape_of(n.inputs[0]);
    shape const& to = r.shape_of(out);
    if (same_shape(from, to)) {
        r.replace(out, n.inputs[0]);
        return true;
    }
    if (!from.has_rank() || !to.has_rank() || from.rank() > to.rank() || r.constant(input(n, 1)) != nullptr)
        return false;
    std::vector<std::int64_t> target;
    std::size_t const skipped = to.rank() - from.rank();
    for (std::size_t i = 0; i != to.rank(); ++i) {
        if (to[i].is_static()) target.push_back(to[i].size());
        else if (i >= skipped && from[i - skipped].same_as(to[i]))
            target.push_back(1); // Expand broadcasts in both directions
        else return false;
    }
    r.set_input(n, 1, r.add_integers(target));
    return false;
}

/// Removes Expand and ConstantOfShape before a broadcasting operator if another operand has the same shape.
bool skip_expands(rewriter& r, graph_node& n) {
    shape const& out = r.shape_of(n.outputs[0]);
    if (!out.has_rank()) return false;
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        graph_node const* const p = r.producer(n.inputs[i]);
        if (p == nullptr || (p->op != "Expand" && p->op != "ConstantOfShape")) continue;
        value_id const x = p->op == "Expand" ? p->inputs[0] : filling(r, *p);
        if (x == no_value) continue;
        // Dimension d of the result must be that of x or of another operand.
        auto const gives = [&](value_id id, std::size_t d) {
            shape const& s = r.shape_of(id);
            if (!s.has_rank() || s.rank() + d < out.rank()) return false;
            return s[s.rank() + d - out.rank()].same_as(out[d]);
        };
        bool enough = r.shape_of(x).has_rank();
        for (std::size_t d = 0; enough && d != out.rank(); ++d) {
            enough = gives(x, d);
            for (std::size_t j = 0; j != n.inputs.size(); ++j) enough = enough || (j != i && gives(n.inputs[j], d));
        }
        if (enough) r.set_input(n, i, x);
    }
    return false;
}

} // namespace ATON_NAMESPACE::passes
