// SPDX-License-Identifier: MIT
// Rules of arithmetic, each for all numbers that its operands may be.
#include "same_function.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string_view>

namespace aton::verify {

namespace {

using std::string_view;

bool one_of(string_view op, std::initializer_list<string_view> all) {
    return std::find(all.begin(), all.end(), op) != all.end();
}

std::optional<std::vector<double>> numbers_of(tensor const* t) {
    if (t == nullptr || !tensor::can_hold(t->type) || is_complex(t->type)) return {};
    std::vector<double> out;
    for (std::int64_t i = 0; i != t->element_count(); ++i)
        out.push_back(t->at(static_cast<std::size_t>(i)).to<double>());
    return out;
}

bool compared(string_view op, double x, double y) {
    if (op == "Less") return x < y;
    if (op == "LessOrEqual") return x <= y;
    if (op == "Greater") return x > y;
    if (op == "GreaterOrEqual") return x >= y;
    return x == y;
}

/// Axes in any order.
bool takes_axes(string_view op) { return op.starts_with("Reduce") || op == "Squeeze" || op == "Unsqueeze"; }

bool is_comparison(string_view op) { return one_of(op, {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"}); }

} // namespace

same_function::same_function(graph_data const& g) : graph_(g), facts_(g.values.size()) {
    for (graph_node const& n : g.nodes)
        if (n.domain.empty() && !n.outputs.empty() && n.outputs[0] != no_value) learn(n);
}

same_function::facts const& same_function::of(graph_node const& n, std::size_t input) const {
    static constexpr facts nothing{};
    return input < n.inputs.size() && n.inputs[input] != no_value ? facts_[n.inputs[input]] : nothing;
}

void same_function::learn(graph_node const& n) {
    facts& f = facts_[n.outputs[0]];
    dtype const type = graph_.values[n.outputs[0]].type.dtype;
    f.whole = is_integral(type) || type == dtype::bool_;
    f.bit = type == dtype::bool_;
    if (n.op == "Constant") {
        auto const numbers = numbers_of(graph_.constant(n.outputs[0]));
        if (!numbers || numbers->empty()) return;
        auto const each = [&](auto const& is) { return std::all_of(numbers->begin(), numbers->end(), is); };
        f.least_zero = each([](double v) { return v >= 0; });
        f.bit = each([](double v) { return v == 0 || v == 1; });
        f.whole = each([](double v) { return v == std::floor(v); });
        if (each([&](double v) { return v == numbers->front(); })) f.all = numbers->front();
    } else if (one_of(n.op, {"Shape", "Size", "NonZero"})) {
        f.least_zero = true;
    } else if (one_of(n.op, {"Abs", "Exp", "Sqrt", "Relu", "Sigmoid", "Softplus", "Softmax", "ReduceL1", "ReduceL2"})) {
        f.least_zero = true;
        f.bit = f.bit || (one_of(n.op, {"Abs", "Relu"}) && of(n, 0).bit);
        f.whole = f.whole || (one_of(n.op, {"Abs", "Relu"}) && of(n, 0).whole);
    } else if (n.op == "ReduceSumSquare") {
        f.least_zero = is_floating(type); // integers wrap around
    } else if (one_of(n.op, {"Floor", "Ceil", "Round"})) {
        f = {of(n, 0).least_zero, of(n, 0).bit, true, false, {}};
    } else if (n.op == "Sign") {
        f.whole = true;
        f.least_zero = f.bit = of(n, 0).least_zero;
    } else if (n.op == "Cast" || n.op == "CastLike") {
        dtype const from = n.inputs.empty() ? dtype::undefined : graph_.values[n.inputs[0]].type.dtype;
        bool const from_bool = from == dtype::bool_;
        f.bit = f.bit || of(n, 0).bit;
        f.least_zero = f.bit || (is_floating(type) && of(n, 0).least_zero) || from_bool;
        f.whole = f.whole || of(n, 0).whole;
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
            if (id != no_value) facts_[id] = of(n, 0);
    } else if (one_of(n.op, {"Concat", "Max", "Min"})) {
        bool const any = n.op == "Max";
        auto const each = [&](bool facts::* is) {
            return std::all_of(n.inputs.begin(), n.inputs.end(), [&](value_id id) { return facts_[id].*is; });
        };
        f.least_zero =
            each(&facts::least_zero) || (any && std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id id) {
                                             return facts_[id].least_zero && facts_[id].all; // a constant
                                         }));
        f.bit = f.bit || each(&facts::bit);
        f.whole = f.whole || each(&facts::whole);
    } else if (n.op == "Where") {
        f.least_zero = of(n, 1).least_zero && of(n, 2).least_zero;
        f.bit = f.bit || (of(n, 1).bit && of(n, 2).bit);
        f.whole = f.whole || (of(n, 1).whole && of(n, 2).whole);
        std::int64_t const asked = n.inputs[0] == no_value ? -1 : graph_.values[n.inputs[0]].producer;
        f.zero_or_nan = asked >= 0 && graph_.nodes[static_cast<std::size_t>(asked)].op == "IsNaN" &&
                        graph_.nodes[static_cast<std::size_t>(asked)].inputs[0] == n.inputs[1] && of(n, 2).all == 0.0;
    } else if (n.op == "Mul") {
        bool const square = n.inputs[0] == n.inputs[1];
        f.least_zero = is_floating(type) && (square || (of(n, 0).least_zero && of(n, 1).least_zero));
        f.bit = f.bit || (of(n, 0).bit && of(n, 1).bit);
        f.whole = f.whole || (of(n, 0).whole && of(n, 1).whole);
    } else if (n.op == "Add") {
        f.least_zero = is_floating(type) && of(n, 0).least_zero && of(n, 1).least_zero;
        f.whole = f.whole || (of(n, 0).whole && of(n, 1).whole);
    } else if (n.op == "Div") {
        f.least_zero = is_floating(type) && of(n, 0).least_zero && of(n, 1).least_zero;
    } else if (one_of(n.op, {"ReduceSum", "ReduceMean"})) {
        f.least_zero = is_floating(type) && of(n, 0).least_zero;
        f.zero_or_nan = of(n, 0).zero_or_nan;
    } else if (one_of(n.op, {"Sub", "ReduceProd", "CumSum"})) {
        f.whole = f.whole || (n.op == "Sub" ? of(n, 0).whole && of(n, 1).whole : false);
    } else if (n.op == "OneHot") {
        f.bit = f.bit || of(n, 2).bit;
        f.least_zero = of(n, 2).least_zero;
    }
    if (f.bit) f.least_zero = f.whole = true;
}

bool same_function::same_constants(value_id a, value_id b) const {
    tensor const* const x = graph_.constant(a);
    tensor const* const y = graph_.constant(b);
    return x != nullptr && y != nullptr && x->type == y->type && x->sizes == y->sizes && x->bytes == y->bytes;
}

/// Whether a value and its opposite are the same to all that read it.
bool same_function::only_even_uses(value_id v) const {
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end()) return false;
    for (graph_node const& n : graph_.nodes) {
        for (node_attribute const& a : n.attributes)
            if (!a.graphs.empty()) return false;
        auto const uses = std::count(n.inputs.begin(), n.inputs.end(), v);
        if (uses == 0) continue;
        bool even = one_of(n.op, {"Abs", "Cos", "Cosh", "ReduceL1", "ReduceL2", "ReduceSumSquare", "IsNaN"}) &&
                    n.inputs[0] == v && uses == 1;
        even = even || (n.op == "Mul" && uses == 2);
        auto const exponent = of(n, 1).all;
        even = even || (n.op == "Pow" && uses == 1 && n.inputs[0] == v && exponent && std::fmod(*exponent, 2) == 0);
        even = even || (n.op == "Equal" && uses == 1 && of(n, n.inputs[0] == v ? 1 : 0).all == 0.0);
        if (!even) return false;
    }
    return true;
}

/// Whether the node gives its input `kept`, or one that broadcasts to it.
bool same_function::neutral(graph_node const& n, std::size_t kept) const {
    if (one_of(n.op, {"Add", "Mul", "Sub", "Div", "Pow"})) {
        bool const either = n.op == "Add" || n.op == "Mul";
        if (n.inputs.size() != 2 || (kept == 1 && !either)) return false;
        return of(n, 1 - kept).all == (n.op == "Add" || n.op == "Sub" ? 0.0 : 1.0);
    }
    if (n.op == "Abs" || n.op == "Relu") return of(n, 0).least_zero;
    if (one_of(n.op, {"Floor", "Ceil", "Round"})) return of(n, 0).whole;
    return n.op == "Sign" && of(n, 0).bit;
}

bool same_function::swapped(graph_node const& n, mutation const& m) const {
    if (one_of(n.op,
               {"Add",
                "Mul",
                "Max",
                "Min",
                "Sum",
                "Mean",
                "And",
                "Or",
                "Xor",
                "Equal",
                "BitwiseAnd",
                "BitwiseOr",
                "BitwiseXor"}))
        return true;
    if (same_constants(n.inputs[m.first], n.inputs[m.second])) return true;
    return n.op == "Sub" && only_even_uses(n.outputs[0]); // b - a is exactly -(a - b)
}

/// Whether the operands are that a value is more than one constant and that it is less than another, which is not larger.
bool same_function::never_both(graph_node const& n) const {
    auto const maker = [&](std::size_t i) -> graph_node const* {
        std::int64_t const producer = graph_.values[n.inputs[i]].producer;
        return producer < 0 ? nullptr : &graph_.nodes[static_cast<std::size_t>(producer)];
    };
    for (std::size_t const first : {std::size_t{0}, std::size_t{1}}) {
        graph_node const* const more = maker(first);
        graph_node const* const less = maker(1 - first);
        if (more == nullptr || less == nullptr || more->op != "Greater" || less->op != "Less") continue;
        auto const above = of(*more, 1).all;
        auto const below = of(*less, 1).all;
        if (more->inputs[0] == less->inputs[0] && above && below && *above >= *below) return true;
    }
    return false;
}

bool same_function::replaced(graph_node const& n, mutation const& m) const {
    string_view const other = m.name;
    if (one_of(n.op, {"Add", "Sub"}) && one_of(other, {"Add", "Sub"}))
        return of(n, 1).all == 0.0 || of(n, 1).zero_or_nan;
    if (one_of(n.op, {"Mul", "Div", "Pow"}) && one_of(other, {"Mul", "Div", "Pow"})) {
        if (of(n, 1).all == 1.0) return true;
        // x * -1 is x / -1
        return n.op != "Pow" && other != "Pow" && of(n, 1).all == -1.0;
    }
    if (n.op.starts_with("Reduce") && other.starts_with("Reduce") && of(n, 0).zero_or_nan) return true;
    if (one_of(n.op, {"ReduceSum", "ReduceL1"}) && one_of(other, {"ReduceSum", "ReduceL1"})) return of(n, 0).least_zero;
    if (one_of(n.op, {"ReduceSum", "ReduceL1", "ReduceSumSquare"}) &&
        one_of(other, {"ReduceSum", "ReduceL1", "ReduceSumSquare"}))
        return of(n, 0).bit;
    if (one_of(n.op, {"ReduceMin", "ReduceProd"}) && one_of(other, {"ReduceMin", "ReduceProd"})) return of(n, 0).bit;
    if (one_of(n.op, {"Floor", "Ceil", "Round"}) && one_of(other, {"Floor", "Ceil", "Round"})) return of(n, 0).whole;
    if (one_of(n.op, {"Or", "Xor"}) && one_of(other, {"Or", "Xor"})) return never_both(n);
    if (n.op == "Abs" && other == "Sign") return of(n, 0).bit;
    if (n.op == "Sign" && other == "Abs") return of(n, 0).bit;
    if (n.op == "Neg" && other == "Abs") return only_even_uses(n.outputs[0]) && of(n, 0).least_zero;
    if (is_comparison(n.op) && is_comparison(other)) {
        // Of values that are 0 or 1, with a constant: both operators say the same of 0 and of 1.
        for (std::size_t const side : {std::size_t{0}, std::size_t{1}}) {
            auto const constant = of(n, 1 - side).all;
            if (!of(n, side).bit || of(n, side).all || !constant) continue;
            double const c = *constant;
            auto const says = [&](string_view op, double v) {
                return side == 0 ? compared(op, v, c) : compared(op, c, v);
            };
            if (says(n.op, 0) == says(other, 0) && says(n.op, 1) == says(other, 1)) return true;
        }
        // Of what is never negative, with 0: x == 0 is x <= 0, and x < 0 is never so.
        if (of(n, 0).least_zero && of(n, 1).all == 0.0)
            return one_of(n.op, {"Equal", "LessOrEqual"}) && one_of(other, {"Equal", "LessOrEqual"});
        if (of(n, 1).least_zero && of(n, 0).all == 0.0)
            return one_of(n.op, {"Equal", "GreaterOrEqual"}) && one_of(other, {"Equal", "GreaterOrEqual"});
    }
    return false;
}

bool same_function::left_out(graph_node const& n, mutation const& m) const {
    value_id const in = n.inputs.at(m.first);
    value_type const& from = graph_.values[in].type;
    value_type const& to = graph_.values[n.outputs[0]].type;
    if (n.op == "Cast" || n.op == "CastLike") return from.dtype == to.dtype && to.dtype != dtype::undefined;
    if (n.op == "Identity") return true;
    bool const is_read = std::any_of(graph_.nodes.begin(), graph_.nodes.end(), [&](graph_node const& user) {
        return std::find(user.inputs.begin(), user.inputs.end(), n.outputs[0]) != user.inputs.end();
    });
    if (!is_read && std::find(graph_.outputs.begin(), graph_.outputs.end(), n.outputs[0]) == graph_.outputs.end())
        return std::none_of(graph_.nodes.begin(), graph_.nodes.end(), [](graph_node const& user) {
            return std::any_of(user.attributes.begin(), user.attributes.end(), [](node_attribute const& a) {
                return !a.graphs.empty(); // they may read it
            });
        });
    if (n.op == "Neg") return only_even_uses(n.outputs[0]);
    // The other operand may be what gives the result its sizes.
    return neutral(n, m.first) && from.shape == to.shape && to.shape.has_rank();
}

/// Whether both are the same axes of the node's first input, counted from the front; their order is of no account to takes_axes().
bool same_function::same_axes(graph_node const& n, std::vector<std::int64_t> was, std::vector<std::int64_t> now) const {
    if (n.inputs.empty() || n.inputs[0] == no_value) return false;
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    if (!in.has_rank()) return false;
    auto const rank = static_cast<std::int64_t>(in.rank() + (n.op == "Unsqueeze" ? was.size() : 0));
    for (std::vector<std::int64_t>* axes : {&was, &now}) {
        for (std::int64_t& axis : *axes) {
            if (axis < -rank || axis >= rank) return false;
            if (axis < 0) axis += rank;
        }
        std::sort(axes->begin(), axes->end());
    }
    return was == now;
}

/// Whether a reduction leaves one number.
bool same_function::reduces_all(graph_node const& n) const {
    if (!n.op.starts_with("Reduce") || n.inputs.empty()) return false;
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    std::vector<std::int64_t> axes;
    if (node_attribute const* const a = n.attribute("axes")) axes = a->ints;
    if (n.inputs.size() > 1 && n.inputs[1] != no_value) {
        auto const numbers = numbers_of(graph_.constant(n.inputs[1]));
        if (!numbers) return false;
        for (double const v : *numbers) axes.push_back(static_cast<std::int64_t>(v));
    }
    if (axes.empty()) return n.attribute("noop_with_empty_axes") == nullptr;
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; in.has_rank() && i != in.rank(); ++i) all.push_back(static_cast<std::int64_t>(i));
    return !all.empty() && same_axes(n, axes, all);
}

