// SPDX-License-Identifier: MIT
// Axes counted from either end, slices beyond the end, and shapes that resolve to the same sizes.
#include "same_layout.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>

#include "value_facts.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using numbers = std::vector<std::int64_t>;

/// Whether an operator takes a list of axes whose order does not matter.
bool takes_axes(std::string_view op) { return op.starts_with("Reduce") || op == "Squeeze" || op == "Unsqueeze"; }

bool is_broadcasting(std::string_view op) {
    return one_of(op,
                  {"Add",
                   "Sub",
                   "Mul",
                   "Div",
                   "Pow",
                   "Max",
                   "Min",
                   "Where",
                   "Less",
                   "LessOrEqual",
                   "Greater",
                   "GreaterOrEqual",
                   "Equal",
                   "And",
                   "Or",
                   "Xor",
                   "Mod",
                   "BitShift"});
}

bool is_elementwise(std::string_view op) {
    return one_of(op,
                  {"Cast",
                   "Abs",
                   "Neg",
                   "Sign",
                   "Not",
                   "Sqrt",
                   "Exp",
                   "Log",
                   "Reciprocal",
                   "Floor",
                   "Ceil",
                   "Round",
                   "IsNaN",
                   "IsInf"});
}

std::optional<numbers> integers_of(aton::tensor const* t) {
    if (t == nullptr || (t->type != dtype::int64 && t->type != dtype::int32)) return {};
    numbers out;
    for (std::int64_t i = 0; i != t->element_count(); ++i)
        out.push_back(t->at(static_cast<std::size_t>(i)).to<std::int64_t>());
    return out;
}

std::optional<numbers> sizes_of(shape const& s) {
    if (!s.is_static()) return {};
    numbers out;
    for (dim const& d : s.dims()) out.push_back(d.size());
    return out;
}

/// The output sizes of Reshape for a requested shape; nothing if it is invalid.
std::optional<numbers> resolved(numbers const& in, numbers to, bool allows_zero) {
    std::int64_t total = 1;
    for (std::int64_t const size : in) total *= size;
    std::int64_t rest = 1;
    std::int64_t* open = nullptr;
    for (std::size_t i = 0; i != to.size(); ++i) {
        if (to[i] == 0 && !allows_zero) {
            if (i >= in.size()) return {};
            to[i] = in[i];
        }
        if (to[i] < -1 || (to[i] == -1 && open != nullptr)) return {};
        if (to[i] == -1) open = &to[i];
        else rest *= to[i];
    }
    if (open != nullptr && rest == 0) return {};
    if (open != nullptr) *open = total / rest;
    return to;
}

/// The elements that Slice selects along one axis.
struct axis_slice {
    std::int64_t start = 0;
    std::int64_t count = 0;
    std::int64_t step = 1;

    friend bool operator==(axis_slice const&, axis_slice const&) = default;
};

axis_slice axis_slice_of(std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
    if (size == 0) return {0, 0, 1};
    auto const from_front = [&](std::int64_t i) { return i < 0 ? i + size : i; };
    bool const forward = step > 0;
    start = std::clamp<std::int64_t>(from_front(start), 0, forward ? size : size - 1);
    end = std::clamp<std::int64_t>(from_front(end), forward ? 0 : -1, forward ? size : size - 1);
    std::int64_t const count = forward ? (end - start + step - 1) / step : (start - end - step - 1) / -step;
    if (count <= 0) return {0, 0, 1};
    return {start, count, count == 1 ? 1 : step};
}

