// SPDX-License-Identifier: MIT
// Follows the signs of zeros from the results of a graph to the values that they come from.
#include "zero_signs.hpp"

#include <algorithm>
#include <cstddef>

#include <aton/onnx/traits.hpp>

#include "attributes.hpp"
#include "captures.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Whether no element is 0, so that x + t is never a zero that x decides the sign of.
bool has_no_zero(tensor const* t) {
    if (t == nullptr || !is_floating(t->type) || !tensor::can_hold(t->type) || t->element_count() > 64) return false;
    for (std::size_t i = 0; i != static_cast<std::size_t>(t->element_count()); ++i)
        if (t->at(i).to<double>() == 0) return false;
    return true;
}

} // namespace

std::vector<std::uint8_t> matter_zero_signs(graph_data const& graph) {
    std::vector<std::uint8_t> out(graph.values.size(), 0);
    auto const set = [&](value_id id) {
        if (id != no_value) out[id] = 1;
    };
    for (value_id const id : graph.outputs) set(id);
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        graph_node const& n = graph.nodes[i];
        for_each_capture(n, set);
        bool const is_known = plain_domain(n.domain).empty();
        onnx::zero_sign const zero = is_known ? onnx::traits_of(n.op).zero : onnx::zero_sign::shown;
        if (zero == onnx::zero_sign::hidden) continue;
        if (is_known && n.op == "Pow" && !n.inputs.empty()) { // x to the power 0 is 1
            set(n.inputs[0]);
            continue;
        }
        bool const is_passing = zero == onnx::zero_sign::passed;
        if (is_passing && std::ranges::none_of(n.outputs, [&](value_id id) { return id != no_value && out[id] != 0; }))
            continue;
        if (is_passing && n.op == "Add" && n.inputs.size() == 2 &&
            (has_no_zero(graph.constant(n.inputs[0])) || has_no_zero(graph.constant(n.inputs[1]))))
            continue;
        std::ranges::for_each(n.inputs, set);
    }
    return out;
}

} // namespace ATON_NAMESPACE::passes