/// Whether no dimension of 1 is left.
bool same_function::squeezes_all(graph_node const& n) const {
    shape const& in = graph_.values[n.inputs[0]].type.shape;
    shape const& out = graph_.values[n.outputs[0]].type.shape;
    if (!in.is_static() || !out.is_static()) return false;
    return std::none_of(out.dims().begin(), out.dims().end(), [](dim const& d) { return d.size() == 1; });
}

/// Whether each node that reads the result broadcasts it to an operand that has as many dimensions anyway.
bool same_function::only_broadcast(graph_node const& n) const {
    value_id const v = n.outputs[0];
    if (std::find(graph_.outputs.begin(), graph_.outputs.end(), v) != graph_.outputs.end()) return false;
    return std::all_of(graph_.nodes.begin(), graph_.nodes.end(), [&](graph_node const& user) {
        if (std::find(user.inputs.begin(), user.inputs.end(), v) == user.inputs.end()) return true;
        if (!one_of(user.op,
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
                     "Or"}))
            return false;
        return std::any_of(user.inputs.begin(), user.inputs.end(), [&](value_id other) {
            shape const& s = graph_.values[other].type.shape;
            return other != v && s.has_rank() && s.rank() >= graph_.values[n.inputs[0]].type.shape.rank();
        });
    });
}