/// The slice of each axis; nothing if it is unknown.
std::optional<std::vector<axis_slice>> slices_of(shape const& in, std::vector<std::optional<numbers>> const& inputs) {
    auto const sizes = sizes_of(in);
    auto const& starts = inputs[1];
    auto const& ends = inputs[2];
    auto const& axes = inputs[3];
    auto const& steps = inputs[4];
    if (!sizes || !starts || !ends || ends->size() != starts->size()) return {};
    if ((axes && axes->size() != starts->size()) || (steps && steps->size() != starts->size())) return {};
    std::vector<axis_slice> out;
    for (std::int64_t const size : *sizes) out.push_back({0, size, 1});
    auto const rank = static_cast<std::int64_t>(sizes->size());
    for (std::size_t i = 0; i != starts->size(); ++i) {
        std::int64_t axis = axes ? (*axes)[i] : static_cast<std::int64_t>(i);
        std::int64_t const step = steps ? (*steps)[i] : 1;
        if (axis < 0) axis += rank;
        if (axis < 0 || axis >= rank || step == 0) return {};
        auto const at = static_cast<std::size_t>(axis);
        out[at] = axis_slice_of((*sizes)[at], (*starts)[i], (*ends)[i], step);
    }
    return out;
}

} // namespace

/// Whether both lists denote the same axes of the node's first input. The order is ignored for operators of takes_axes().
bool same_layout::same_axes(graph_node const& n, numbers was, numbers now) const {
    if (n.inputs.empty() || n.inputs[0] == no_value) return false;
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    if (!in.has_rank()) return false;
    auto const rank = static_cast<std::int64_t>(in.rank() + (n.op == "Unsqueeze" ? was.size() : 0));
    for (numbers* axes : {&was, &now}) {
        for (std::int64_t& axis : *axes) {
            if (axis < -rank || axis >= rank) return false;
            if (axis < 0) axis += rank;
        }
        if (takes_axes(n.op)) std::sort(axes->begin(), axes->end());
    }
    if (was == now) return true;
    if (n.op != "Unsqueeze" || std::adjacent_find(now.begin(), now.end()) != now.end()) return false;
    // New axes beside others of size 1.
    auto const sizes = sizes_of(in);
    auto const with = [&](numbers const& axes) {
        numbers out = *sizes;
        for (std::int64_t const axis : axes) out.insert(out.begin() + axis, 1);
        return out;
    };
    return sizes && with(was) == with(now);
}

/// Whether Reshape gives the same sizes for another requested shape.
bool same_layout::same_shape(graph_node const& n, numbers const& now) const {
    auto const in = sizes_of(graph_.values[n.inputs[0]].type.shape);
    auto const was = integers_of(graph_.constant(n.inputs[1]));
    node_attribute const* const zero = n.attribute("allowzero");
    bool const allows_zero = zero != nullptr && zero->i != 0;
    if (!in || !was) return false;
    auto const before = resolved(*in, *was, allows_zero);
    return before && before == resolved(*in, now, allows_zero);
}

/// Whether Gather selects the same elements with other indices, counted from either end.
bool same_layout::same_places(graph_node const& n, numbers was, numbers now) const {
    auto const sizes = sizes_of(graph_.values[n.inputs[0]].type.shape);
    if (!sizes || sizes->empty()) return false;
    node_attribute const* const a = n.attribute("axis");
    std::int64_t const axis = a == nullptr ? 0 : a->i + (a->i < 0 ? std::ssize(*sizes) : 0);
    std::int64_t const size = sizes->at(static_cast<std::size_t>(axis));
    for (numbers* places : {&was, &now})
        for (std::int64_t& place : *places) {
            if (place < -size || place >= size) return false;
            if (place < 0) place += size;
        }
    return was == now;
}

/// Whether Slice selects the same elements with other numbers at an input.
bool same_layout::same_slices(graph_node const& n, std::size_t input, numbers const& now) const {
    std::vector<std::optional<numbers>> inputs(5);
    for (std::size_t i = 1; i < n.inputs.size() && i != 5; ++i) {
        if (n.inputs[i] == no_value) continue;
        inputs[i] = integers_of(graph_.constant(n.inputs[i]));
        if (!inputs[i]) return false;
    }
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    auto const before = slices_of(in, inputs);
    inputs[input] = now;
    return before && before == slices_of(in, inputs);
}

