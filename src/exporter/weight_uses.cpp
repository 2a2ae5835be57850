// SPDX-License-Identifier: MIT
#include "weight_uses.hpp"

#include <algorithm>
#include <string_view>

#include "make_attribute.hpp"

namespace ATON_NAMESPACE::exporter {

namespace {

bool contains(std::vector<value_id> const& all, value_id id) {
    return std::find(all.begin(), all.end(), id) != all.end();
}

bool swaps_axes(graph_node const& n) {
    node_attribute const* const perm = n.attribute("perm");
    return perm == nullptr || perm->ints == std::vector<std::int64_t>{1, 0};
}

} // namespace

bool weight_uses::has_products() const {
    return std::any_of(all.begin(), all.end(), [](weight_use const& u) { return !u.is_lookup; });
}

bool weight_uses::has_lookups() const {
    return std::any_of(all.begin(), all.end(), [](weight_use const& u) { return u.is_lookup; });
}

use_finder::use_finder(graph_data const& graph)
    : graph_(graph),
      users_(graph.values.size()),
      is_captured_(graph.values.size(), 0) {
    for (std::size_t k = 0; k != graph.nodes.size(); ++k) {
        graph_node const& n = graph.nodes[k];
        for (std::size_t i = 0; i != n.inputs.size(); ++i)
            if (n.inputs[i] != no_value) users_[n.inputs[i]].push_back({k, i});
        for (node_attribute const& a : n.attributes)
            for (graph_data const& nested : a.graphs)
                for (graph_value const& v : nested.values)
                    if (v.outer != no_value) is_captured_[v.outer] = 1;
    }
}

weight_uses use_finder::uses_of(value_id weight) const {
    weight_uses out;
    if (contains(graph_.inputs, weight)) out.obstacle = "is also an input of the model";
    find(weight, false, out);
    return out;
}

void use_finder::find(value_id id, bool is_transposed, weight_uses& to) const {
    if (contains(graph_.outputs, id)) to.obstacle = "is also an output of the model";
    if (is_captured_[id] != 0) to.obstacle = "is also used in a nested graph";
    for (operand const& at : users_[id]) add(at, is_transposed, graph_.values[id].type.dtype, to);
}

void use_finder::add(operand const& at, bool is_transposed, dtype type, weight_uses& to) const {
    graph_node const& n = graph_.nodes[at.node];
    bool const is_onnx = n.domain.empty();
    if (is_onnx && at.slot == 0 && n.op == "Transpose" && swaps_axes(n)) return find(n.outputs[0], !is_transposed, to);
    if (is_onnx && n.op == "Cast" && graph_.values[n.outputs[0]].type.dtype == dtype::float32) // rounded once at most
        return find(n.outputs[0], is_transposed, to);
    if (is_onnx && at.slot == 0 && n.op == "Gather" && !is_transposed && int_of(n, "axis") == 0)
        return to.all.push_back({at.node, true, true, type});
    bool const is_fused = n.domain == "com.microsoft" && n.op == "FusedMatMul";
    bool const is_product = is_fused || (is_onnx && (n.op == "MatMul" || n.op == "Gemm"));
    if (is_product && at.slot == 1 && n.inputs[0] != n.inputs[1] && int_of(n, "transBatchB") == 0)
        return to.all.push_back({at.node, false, is_transposed != (int_of(n, "transB") != 0), type});
    to.obstacle = is_product && at.slot == 0 ? "is the left operand of " + n.op : "is also used by " + n.op;
}

} // namespace ATON_NAMESPACE::exporter