/// Whether a cast of what is 0 or 1 is only compared, and ends as another dtype again: any dtype of numbers does.
bool same_function::exact_uses_of_bits(graph_node const& n, mutation const& m) const {
    if (!(of(n, 0).bit || graph_.values[n.inputs[0]].type.dtype == dtype::bool_)) return false;
    if (m.what.ends_with(" bool") || graph_.values[n.outputs[0]].type.dtype == dtype::bool_) return false;
    auto const all_users = [&](value_id v, auto const& is) {
        return std::find(graph_.outputs.begin(), graph_.outputs.end(), v) == graph_.outputs.end() &&
               std::all_of(graph_.nodes.begin(), graph_.nodes.end(), [&](graph_node const& user) {
                   return std::find(user.inputs.begin(), user.inputs.end(), v) == user.inputs.end() || is(user);
               });
    };
    return all_users(n.outputs[0], [&](graph_node const& user) {
        if (one_of(user.op, {"Cast", "ArgMax", "ArgMin"})) return true;
        return one_of(user.op, {"ReduceMax", "ReduceMin", "ReduceProd"}) &&
               all_users(user.outputs[0], [](graph_node const& last) { return last.op == "Cast"; });
    });
}

bool same_function::attribute_changed(graph_node const& n, mutation const& m) const {
    if (n.op == "TopK" && m.name == "sorted") return true; // any order is right without it, the sorted one too
    if (m.name == "keepdims") return reduces_all(n) && only_broadcast(n);
    if (n.op == "Cast" && m.name == "to") return exact_uses_of_bits(n, m);
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
    graph_node changed = n;
    apply(changed, m);
    auto const axes_of = [&](graph_node const& of) {
        node_attribute const* const a = of.attribute(m.name);
        return one_axis ? std::vector{a->i} : a->ints;
    };
    return same_axes(n, axes_of(n), axes_of(changed));
}

