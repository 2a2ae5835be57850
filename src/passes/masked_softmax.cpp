// SPDX-License-Identifier: MIT
// Attention returns zeros for rows in which a mask hides every key. Removes this if no row is fully masked; otherwise uses three nodes.
#include "rewriter.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

bool is_number(rewriter const& r, value_id id, double number) {
    tensor const* const t = r.constant(id);
    return t != nullptr && t->element_count() == 1 && is_floating(t->type) && tensor::can_hold(t->type) &&
           t->at(0).to<double>() == number;
}

/// Whether each line along the last axis has an element that is true or finite.
bool has_no_hidden_row(tensor const& mask) {
    if (mask.sizes.empty() || !tensor::can_hold(mask.type) || mask.element_count() == 0) return false;
    auto const line = static_cast<std::size_t>(mask.sizes.back());
    auto const count = static_cast<std::size_t>(mask.element_count());
    for (std::size_t first = 0; first != count; first += line) {
        bool seen = false;
        for (std::size_t i = first; !seen && i != first + line; ++i) {
            double const e = mask.at(i).to<double>();
            seen = mask.type == dtype::bool_ ? e != 0 : std::isfinite(e);
        }
        if (!seen) return false;
    }
    return true;
}

constexpr double hidden = -std::numeric_limits<double>::infinity();

/// Whether no row of these scores consists only of -infinity. Products of finite numbers are assumed not to overflow.
bool has_harmless_mask(rewriter& r, value_id scores) {
    graph_node const* const p = r.producer(scores);
    if (p == nullptr) return false;
    if (p->op == "MatMul") return r.type(scores).dtype == dtype::float32 || r.type(scores).dtype == dtype::float64;
    if (p->op == "Where") {
        tensor const* const mask = r.constant(p->inputs[0]);
        bool const shows = mask != nullptr ? has_no_hidden_row(*mask) : shows_in_every_line(r, p->inputs[0]);
        return shows && is_number(r, p->inputs[2], hidden);
    }
    if (p->op != "Add") return false;
    tensor const* const mask = r.constant(p->inputs[1]);
    return mask != nullptr && is_floating(mask->type) && has_no_hidden_row(*mask);
}

/// Zeros of any shape.
bool is_zero(rewriter const& r, value_id id) {
    tensor const* t = r.constant(id);
    if (graph_node const* const p = r.producer(id); p != nullptr && p->op == "Expand") {
        t = r.constant(p->inputs[0]);
    } else if (p != nullptr && p->op == "ConstantOfShape") {
        node_attribute const* const a = p->attribute("value");
        if (a == nullptr) return true;
        t = a->tensors.empty() ? nullptr : a->tensors.data();
    }
    return t != nullptr && is_floating(t->type) &&
           std::all_of(t->bytes.begin(), t->bytes.end(), [](char b) { return b == 0; });
}

bool is_last_axis(rewriter const& r, value_id x, std::int64_t axis) {
    shape const& s = r.shape_of(x);
    return axis == -1 || (s.has_rank() && axis + 1 == static_cast<std::int64_t>(s.rank()));
}

bool is_row_maximum(rewriter const& r, graph_node const& n, value_id x) {
    if (n.op != "ReduceMax" || n.inputs[0] != x || int_attribute(n, "keepdims", 1) != 1) return false;
    if (node_attribute const* const a = n.attribute("axes"); a != nullptr)
        return a->ints.size() == 1 && is_last_axis(r, x, a->ints[0]);
    tensor const* const axes = r.constant(input(n, 1));
    return axes != nullptr && is_index_tensor(*axes) && axes->element_count() == 1 &&
           is_last_axis(r, x, integers(*axes)[0]);
}

/// The scores in a condition that is true for all of a row of only -infinity: ReduceMax(scores) == -inf, or scores == -inf.
value_id hidden_rows(rewriter const& r, value_id condition) {
    graph_node const* const equal = r.producer(condition, "Equal");
    if (equal == nullptr || !is_number(r, equal->inputs[1], hidden)) return no_value;
    graph_node const* const largest = r.producer(equal->inputs[0]);
    return largest != nullptr && is_row_maximum(r, *largest, largest->inputs[0]) ? largest->inputs[0]
                                                                                 : equal->inputs[0];
}

/// The scores in a condition that is true for all other rows: any(not(scores == -inf)), with or without casts to integers.
value_id visible_rows(rewriter const& r, value_id condition, graph_node const*& any) {
    graph_node const* p = r.producer(condition);
    if (p != nullptr && p->op == "Cast") p = r.producer(p->inputs[0]);
    if (p == nullptr || !is_row_maximum(r, *p, p->inputs[0])) return no_value;
    any = p;
    p = r.producer(p->inputs[0]);
    if (p != nullptr && p->op == "Cast" && r.type(p->inputs[0]).dtype == dtype::bool_) p = r.producer(p->inputs[0]);
    if (p == nullptr || p->op != "Not") return no_value;
    graph_node const* const equal = r.producer(p->inputs[0], "Equal");
    return equal != nullptr && is_number(r, equal->inputs[1], hidden) ? equal->inputs[0] : no_value;
}

} // namespace

/// Where(ReduceMax(scores) == -inf, 0, Softmax(scores)), Where(scores == -inf, 0, Softmax(scores)), or
/// Where(any(scores != -inf), Softmax(scores), 0).
bool simplify_masked_softmax(rewriter& r, graph_node& n) {
    if (n.inputs.size() != 3 || r.graph().opset < 13) return false;
    graph_node const* any = nullptr;
    bool const hides = is_zero(r, n.inputs[1]);
    if (!hides && !is_zero(r, n.inputs[2])) return false;
    value_id const kept = n.inputs[hides ? 2 : 1];
    graph_node const* const softmax = r.producer(kept, "Softmax");
    value_id const scores = hides ? hidden_rows(r, n.inputs[0]) : visible_rows(r, n.inputs[0], any);
    if (softmax == nullptr || scores == no_value || softmax->inputs[0] != scores ||
        !is_last_axis(r, scores, int_attribute(*softmax, "axis", -1)))
        return false;
    if (r.is_first_sweep() && r.producer(scores, "MatMul") == nullptr)
        return false; // rewrites know the guard with its mask
    if (has_harmless_mask(r, scores)) {
        r.replace(n.outputs[0], kept);
        return true;
    }
    if (hides || !same_shape(r.shape_of(kept), r.shape_of(n.outputs[0]))) return false;
    dtype const type = r.type(scores).dtype;
    if (type != dtype::float32 && type != dtype::float64) return false;
    shape const rows = r.shape_of(any->outputs[0]);
    graph_node largest = *any;
    largest.inputs[0] = scores;
    graph_node equal = make_node("Equal", {}, n);
    value_id const maximum = r.add_node(std::move(largest), {type, rows});
    equal.inputs = {maximum, r.add_constant(scalar_tensor(hidden, type))};
    r.set_inputs(n,
                 {r.add_node(std::move(equal), {dtype::bool_, rows}), r.add_constant(scalar_tensor(0.0, type)), kept});
    return false;
}

} // namespace ATON_NAMESPACE::passes
