// SPDX-License-Identifier: MIT
// Follows the signs of zeros from the results of a graph to the values that they come from.
#include "zero_signs.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>

#include "attributes.hpp"
#include "captures.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Results do not depend on the signs of zeros: tests and sizes, functions that are even or not 0 at 0, and sums of products, in which a
/// runtime starts with 0.
// clang-format off
std::unordered_set<std::string_view> const ignoring{
    "Abs", "ArgMax", "ArgMin", "AveragePool", "Conv", "ConvTranspose", "Cos", "Cosh", "Einsum", "Equal", "Exp",
    "Gemm", "GlobalAveragePool", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "LogSoftmax", "MatMul",
    "ReduceL1", "ReduceL2", "ReduceMean", "ReduceSum", "ReduceSumSquare", "Shape", "Sigmoid", "Size", "Softmax",
    "Softplus",
};
// clang-format on

/// The sign of a zero in the first operand, or in any, can only become that of a zero in a result.
// clang-format off
std::unordered_set<std::string_view> const passing{
    "Add", "BatchNormalization", "Clip", "Concat", "Dropout", "Erf", "Expand", "Flatten", "Identity",
    "LayerNormalization", "LeakyRelu", "Max", "MaxPool", "Min", "Mul", "Neg", "Pad", "Relu", "Reshape", "Resize",
    "Sin", "Slice", "Split", "Sqrt", "Squeeze", "Sub", "Tanh", "Tile", "Transpose", "Unsqueeze", "Where",
};
// clang-format on

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
        if (is_known && ignoring.contains(n.op)) continue;
        if (is_known && n.op == "Pow" && !n.inputs.empty()) { // x to the power 0 is 1
            set(n.inputs[0]);
            continue;
        }
        bool const is_passing = is_known && passing.contains(n.op);
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
