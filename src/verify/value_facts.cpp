// SPDX-License-Identifier: MIT
// Propagates value facts through operators.
#include "value_facts.hpp"

#include <algorithm>
#include <cmath>

namespace ATON_NAMESPACE::verify {

std::optional<std::vector<double>> numbers_of(tensor const* t) {
    if (t == nullptr || !tensor::can_hold(t->type) || is_complex(t->type)) return {};
    std::vector<double> out;
    for (std::int64_t i = 0; i != t->element_count(); ++i)
        out.push_back(t->at(static_cast<std::size_t>(i)).to<double>());
    return out;
}

bool one_of(std::string_view op, std::initializer_list<std::string_view> all) {
    return std::find(all.begin(), all.end(), op) != all.end();
}

bool is_result(graph_data const& g, value_id v) {
    return std::find(g.outputs.begin(), g.outputs.end(), v) != g.outputs.end() ||
           std::any_of(g.nodes.begin(), g.nodes.end(), [](graph_node const& n) {
               return std::any_of(
                   n.attributes.begin(), n.attributes.end(), [](node_attribute const& a) { return !a.graphs.empty(); });
           });
}

value_facts::value_facts(graph_data const& g) : graph_(g), all_(g.values.size()) {
    for (graph_node const& n : g.nodes)
        if (n.domain.empty() && !n.outputs.empty() && n.outputs[0] != no_value) derive(n);
}

facts const& value_facts::of(graph_node const& n, std::size_t input) const {
    static constexpr facts nothing{};
    return input < n.inputs.size() && n.inputs[input] != no_value ? all_[n.inputs[input]] : nothing;
}

void value_facts::derive(graph_node const& n) {
    facts& f = all_[n.outputs[0]];
    dtype const type = graph_.values[n.outputs[0]].type.dtype;
    f.whole = is_integral(type) || type == dtype::bool_;
    f.bit = type == dtype::bool_;
    f.non_negative = is_integral(type) && !is_signed_integral(type);
    if (n.op == "Constant") {
        auto const numbers = numbers_of(graph_.constant(n.outputs[0]));
        if (!numbers || numbers->empty()) return;
        auto const each = [&](auto const& is) { return std::all_of(numbers->begin(), numbers->end(), is); };
        f.non_negative = each([](double v) { return v >= 0; });
        f.bit = each([](double v) { return v == 0 || v == 1; });
        f.whole = each([](double v) { return v == std::floor(v); });
        if (each([&](double v) { return v == numbers->front(); })) f.all = numbers->front();
    } else if (one_of(n.op, {"Shape", "Size", "NonZero"})) {
        f.non_negative = true;
    } else if (one_of(n.op, {"Abs", "Exp", "Sqrt", "Relu", "Sigmoid", "Softplus", "Softmax", "ReduceL1", "ReduceL2"})) {
        f.non_negative = true;
        f.bit = f.bit || (one_of(n.op, {"Abs", "Relu"}) && of(n, 0).bit);
        f.whole = f.whole || (one_of(n.op, {"Abs", "Relu"}) && of(n, 0).whole);
    } else if (n.op == "ReduceSumSquare") {
        f.non_negative = f.non_negative || is_floating(type); // integers wrap around
    } else if (one_of(n.op, {"Floor", "Ceil", "Round"})) {
        f = {of(n, 0).non_negative, of(n, 0).bit, true, false, {}};
    } else if (n.op == "Sign") {
        f.whole = true;
        f.non_negative = f.bit = of(n, 0).non_negative;
    } else if (n.op == "Cast" || n.op == "CastLike") {
        dtype const from = n.inputs.empty() ? dtype::undefined : graph_.values[n.inputs[0]].type.dtype;
        bool const from_bool = from == dtype::bool_;
        f.bit = f.bit || of(n, 0).bit;
        f.non_negative = f.bit || (is_floating(type) && of(n, 0).non_negative) || from_bool;
        f.whole = f.whole || of(n, 0).whole;
        f.zero_or_nan = is_floating(type) && of(n, 0).zero_or_nan;
        if (of(n, 0).bit) f.all = of(n, 0).all;
    } else if (one_of(n.op,
                      {"Reshape",
                       "Squeeze",
                       "Unsqueeze",
                       "Expand",
                       "Transpose",
                       "Identity",
                       "Flatten",
                       "Slice",
                       "Gather",
                       "GatherElements",
                       "GatherND",
                       "Split",
                       "ReduceMax",
                       "ReduceMin",
                       "Tile"})) {
        for (value_id const id : n.outputs)
            if (id != no_value) all_[id] = of(n, 0);
    } else if (one_of(n.op, {"Concat", "Max", "Min"})) {
        bool const any = n.op == "Max";
        auto const each = [&](bool facts::* is) {
            return std::all_of(n.inputs.begin(), n.inputs.end(), [&](value_id id) { return all_[id].*is; });
        };
        f.non_negative =
            each(&facts::non_negative) || (any && std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id id) {
                                               return all_[id].non_negative && all_[id].all; // a constant
                                           }));
        f.bit = f.bit || each(&facts::bit);
        f.whole = f.whole || each(&facts::whole);
    } else if (n.op == "Where") {
        f.non_negative = of(n, 1).non_negative && of(n, 2).non_negative;
        f.bit = f.bit || (of(n, 1).bit && of(n, 2).bit);
        f.whole = f.whole || (of(n, 1).whole && of(n, 2).whole);
        std::int64_t const asked = n.inputs[0] == no_value ? -1 : graph_.values[n.inputs[0]].producer;
        f.zero_or_nan = asked >= 0 && graph_.nodes[static_cast<std::size_t>(asked)].op == "IsNaN" &&
                        graph_.nodes[static_cast<std::size_t>(asked)].inputs[0] == n.inputs[1] && of(n, 2).all == 0.0;
    } else if (n.op == "Mul") {
        bool const square = n.inputs[0] == n.inputs[1];
        f.non_negative = is_floating(type) && (square || (of(n, 0).non_negative && of(n, 1).non_negative));
        f.bit = f.bit || (of(n, 0).bit && of(n, 1).bit);
        f.whole = f.whole || (of(n, 0).whole && of(n, 1).whole);
    } else if (n.op == "Add") {
        f.non_negative = is_floating(type) && of(n, 0).non_negative && of(n, 1).non_negative;
        f.whole = f.whole || (of(n, 0).whole && of(n, 1).whole);
    } else if (n.op == "Pow") {
        f.non_negative = is_floating(type) && of(n, 0).non_negative;
    } else if (n.op == "Clip") {
        f.non_negative = f.non_negative || (of(n, 1).all && of(n, 1).non_negative);
    } else if (n.op == "Div") {
        f.non_negative = is_floating(type) && of(n, 0).non_negative && of(n, 1).non_negative;
    } else if (one_of(n.op, {"ReduceSum", "ReduceMean"})) {
        f.non_negative = is_floating(type) && of(n, 0).non_negative;
        f.zero_or_nan = of(n, 0).zero_or_nan;
    } else if (one_of(n.op, {"Sub", "ReduceProd", "CumSum"})) {
        f.whole = f.whole || (n.op == "Sub" ? of(n, 0).whole && of(n, 1).whole : false);
        std::int64_t const second = n.op == "Sub" && n.inputs[1] != no_value ? graph_.values[n.inputs[1]].producer : -1;
        if (second < 0) return;
        graph_node const& floor = graph_.nodes[static_cast<std::size_t>(second)];
        f.non_negative = f.non_negative || (floor.op == "Floor" && floor.inputs[0] == n.inputs[0]);
    } else if (n.op == "OneHot") {
        f.bit = f.bit || of(n, 2).bit;
        f.non_negative = of(n, 2).non_negative;
    }
    if (f.bit) f.non_negative = f.whole = true;
}

} // namespace ATON_NAMESPACE::verify
