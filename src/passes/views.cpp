// SPDX-License-Identifier: MIT
// Merges chains of Reshape, Squeeze, Unsqueeze and Flatten, removes no-ops, and replaces computed shapes by constants.
#include "rewriter.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

bool same_shape(shape const& a, shape const& b) {
    return a.has_rank() && b.has_rank() &&
           std::equal(
               a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end(), [](dim const& x, dim const& y) {
                   return x.same_as(y);
               });
}

bool same_shape_of_same_elements(shape const& a, shape const& b) {
    if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return false;
    std::size_t open = 0;
    bool all_positive = true;
    for (std::size_t i = 0; i != a.rank(); ++i) {
        bool const same = a[i].same_as(b[i]);
        if (!same && a[i].is_static() && b[i].is_static()) return false;
        if (!same) ++open;
        else if (a[i].size_or(0) == 0) all_positive = false; // 0 times anything is 0
    }
    return open == 0 || (open == 1 && all_positive);
}

std::optional<std::vector<std::int64_t>> reshape_target(shape const& from, shape const& to) {
    if (!to.has_rank()) return {};
    std::vector<std::int64_t> out;
    std::size_t open = 0; // dimensions that are not static
    std::size_t left = 0; // those that cannot be copied
    bool has_zero = false;
    for (std::size_t i = 0; i != to.rank(); ++i) {
        bool const copied = from.has_rank() && i < from.rank() && from[i].same_as(to[i]);
        if (to[i].is_static()) {
            if (to[i].size() == 0 && !copied) return {};
            has_zero = has_zero || to[i].size() == 0;
            out.push_back(to[i].size());
        } else {
            ++open;
            left += copied ? 0 : 1;
            out.push_back(copied ? 0 : -1);
        }
    }
    if (left > 1 || (left == 1 && has_zero)) return {};
    if (open == 1 && !has_zero) // does not depend on the input's shape
        for (std::size_t i = 0; i != out.size(); ++i)
            if (!to[i].is_static()) out[i] = -1;
    return out;
}

