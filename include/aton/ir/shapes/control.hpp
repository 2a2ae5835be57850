// SPDX-License-Identifier: MIT
// Type rules of operators with nested graphs: If, Loop, Scan and SequenceMap.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/shape.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/shapes/context.hpp>

namespace ATON_NAMESPACE::shapes {

/// The type of a value that has one of two types: the properties that both share.
template <class = void>
value_type common_type(value_type const& a, value_type const& b) {
    if (a.kind != b.kind) return {};
    value_type out{a.dtype == b.dtype ? a.dtype : dtype::undefined, shape(), a.kind};
    if (!a.shape.has_rank() || !b.shape.has_rank() || a.shape.rank() != b.shape.rank()) return out;
    dims d = a.shape.dims();
    for (std::size_t i = 0; i != d.size(); ++i)
        if (!d[i].same_as(b.shape[i])) d[i] = dim();
    out.shape = shape(d);
    return out;
}

/// The graph of an attribute, or nullptr.
template <class Context>
auto const* body_of(Context const& c, std::string_view name) {
    node_attribute const* const a = c.attribute(name);
    return a != nullptr && a->graphs.size() == 1 ? a->graphs.data() : nullptr;
}

/// The type of output `i` of a body; unknown if there is none.
template <class Graph>
value_type output_type(Graph const& body, std::size_t i) {
    return i < body.outputs.size() && body.outputs[i] < body.values.size() ? body.values[body.outputs[i]].type
                                                                           : value_type{};
}

/// The type of values stacked along a new axis.
template <class = void>
value_type stacked(value_type t, std::int64_t axis, dim const& size) {
    if (!t.shape.has_rank()) return t;
    dims d = t.shape.dims();
    axis = axis_of(axis, count(d) + 1);
    if (axis < 0) return {t.dtype, shape(), t.kind};
    d.insert(d.begin() + axis, size);
    t.shape = shape(d);
    return t;
}

template <class Context>
void if_branches(Context& c) {
    auto const* const yes = body_of(c, "then_branch");
    auto const* const no = body_of(c, "else_branch");
    if (yes == nullptr || no == nullptr) return;
    for (std::size_t i = 0; i != c.outputs(); ++i)
        c.set_type(i, common_type(output_type(*yes, i), output_type(*no, i)));
}

/// Whether input `i` is missing or a constant true.
template <class Context>
bool is_true_or_absent(Context const& c, std::size_t i) {
    if (!c.has(i)) return true;
    tensor const* const t = c.constant(i);
    return t != nullptr && t->bytes.size() == 1 && t->bytes[0] != 0;
}

/// Whether a Loop always runs until its trip count: its body retrips a constant true, or the condition that it is given.
template <class Context, class Graph>
bool runs_to_trip_count(Context const& c, Graph const& body) {
    if (body.outputs.empty()) return false;
    value_id id = body.outputs[0];
    for (int steps = 0; steps != 8 && id < body.values.size(); ++steps) {
        if (body.inputs.size() > 1 && id == body.inputs[1]) return true;
        tensor const* const t =
            body.values[id].outer != no_value ? c.constant_value(body.values[id].outer) : body.constant(id);
        if (t != nullptr) return t->bytes.size() == 1 && t->bytes[0] != 0;
        std::int64_t const producer = body.values[id].producer;
        if (producer < 0) return false;
        graph_node const& n = body.nodes[index(producer)];
        if (n.op != "Identity" || !n.domain.empty() || n.inputs.size() != 1) return false;
        id = n.inputs[0];
    }
    return false;
}

/// Inputs: trip count, condition, carried values. Outputs: carried values, then the stacked results of all iterations.
template <class Context>
void loop(Context& c) {
    auto const* const body = body_of(c, "body");
    if (body == nullptr || body->inputs.size() < 2) return;
    std::size_t const carried = body->inputs.size() - 2;
    dim trips;
    if (tensor const* const t = c.constant(0); t != nullptr && t->type == dtype::int64 && t->element_count() == 1 &&
                                               is_true_or_absent(c, 1) && runs_to_trip_count(c, *body))
        trips = larger(t->at(0).to<std::int64_t>(), 0);
    for (std::size_t i = 0; i != c.outputs(); ++i) {
        value_type const made = output_type(*body, i + 1);
        if (i >= carried) c.set_type(i, stacked(made, 0, trips));
        else if (c.has(i + 2)) c.set_type(i, common_type(c.type(i + 2), made));
    }
}

/// Since opset 9. Inputs: states, then scanned values. Outputs: states, then stacked results.
template <class Context>
void scan(Context& c) {
    auto const* const body = body_of(c, "body");
    auto const scanned = static_cast<std::size_t>(c.number("num_scan_inputs", 0));
    if (body == nullptr || c.opset() < 9 || scanned == 0 || scanned > c.inputs()) return;
    std::size_t const states = c.inputs() - scanned;
    list const in_axes = c.numbers("scan_input_axes");
    list const out_axes = c.numbers("scan_output_axes");
    dim trips;
    for (std::size_t i = 0; i != scanned; ++i) {
        if (!c.ranked(states + i)) continue;
        std::int64_t const axis = axis_of(i < in_axes.size() ? in_axes[i] : 0, c.rank(states + i));
        if (axis >= 0) trips = merge(trips, c.in(states + i)[index(axis)]);
    }
    for (std::size_t i = 0; i != c.outputs(); ++i) {
        value_type const made = output_type(*body, i);
        std::size_t const k = i - states;
        if (i >= states) c.set_type(i, stacked(made, k < out_axes.size() ? out_axes[k] : 0, trips));
        else if (c.has(i)) c.set_type(i, common_type(c.type(i), made));
    }
}

template <class Context>
void sequence_map(Context& c) {
    auto const* const body = body_of(c, "body");
    if (body == nullptr) return;
    for (std::size_t i = 0; i != c.outputs(); ++i) {
        value_type t = output_type(*body, i);
        t.kind = value_kind::sequence;
        c.set_type(i, t);
    }
}

} // namespace ATON_NAMESPACE::shapes