numbers same_layout::axes_of(graph_node const& n) const {
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    numbers axes;
    if (node_attribute const* const a = n.attribute("axes")) axes = a->ints;
    if (n.inputs.size() > 1 && n.inputs[1] != no_value) {
        auto const known = integers_of(graph_.constant(n.inputs[1]));
        if (!known) return {};
        axes = *known;
    } else if (axes.empty() && in.has_rank() && n.attribute("noop_with_empty_axes") == nullptr) {
        for (std::size_t i = 0; i != in.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
    }
    for (std::int64_t& axis : axes)
        if (axis < 0) axis += static_cast<std::int64_t>(in.rank());
    std::sort(axes.begin(), axes.end());
    return in.has_rank() ? axes : numbers();
}

/// Whether a reduction is over all axes.
bool same_layout::reduces_all(graph_node const& n) const {
    return reduces_first(n) && axes_of(n).size() == graph_.values[n.inputs[0]].type.shape.rank();
}

/// Whether a reduction is over the leading axes.
bool same_layout::reduces_first(graph_node const& n) const {
    if (!n.op.starts_with("Reduce") || n.inputs.empty()) return false;
    numbers const axes = axes_of(n);
    for (std::size_t i = 0; i != axes.size(); ++i)
        if (axes[i] != static_cast<std::int64_t>(i)) return false;
    return !axes.empty();
}

/// Whether Squeeze removes every axis of size 1.
bool same_layout::squeezes_all(graph_node const& n) const {
    auto const in = sizes_of(graph_.values[n.inputs[0]].type.shape);
    auto const out = sizes_of(graph_.values[n.outputs[0]].type.shape);
    return in && out && std::count(out->begin(), out->end(), 1) == 0;
}

/// Whether every reader of a value broadcasts it to an operand of at least `rank` axes, at once or after elementwise operators, so that
/// leading axes of size 1 do not matter.
bool same_layout::only_broadcast(value_id v, std::size_t rank) const {
    return all_uses(graph_, v, [&](graph_node const& user, std::size_t) {
        if (user.outputs.size() != 1 || (!is_broadcasting(user.op) && !is_elementwise(user.op))) return false;
        bool const meets_others = std::any_of(user.inputs.begin(), user.inputs.end(), [&](value_id other) {
            if (other == v || other == no_value) return false;
            shape const& s = graph_.values[other].type.shape;
            return s.has_rank() && s.rank() >= rank;
        });
        return meets_others || only_broadcast(user.outputs[0], rank);
    });
}

/// Whether every reader of the result reshapes it to sizes that depend on no axis of it except the first `kept`.
bool same_layout::only_reshaped(graph_node const& n, std::int64_t kept) const {
    return all_uses(graph_, n.outputs[0], [&](graph_node const& user, std::size_t i) {
        if (user.op == "Unique" && user.attribute("axis") == nullptr) return true; // flattens its input
        if (user.op != "Reshape" || i != 0) return false;
        auto const to = integers_of(graph_.constant(user.inputs[1]));
        return to && std::find(to->begin() + std::min(kept, std::ssize(*to)), to->end(), 0) == to->end();
    });
}

/// The number of axes before the first one that a reduction is over.
std::int64_t same_layout::leading_axes(graph_node const& n) const {
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    if (node_attribute const* const axis = n.attribute("axis"); axis != nullptr && in.has_rank())
        return axis->i + (axis->i < 0 ? static_cast<std::int64_t>(in.rank()) : 0);
    numbers const axes = n.op.starts_with("Reduce") ? axes_of(n) : numbers();
    return axes.empty() ? 0 : axes.front();
}

bool same_layout::input_dropped(graph_node const& n, std::size_t input) const {
    if (n.op.starts_with("Reduce")) return input == 1 && reduces_all(n); // no axes means all axes
    if (n.op == "Squeeze") return input == 1 && squeezes_all(n);
    if (n.op == "Slice" && input == 3) { // the first axes
        auto const starts = integers_of(graph_.constant(n.inputs[1]));
        numbers first;
        for (std::size_t i = 0; starts && i != starts->size(); ++i) first.push_back(static_cast<std::int64_t>(i));
        return starts && same_slices(n, 3, first);
    }
    if (n.op == "Split" && input == 1 && graph_.opset < 18) { // equal parts
        auto const parts = integers_of(graph_.constant(n.inputs[1]));
        return parts && std::adjacent_find(parts->begin(), parts->end(), std::not_equal_to<>()) == parts->end();
    }
    return false;
}

bool same_layout::is_removable(graph_node const& n, std::size_t kept) const {
    if (kept != 0 || !one_of(n.op, {"Reshape", "Unsqueeze", "Squeeze", "Flatten"})) return false;
    if (only_reshaped(n, 0)) return true;
    auto const from = sizes_of(graph_.values[n.inputs[0]].type.shape);
    auto const to = sizes_of(graph_.values[n.outputs[0]].type.shape);
    if (!from || !to) return false;
    if (*from == *to) return true;
    // Leading axes of size 1 do not matter if other operands have them.
    auto const rest = [](numbers const& sizes) {
        return numbers(std::find_if(sizes.begin(), sizes.end(), [](std::int64_t size) { return size != 1; }),
                       sizes.end());
    };
    return rest(*from) == rest(*to) && only_broadcast(n.outputs[0], std::max(from->size(), to->size()));
}

bool same_layout::attribute_changed(graph_node const& n, mutation const& m) const {
    if (m.name == "keepdims")
        return only_reshaped(n, leading_axes(n)) ||
               (reduces_first(n) && only_broadcast(n.outputs[0], graph_.values[n.inputs[0]].type.shape.rank()));
    graph_node changed = n;
    apply(changed, m);
    if (m.name == "perm" && n.op == "Transpose")
        return same_axes(n, n.attribute("perm")->ints, changed.attribute("perm")->ints);
    bool const one_axis = m.name == "axis" && one_of(n.op,
                                                     {"Softmax",
                                                      "LogSoftmax",
                                                      "Concat",
                                                      "Gather",
                                                      "GatherElements",
                                                      "TopK",
                                                      "Split",
                                                      "ArgMax",
                                                      "ArgMin",
                                                      "ScatterElements",
                                                      "LayerNormalization"});
    if (!one_axis && (m.name != "axes" || !takes_axes(n.op))) return false;
    auto const axes_in = [&](graph_node const& of) {
        node_attribute const* const a = of.attribute(m.name);
        return one_axis ? numbers{a->i} : a->ints;
    };
    return same_axes(n, axes_in(n), axes_in(changed));
}

bool same_layout::constant_changed(graph_node const& n, mutation const& m) const {
    value_id const v = n.outputs[0];
    // Ends of Slice beyond any size.
    constexpr std::int64_t huge = std::numeric_limits<std::int32_t>::max();
    auto const was = integers_of(&n.attributes[0].tensors[0]);
    if (!was) return false;
    bool const by_one = m.what.find(": one ") != std::string::npos;
    if (by_one && std::all_of(was->begin(), was->end(), [](std::int64_t i) { return i >= huge; }))
        return all_uses(graph_, v, [](graph_node const& user, std::size_t i) { return i == 2 && user.op == "Slice"; });
    graph_node changed = n;
    apply(changed, m);
    auto const now = integers_of(&changed.attributes[0].tensors[0]);
    return now && all_uses(graph_, v, [&](graph_node const& user, std::size_t i) {
               if (user.op == "Slice")
                   return i != 0 && (same_slices(user, i, *now) || (i == 3 && same_axes(user, *was, *now)));
               if (i != 1) return false;
               if (user.op == "Gather") return same_places(user, *was, *now);
               if (user.op == "Reshape") return same_shape(user, *now);
               return (takes_axes(user.op) || user.op == "CumSum") && same_axes(user, *was, *now);
           });
}

bool same_layout::holds(mutation const& m) const {
    graph_node const& n = graph_.nodes[m.node];
    switch (m.is) {
    case mutation::kind::drop_input: return input_dropped(n, m.first);
    case mutation::kind::drop_node: return is_removable(n, m.first);
    case mutation::kind::attribute: return attribute_changed(n, m);
    case mutation::kind::constant: return constant_changed(n, m);
    default: return false;
    }
}

} // namespace ATON_NAMESPACE::verify