namespace {

bool is_view(graph_node const& n) {
    return n.op == "Reshape" || n.op == "Squeeze" || n.op == "Unsqueeze" || n.op == "Flatten";
}

bool is_tensor(rewriter const& r, value_id id) { return id != no_value && r.type(id).kind == value_kind::tensor; }

bool has_constant_shape_without_zero(rewriter const& r, graph_node const& n) {
    tensor const* const t = r.constant(input(n, 1));
    if (n.op != "Reshape" || t == nullptr || !is_index_tensor(*t)) return false;
    std::vector<std::int64_t> const sizes = integers(*t);
    return std::find(sizes.begin(), sizes.end(), 0) == sizes.end();
}

/// Squeeze(Transpose(Reshape(x))): the Reshape does not need to create the dimensions of 1.
bool squeeze_before_transpose(rewriter& r, graph_node& n) {
    graph_node const* const transpose = r.producer(n.inputs[0], "Transpose");
    if (transpose == nullptr || r.uses(n.inputs[0]) != 1 || r.uses(transpose->inputs[0]) != 1) return false;
    value_id const wide = transpose->inputs[0];
    graph_node const* const view = r.producer(wide);
    node_attribute const* const perm = transpose->attribute("perm");
    shape const from = r.shape_of(wide);
    shape const transposed = r.shape_of(n.inputs[0]);
    shape const out = r.shape_of(n.outputs[0]);
    if (view == nullptr || !is_view(*view) || perm == nullptr || !from.has_rank() || !transposed.has_rank() ||
        !out.has_rank() || perm->ints.size() != from.rank() || transposed.rank() != from.rank())
        return false;
    // The result is the transposed shape without some dimensions of 1; matched greedily from the left.
    std::vector<char> removed(from.rank(), 0);
    std::vector<std::int64_t> order;
    std::size_t kept = 0;
    for (std::size_t i = 0; i != transposed.rank(); ++i) {
        auto const axis = static_cast<std::size_t>(perm->ints[i]);
        if (kept != out.rank() && transposed[i].same_as(out[kept])) {
            order.push_back(perm->ints[i]);
            ++kept;
        } else if (transposed[i].is(1) && axis < removed.size()) {
            removed[axis] = 1;
        } else {
            return false;
        }
    }
    if (kept != out.rank()) return false;
    std::vector<dim> dims;
    for (std::size_t i = 0; i != from.rank(); ++i)
        if (removed[i] == 0) dims.push_back(from[i]);
    value_id const x = view->inputs[0];
    auto const target = reshape_target(r.shape_of(x), shape(dims));
    if (!target) return false;
    for (std::int64_t& p : order)
        p -= std::count(removed.begin(), removed.begin() + static_cast<std::ptrdiff_t>(p), char{1});
    graph_node reshape = make_node("Reshape", {x, r.add_integers(*target)}, *view);
    n.op = "Transpose";
    n.attributes.assign(1, {});
    n.attributes[0].name = "perm";
    n.attributes[0].type = onnx::attr_type::ints;
    n.attributes[0].ints = std::move(order);
    r.set_inputs(n, {r.add_node(std::move(reshape), {r.type(wide).dtype, shape(dims)})});
    return true;
}

/// Turns a view into a Reshape of another value.
void make_reshape(rewriter& r, graph_node& n, value_id from, std::vector<std::int64_t> const& target) {
    value_id const to = r.add_integers(target);
    n.op = "Reshape";
    n.attributes.clear();
    r.set_inputs(n, {from, to});
}

/// A view of a cast of a view: the cast goes first, and one view is left.
bool join_views_over_cast(rewriter& r, graph_node& n) {
    value_id const x = n.inputs[0];
    graph_node const* const cast = r.producer(x, "Cast");
    if (cast == nullptr || r.uses(x) != 1 || r.uses(cast->inputs[0]) != 1) return false;
    graph_node const* const view = r.producer(cast->inputs[0]);
    if (view == nullptr || !is_view(*view)) return false;
    value_id const origin = view->inputs[0];
    auto const target = reshape_target(r.shape_of(origin), r.shape_of(n.outputs[0]));
    if (!target || !is_tensor(r, origin)) return false;
    graph_node moved = make_node("Cast", {origin}, *cast);
    moved.attributes = cast->attributes;
    value_type const type{r.type(x).dtype, r.shape_of(origin)};
    value_id const from = r.add_node(std::move(moved), type);
    make_reshape(r, n, from, *target);
    return true;
}

} // namespace

bool simplify_view(rewriter& r, graph_node& n) {
    value_id const x = n.inputs[0];
    value_id const out = n.outputs[0];
    if (!is_tensor(r, x)) return false;
    value_id origin = x;
    for (int steps = 0; steps != 8; ++steps) {
        if (same_shape_of_same_elements(r.shape_of(origin), r.shape_of(out))) {
            r.replace(out, origin);
            return true;
        }
        graph_node const* const p = r.producer(origin);
        if (p == nullptr || !is_view(*p)) break;
        origin = p->inputs[0];
    }
    graph_node const* const before = r.producer(x);
    if (n.op != "Flatten" && squeeze_before_transpose(r, n)) return false;
    if (join_views_over_cast(r, n)) return false;
    bool const joins = before != nullptr && is_view(*before) && r.uses(x) == 1;
    bool const computed = n.op == "Reshape" && r.constant(input(n, 1)) == nullptr;
    if (!joins && !computed) return false;
    value_id const from = joins ? before->inputs[0] : x;
    if (auto const target = reshape_target(r.shape_of(from), r.shape_of(out)); target) {
        make_reshape(r, n, from, *target);
    } else if (joins && has_constant_shape_without_zero(r, n)) {
        r.set_input(n, 0, from);
    }
    return false;
}

} // namespace ATON_NAMESPACE::passes
