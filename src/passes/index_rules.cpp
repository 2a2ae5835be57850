// SPDX-License-Identifier: MIT
// Removes what linear forms decide: comparisons of positions, elements selected at consecutive positions, masks that hide what is ahead.
#include "rewriter.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr std::int64_t max_written_elements = 64; // of a constant that takes the place of a node

/// The only axis along which the form counts 0, 1, 2, ...
std::optional<std::size_t> counted_axis(linear_form const& f) {
    if (f.origin != scalar_form{}) return {};
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i != f.steps.size(); ++i) {
        if (f.steps[i] == 0) continue;
        if (found || f.steps[i] != 1) return {};
        found = i;
    }
    return found;
}

/// `x`, reshaped to dimensions with the same number of elements and expanded to a shape; no_value if a size cannot be computed.
value_id spread(rewriter& r, value_id x, std::vector<dim> const& dims, shape const& to, graph_node const& like) {
    dtype const type = r.type(x).dtype;
    if (!same_shape(r.shape_of(x), shape(dims))) {
        auto const target = reshape_target(r.shape_of(x), shape(dims));
        if (!target) return no_value;
        graph_node reshape = make_node("Reshape", {x, r.add_integers(*target)}, like);
        x = r.add_node(std::move(reshape), {type, shape(dims)});
    }
    if (same_shape(shape(dims), to)) return x;
    std::vector<dim> wanted = to.dims();
    for (std::size_t i = 0; i != dims.size(); ++i)
        if (dims[i].same_as(to[i + to.rank() - dims.size()])) wanted[i + to.rank() - dims.size()] = dim(1);
    value_id const sizes = r.sizes().shape_value(wanted, like);
    if (sizes == no_value) return no_value;
    return r.add_node(make_node("Expand", {x, sizes}, like), {type, to});
}

/// A tensor of the form, if there is a short way to compute it.
value_id written(rewriter& r, linear_form const& f, shape const& out, dtype type, graph_node const& like) {
    if (auto const number = f.number(); number)
        return spread(r, r.add_constant(scalar_tensor(*number, type)), {}, out, like);
    std::optional<std::size_t> const axis = counted_axis(f);
    if (!axis || type != dtype::int64) return no_value;
    value_id const positions = r.forms().positions(out[*axis], like);
    if (positions == no_value) return no_value;
    std::vector<dim> dims(out.rank(), dim(1));
    dims[*axis] = out[*axis];
    return spread(r, positions, dims, out, like);
}

/// For each axis of the data that is selected from, the axis of the result whose coordinate is the index; nothing if it has size 1.
using selected_axes = std::vector<std::optional<std::size_t>>;

/// Whether the indices are coordinates of the result, each along all of an axis of the data. The axes of the indices start at `first`.
std::optional<selected_axes> selected(rewriter& r, graph_node const& n, std::size_t first) {
    shape const& data = r.shape_of(n.inputs[0]);
    shape const& out = r.shape_of(n.outputs[0]);
    index_components const parts = r.forms().components(n);
    selected_axes axes;
    for (std::size_t k = 0; k != parts.size(); ++k) {
        if (!parts[k] || first + k >= data.rank()) return {};
        if (parts[k]->number() == 0 && data[first + k].is(1)) {
            axes.emplace_back();
            continue;
        }
        std::optional<std::size_t> const axis = counted_axis(*parts[k]);
        if (!axis || !data[first + k].same_as(out[first + *axis])) return {};
        axes.emplace_back(first + *axis);
    }
    return axes.empty() ? std::nullopt : std::optional(axes);
}

/// Selection of all elements in order: a view of the data, expanded along the other axes of the indices.
value_id view_of_data(rewriter& r, graph_node const& n) {
    shape const data = r.shape_of(n.inputs[0]);
    shape const out = r.shape_of(n.outputs[0]);
    bool const is_nd = n.op == "GatherND";
    auto const first = axis_at(is_nd ? 0 : int_attribute(n, "axis", 0), data.rank());
    std::optional<selected_axes> const axes = first ? selected(r, n, *first) : std::nullopt;
    if (!axes) return no_value;
    // The axis of the result for each axis of the data.
    std::size_t const wide = r.shape_of(n.inputs[1]).rank() - (is_nd ? 1 : 0);
    if (out.rank() + axes->size() != data.rank() + wide) return no_value;
    selected_axes place;
    for (std::size_t i = 0; i != *first; ++i) place.emplace_back(i);
    place.insert(place.end(), axes->begin(), axes->end());
    for (std::size_t i = *first + axes->size(); i != data.rank(); ++i) place.emplace_back(i - axes->size() + wide);
    std::vector<std::int64_t> perm(data.rank());
    std::iota(perm.begin(), perm.end(), 0);
    std::stable_sort(perm.begin(), perm.end(), [&](std::int64_t a, std::int64_t b) {
        return place[static_cast<std::size_t>(a)].value_or(0) < place[static_cast<std::size_t>(b)].value_or(0);
    });
    std::vector<dim> dims(out.rank(), dim(1));
    for (std::size_t i = 0; i != place.size(); ++i) {
        if (!place[i]) continue;
        if (dims[*place[i]] != dim(1)) return no_value; // a diagonal
        dims[*place[i]] = data[i];
    }
    value_id x = n.inputs[0];
    if (!std::is_sorted(perm.begin(), perm.end())) {
        std::vector<dim> moved;
        for (std::int64_t p : perm) moved.push_back(data[static_cast<std::size_t>(p)]);
        graph_node transpose = make_node("Transpose", {x}, n);
        node_attribute& a = transpose.attributes.emplace_back();
        a.name = "perm";
        a.type = onnx::attr_type::ints;
        a.ints = perm;
        x = r.add_node(std::move(transpose), {r.type(x).dtype, shape(moved)});
    }
    return spread(r, x, dims, out, n);
}

