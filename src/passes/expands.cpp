// SPDX-License-Identifier: MIT
// Removes Expand and ConstantOfShape if they change nothing, or if the following operator broadcasts; else moves masks' Expands down.
#include "rewriter.hpp"

#include <optional>
#include <utility>
#include <vector>

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

/// The smallest operand that may take the place of operand `i` of a broadcasting operator, or no_value.
value_id unexpanded(rewriter& r, graph_node const& n, std::size_t i) {
    value_id const id = n.inputs[i];
    if (id == no_value || r.is_constant(id)) return no_value;
    if (auto const number = r.forms().number(id); number)
        return r.add_constant(scalar_tensor(*number, r.type(id).dtype));
    graph_node const* const p = r.producer(id);
    if (p != nullptr && p->op == "ConstantOfShape") return filling(r, *p);
    return p != nullptr && p->op == "Expand" ? p->inputs[0] : no_value;
}

/// What operands broadcast to; nothing if that is not certain.
std::optional<shape> broadcast_shape(rewriter const& r, std::vector<value_id> const& operands) {
    std::vector<dim> dims;
    for (value_id id : operands) {
        shape const& s = r.shape_of(id);
        if (!s.has_rank()) return {};
        if (s.rank() > dims.size()) dims.insert(dims.begin(), s.rank() - dims.size(), dim(1));
        for (std::size_t i = 0; i != s.rank(); ++i) {
            dim& d = dims[dims.size() - s.rank() + i];
            if (s[i].is(1)) continue;
            if (d.is(1)) d = s[i];
            if (!d.same_as(s[i])) return {}; // or unknown
        }
    }
    return shape(dims);
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
        value_id const x = unexpanded(r, n, i);
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

/// An operator on an expanded mask or index computes the smaller tensor, which is expanded instead; a later operator may broadcast it.
bool delay_expands(rewriter& r, graph_node& n) {
    shape const& out = r.shape_of(n.outputs[0]);
    if (!out.has_rank() || r.graph().opset < 8) return false;
    for (std::size_t i = 0; i != n.inputs.size(); ++i) {
        graph_node const* const p = r.producer(n.inputs[i], "Expand");
        if (p == nullptr || r.uses(n.inputs[i]) != 1) continue;
        if (dtype const t = r.type(n.inputs[i]).dtype; t != dtype::bool_ && t != dtype::int64) continue;
        value_id const target = p->inputs[1];
        graph_node small = n;
        small.inputs[i] = p->inputs[0];
        std::optional<shape> const s = broadcast_shape(r, small.inputs);
        if (!s || same_shape(*s, out)) continue;
        value_id const computed = r.add_node(std::move(small), {r.type(n.outputs[0]).dtype, *s});
        n.op = "Expand";
        n.attributes.clear();
        r.set_inputs(n, {computed, target});
        return false;
    }
    return false;
}

} // namespace ATON_NAMESPACE::passes
