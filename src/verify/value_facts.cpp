// SPDX-License-Identifier: MIT
// Propagates value facts through operators.
#include "value_facts.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ATON_NAMESPACE::verify {

std::optional<std::vector<double>> numbers_of(aton::tensor const* t) {
    if (t == nullptr || !aton::tensor::can_hold(t->type) || is_complex(t->type)) return {};
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

namespace {

/// What a transfer function reads: a node and the facts of its inputs.
struct derivation {
    graph_data const& graph;
    value_facts const& known;
    graph_node const& node;
    bool floating; ///< whether the first output is: integers wrap around, so a sum of positive numbers may be negative

    [[nodiscard]] facts const& in(std::size_t i) const { return known.of(node, i); }
    [[nodiscard]] bool both(bool facts::* is) const { return in(0).*is && in(1).*is; }
    /// The node that computes an input, or null.
    [[nodiscard]] graph_node const* producer(std::size_t i) const {
        std::int64_t const at = node.inputs[i] == no_value ? -1 : graph.values[node.inputs[i]].producer;
        return at < 0 ? nullptr : &graph.nodes[static_cast<std::size_t>(at)];
    }
};

/// Derives the facts of the first output. They start as what its dtype implies.
using transfer = void (*)(derivation const&, facts&);

void never_negative(derivation const&, facts& f) { f.non_negative = true; }

void magnitude(derivation const& d, facts& f) {
    f.non_negative = true;
    f.bit = f.bit || d.in(0).bit;
    f.whole = f.whole || d.in(0).whole;
}

void sum_of_squares(derivation const& d, facts& f) { f.non_negative = f.non_negative || d.floating; }

void rounded(derivation const& d, facts& f) { f = {d.in(0).non_negative, d.in(0).bit, true, false, {}}; }

void sign(derivation const& d, facts& f) {
    f.whole = true;
    f.non_negative = f.bit = d.in(0).non_negative;
}

void converted(derivation const& d, facts& f) {
    facts const& from = d.in(0);
    bool const from_bool = !d.node.inputs.empty() && d.graph.values[d.node.inputs[0]].type.dtype == dtype::bool_;
    f.bit = f.bit || from.bit;
    f.non_negative = f.bit || (d.floating && from.non_negative) || from_bool;
    f.whole = f.whole || from.whole;
    f.zero_or_nan = d.floating && from.zero_or_nan;
    if (from.bit) f.all = from.all;
}

void same_elements(derivation const& d, facts& f) { f = d.in(0); }

/// Every element is an element of some input.
void from_all_inputs(derivation const& d, facts& f) {
    auto const each = [&](bool facts::* is) {
        return std::all_of(d.node.inputs.begin(), d.node.inputs.end(), [&](value_id v) { return d.known.of(v).*is; });
    };
    f.non_negative = each(&facts::non_negative);
    f.bit = f.bit || each(&facts::bit);
    f.whole = f.whole || each(&facts::whole);
}

void maximum(derivation const& d, facts& f) {
    from_all_inputs(d, f);
    f.non_negative = f.non_negative || std::any_of(d.node.inputs.begin(), d.node.inputs.end(), [&](value_id v) {
                         return d.known.of(v).non_negative && d.known.of(v).all; // a constant
                     });
}

void choice(derivation const& d, facts& f) {
    facts const& yes = d.in(1);
    facts const& no = d.in(2);
    f.non_negative = yes.non_negative && no.non_negative;
    f.bit = f.bit || (yes.bit && no.bit);
    f.whole = f.whole || (yes.whole && no.whole);
    graph_node const* const condition = d.producer(0);
    f.zero_or_nan =
        condition != nullptr && condition->op == "IsNaN" && condition->inputs[0] == d.node.inputs[1] && no.all == 0.0;
}

void product(derivation const& d, facts& f) {
    bool const square = d.node.inputs[0] == d.node.inputs[1];
    f.non_negative = d.floating && (square || d.both(&facts::non_negative));
    f.bit = f.bit || d.both(&facts::bit);
    f.whole = f.whole || d.both(&facts::whole);
}

void quotient(derivation const& d, facts& f) { f.non_negative = d.floating && d.both(&facts::non_negative); }

void sum(derivation const& d, facts& f) {
    f.non_negative = d.floating && d.both(&facts::non_negative);
    f.whole = f.whole || d.both(&facts::whole);
}

void difference(derivation const& d, facts& f) {
    f.whole = f.whole || d.both(&facts::whole);
    graph_node const* const floor = d.producer(1); // x - Floor(x)
    f.non_negative =
        f.non_negative || (floor != nullptr && floor->op == "Floor" && floor->inputs[0] == d.node.inputs[0]);
}

void power(derivation const& d, facts& f) { f.non_negative = d.floating && d.in(0).non_negative; }

void clipped(derivation const& d, facts& f) {
    f.non_negative = f.non_negative || (d.in(1).all && d.in(1).non_negative);
}

void reduced_sum(derivation const& d, facts& f) {
    f.non_negative = d.floating && d.in(0).non_negative;
    f.zero_or_nan = d.in(0).zero_or_nan;
}

void one_hot(derivation const& d, facts& f) {
    f.bit = f.bit || d.in(2).bit;
    f.non_negative = d.in(2).non_negative;
}

struct row {
    std::string_view op;
    transfer apply;
};

constexpr row rows[] = {
    {"Abs", magnitude},
    {"Add", sum},
    {"Cast", converted},
    {"CastLike", converted},
    {"Ceil", rounded},
    {"Clip", clipped},
    {"Concat", from_all_inputs},
    {"Div", quotient},
    {"Exp", never_negative},
    {"Expand", same_elements},
    {"Flatten", same_elements},
    {"Floor", rounded},
    {"Gather", same_elements},
    {"GatherElements", same_elements},
    {"GatherND", same_elements},
    {"Identity", same_elements},
    {"Max", maximum},
    {"Min", from_all_inputs},
    {"Mul", product},
    {"NonZero", never_negative},
    {"OneHot", one_hot},
    {"Pow", power},
    {"ReduceL1", never_negative},
    {"ReduceL2", never_negative},
    {"ReduceMax", same_elements},
    {"ReduceMean", reduced_sum},
    {"ReduceMin", same_elements},
    {"ReduceSum", reduced_sum},
    {"ReduceSumSquare", sum_of_squares},
    {"Relu", magnitude},
    {"Reshape", same_elements},
    {"Round", rounded},
    {"Shape", never_negative},
    {"Sigmoid", never_negative},
    {"Sign", sign},
    {"Size", never_negative},
    {"Slice", same_elements},
    {"Softmax", never_negative},
    {"Softplus", never_negative},
    {"Split", same_elements},
    {"Sqrt", never_negative},
    {"Squeeze", same_elements},
    {"Sub", difference},
    {"Tile", same_elements},
    {"Transpose", same_elements},
    {"Unsqueeze", same_elements},
    {"Where", choice},
};

void derive_from_elements(aton::tensor const* t, facts& f) {
    auto const numbers = numbers_of(t);
    if (!numbers || numbers->empty()) return;
    auto const each = [&](auto const& is) { return std::all_of(numbers->begin(), numbers->end(), is); };
    f.non_negative = each([](double v) { return v >= 0; });
    f.bit = each([](double v) { return v == 0 || v == 1; });
    f.whole = each([](double v) { return v == std::floor(v); });
    if (each([&](double v) { return v == numbers->front(); })) f.all = numbers->front();
}

} // namespace

void value_facts::derive(graph_node const& n) {
    facts& f = all_[n.outputs[0]];
    dtype const type = graph_.values[n.outputs[0]].type.dtype;
    f.whole = is_integral(type) || type == dtype::bool_;
    f.bit = type == dtype::bool_;
    f.non_negative = is_integral(type) && !is_signed_integral(type);
    if (n.op == "Constant") return derive_from_elements(graph_.constant(n.outputs[0]), f);
    auto const* const found =
        std::find_if(std::begin(rows), std::end(rows), [&](row const& r) { return r.op == n.op; });
    if (found != std::end(rows)) found->apply({graph_, *this, n, is_floating(type)}, f);
    if (n.op == "Split") {
        for (value_id const id : n.outputs)
            if (id != no_value) all_[id] = f;
    }
    if (f.bit) f.non_negative = f.whole = true;
}

} // namespace ATON_NAMESPACE::verify