/// Of a comparison of integers, the form that is at most 0 where the result is true, in sizes that the result broadcasts to.
std::optional<linear_form> true_up_to_zero(rewriter& r, value_id condition, size_forms const& s) {
    graph_node const* const p = r.producer(condition);
    if (p == nullptr || p->inputs.size() != 2 || r.type(p->inputs[0]).dtype != dtype::int64) return {};
    bool const less = p->op == "LessOrEqual" || p->op == "Less";
    if (!less && p->op != "GreaterOrEqual" && p->op != "Greater") return {};
    auto d = less ? r.forms().difference(p->inputs[0], p->inputs[1], s)
                  : r.forms().difference(p->inputs[1], p->inputs[0], s);
    if (d && (p->op == "Less" || p->op == "Greater")) ++d->origin.constant;
    return d;
}

/// Whether the mask is true where the key is at or before the query: `key <= query`.
bool is_causal(rewriter& r, value_id mask) {
    size_forms const s = r.forms().sizes_of(mask);
    std::optional<linear_form> const f = s.size() < 2 ? std::nullopt : true_up_to_zero(r, mask, s);
    if (!f) return false;
    std::vector<std::int64_t> wanted(s.size(), 0);
    wanted[s.size() - 1] = 1;
    wanted[s.size() - 2] = -1;
    return f->origin == scalar_form{} && f->steps == wanted;
}

/// Whether a condition is true at the last coordinate 0, or where the last two coordinates are equal.
bool is_true_at(rewriter& r, value_id condition, size_forms const& s, bool at_zero, int depth = 0) {
    if (r.forms().number(condition) == 1) return true;
    graph_node const* const p = r.producer(condition);
    if (p == nullptr || depth == 8) return false;
    if (p->op == "Expand") return is_true_at(r, p->inputs[0], s, at_zero, depth + 1);
    if (p->op == "And")
        return is_true_at(r, p->inputs[0], s, at_zero, depth + 1) && is_true_at(r, p->inputs[1], s, at_zero, depth + 1);
    std::optional<linear_form> f = true_up_to_zero(r, condition, s);
    if (!f) return false;
    std::size_t const last = s.size() - 1;
    if (!at_zero) f->steps[last - 1] += f->steps[last];
    f->steps[last] = 0;
    std::optional<std::int64_t> const highest = maximum(*f);
    return highest && *highest <= 0;
}

} // namespace

/// Whether every line of a mask along its last axis has an element that is true, unless the axis is empty.
bool shows_in_every_line(rewriter& r, value_id mask) {
    if (!r.shape_of(mask).has_rank() || r.type(mask).dtype != dtype::bool_) return false;
    size_forms const s = r.forms().sizes_of(mask);
    if (s.size() < 2) return false;
    bool const square = s[s.size() - 1] && s[s.size() - 2] == s[s.size() - 1];
    return is_true_at(r, mask, s, true) || (square && is_true_at(r, mask, s, false));
}

/// Replaces a small tensor whose elements are one known number by a constant.
bool simplify_indices(rewriter& r, graph_node& n) {
    std::optional<linear_form> const f = r.forms().infer(n);
    if (!f || !f->number()) return false;
    value_id const out = n.outputs[0];
    shape const& s = r.shape_of(out);
    if (!s.is_static() || s.element_count() > max_written_elements) return false;
    tensor t{r.type(out).dtype, {}, {}};
    for (dim const& d : s.dims()) t.sizes.push_back(d.size());
    for (std::int64_t i = 0; i != s.element_count(); ++i) t.append(*f->number());
    r.replace(out, r.add_constant(std::move(t)));
    return true;
}

/// Gather and GatherND at positions: of positions, the result is positions; of other data, it may be a view.
bool simplify_gather(rewriter& r, graph_node& n) {
    value_id const out = n.outputs[0];
    if (n.inputs.size() != 2 || !r.shape_of(out).has_rank() || !r.shape_of(n.inputs[0]).has_rank()) return false;
    if (r.graph().opset < 8) return false;
    value_id by = no_value;
    if (auto const f = r.forms().infer(n); f) by = written(r, *f, r.shape_of(out), r.type(out).dtype, n);
    if (by == no_value) by = view_of_data(r, n);
    if (by == no_value) return false;
    r.replace(out, by);
    return true;
}

/// Attention broadcasts its mask over batch and heads, needs none that is true everywhere, and has an attribute for one that hides later
/// keys.
bool simplify_attention_mask(rewriter& r, graph_node& n) {
    value_id const mask = input(n, 3);
    if (mask == no_value || n.outputs.size() != 1) return false;
    shape const& q = r.shape_of(n.inputs[0]);
    shape const& k = r.shape_of(input(n, 1));
    bool const hides_later_keys = q.rank() == 4 && k.rank() == 4 && q[2].same_as(k[2]) && is_causal(r, mask);
    if (n.inputs.size() == 4 && (hides_later_keys || r.forms().number(mask) == 1)) {
        if (hides_later_keys) set_int_attribute(n, "is_causal", 1);
        r.set_inputs(n, {n.inputs[0], n.inputs[1], n.inputs[2]});
        return false;
    }
    graph_node const* const p = r.producer(mask, "Expand");
    if (p == nullptr) return false;
    shape const& small = r.shape_of(p->inputs[0]);
    shape const& large = r.shape_of(mask);
    std::size_t const rank = large.rank();
    if (!small.has_rank() || small.rank() != rank || rank < 2) return false;
    if (small[rank - 1].same_as(large[rank - 1]) && small[rank - 2].same_as(large[rank - 2]))
        r.set_input(n, 3, p->inputs[0]);
    return false;
}

} // namespace ATON_NAMESPACE::passes