bool same_function::constant_changed(graph_node const& n, mutation const& m) const {
    auto const only_used_by = [&](auto const& is) {
        return std::all_of(graph_.nodes.begin(), graph_.nodes.end(), [&](graph_node const& user) {
            for (std::size_t i = 0; i != user.inputs.size(); ++i)
                if (user.inputs[i] == n.outputs[0] && !is(user, i)) return false;
            return true;
        });
    };
    graph_node changed = n;
    apply(changed, m);
    auto const was = numbers_of(&n.attributes[0].tensors[0]);
    auto const now = numbers_of(&changed.attributes[0].tensors[0]);
    if (was && now && graph_.values[n.outputs[0]].type.dtype == dtype::int64 &&
        only_used_by([&](graph_node const& user, std::size_t i) {
            auto const whole = [](std::vector<double> const& v) {
                return std::vector<std::int64_t>(v.begin(), v.end());
            };
            return i == 1 && takes_axes(user.op) && same_axes(user, whole(*was), whole(*now));
        }))
        return true;
    // Ends of Slice that are larger than any size.
    constexpr double huge = std::numeric_limits<std::int32_t>::max();
    facts const& f = facts_[n.outputs[0]];
    bool const by_one = m.what.ends_with("one more") || m.what.ends_with("one less");
    if (!by_one || !f.all || *f.all < huge) return false;
    return only_used_by([](graph_node const& user, std::size_t i) { return i == 2 && user.op == "Slice"; });
}

bool same_function::holds(mutation const& m) const {
    graph_node const& n = graph_.nodes[m.node];
    if (!n.domain.empty() || n.outputs.empty() || n.outputs[0] == no_value) return false;
    switch (m.is) {
    case mutation::kind::swap_inputs: return swapped(n, m);
    case mutation::kind::replace: return replaced(n, m);
    case mutation::kind::drop_node: return left_out(n, m);
    case mutation::kind::constant: return constant_changed(n, m);
    case mutation::kind::attribute: return attribute_changed(n, m);
    case mutation::kind::drop_input:
        // No axes are all axes. Of Pad the value is read in one mode alone.
        if (n.op.starts_with("Reduce")) return m.first == 1 && reduces_all(n);
        if (n.op == "Squeeze" && m.first == 1) return squeezes_all(n);
        if (n.op == "Pad" && m.first == 2)
            return n.attribute("mode") != nullptr ? n.attribute("mode")->s != "constant" || of(n, 2).all == 0.0
                                                  : of(n, 2).all == 0.0;
        return false;
    }
    return false;
}

} // namespace aton::verify
