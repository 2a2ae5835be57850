// SPDX-License-Identifier: MIT
// Algebraic identities that hold for all values that the operands can have.
#include "same_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ATON_NAMESPACE::verify {

namespace {

using std::string_view;

constexpr double infinity = std::numeric_limits<double>::infinity();

bool compared(string_view op, double x, double y) {
    if (op == "Less") return x < y;
    if (op == "LessOrEqual") return x <= y;
    if (op == "Greater") return x > y;
    if (op == "GreaterOrEqual") return x >= y;
    return x == y;
}

bool is_comparison(string_view op) { return one_of(op, {"Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"}); }

/// Whether an operator only moves elements of its first input.
bool moves(string_view op) {
    return one_of(op,
                  {"Pad",
                   "Reshape",
                   "Squeeze",
                   "Unsqueeze",
                   "Expand",
                   "Transpose",
                   "Slice",
                   "Gather",
                   "GatherElements",
                   "MaxPool",
                   "Identity"});
}

/// The largest number up to which a dtype represents every integer.
double capacity_of(dtype t) {
    switch (t) {
    case dtype::bool_: return 1;
    case dtype::int8: return 127;
    case dtype::uint8:
    case dtype::bfloat16: return 255;
    case dtype::float16: return 2048;
    case dtype::float32: return 0x1p24;
    default: return is_integral(t) ? 0x1p15 : 0x1p24;
    }
}

} // namespace

/// The node that computes an input; nullptr for inputs of the graph.
graph_node const* same_function::producer_of(graph_node const& n, std::size_t input) const {
    std::int64_t const producer = n.inputs[input] == no_value ? -1 : graph_.values[n.inputs[input]].producer;
    return producer < 0 ? nullptr : &graph_.nodes[static_cast<std::size_t>(producer)];
}

bool same_function::same_constants(value_id a, value_id b) const {
    aton::tensor const* const x = graph_.constant(a);
    aton::tensor const* const y = graph_.constant(b);
    return x != nullptr && y != nullptr && x->type == y->type && x->sizes == y->sizes && x->bytes == y->bytes;
}

/// Whether every reader of a value gives the same for its negative.
bool same_function::only_even_uses(value_id v) const {
    if (is_result(graph_, v)) return false;
    for (graph_node const& n : graph_.nodes) {
        auto const uses = std::count(n.inputs.begin(), n.inputs.end(), v);
        if (uses == 0) continue;
        bool even = one_of(n.op, {"Abs", "Cos", "Cosh", "ReduceL1", "ReduceL2", "ReduceSumSquare", "IsNaN"}) &&
                    n.inputs[0] == v && uses == 1;
        even = even || (n.op == "Mul" && uses == 2);
        auto const exponent = of(n, 1).all;
        even = even || (n.op == "Pow" && uses == 1 && n.inputs[0] == v && exponent && std::fmod(*exponent, 2) == 0);
        even = even || (n.op == "Equal" && uses == 1 && of(n, n.inputs[0] == v ? 1 : 0).all == 0.0);
        // Odd functions.
        bool const odd =
            one_of(n.op, {"Neg", "Sin", "Tan", "Asin", "Atan", "Sinh", "Tanh", "Erf", "Cast", "Mul", "Div"});
        auto const is_real = [&](value_id id) { return is_floating(graph_.values[id].type.dtype); };
        even = even || (odd && uses == 1 && is_real(v) && is_real(n.outputs[0]) && only_even_uses(n.outputs[0]));
        if (!even) return false;
    }
    return true;
}

/// Whether every reader of a value that is 0 or at least 1 only tests whether it is 0.
bool same_function::only_zero_counts(value_id v) const {
    return all_uses(graph_, v, [&](graph_node const& user, std::size_t i) {
        if (user.op == "Cast") return graph_.values[user.outputs[0]].type.dtype == dtype::bool_;
        if (!is_comparison(user.op)) return false;
        auto const with = of(user, 1 - i).all;
        if (!with || *with < 0 || *with > 1 || (user.op == "Equal" && *with != 0)) return false;
        auto const says = [&](double x) { return i == 0 ? compared(user.op, x, *with) : compared(user.op, *with, x); };
        return says(1) == says(2);
    });
}

/// Whether the node's result equals its input `kept`, apart from broadcasting.
bool same_function::neutral(graph_node const& n, std::size_t kept) const {
    if (one_of(n.op, {"Add", "Mul", "Sub", "Div", "Pow"})) {
        bool const either = n.op == "Add" || n.op == "Mul";
        if (n.inputs.size() != 2 || (kept == 1 && !either)) return false;
        return of(n, 1 - kept).all == (n.op == "Add" || n.op == "Sub" ? 0.0 : 1.0);
    }
    if (one_of(n.op, {"And", "Or", "Max", "Min", "BitwiseAnd", "BitwiseOr"}))
        return n.inputs.size() == 2 && n.inputs[0] == n.inputs[1];
    if (n.op == "Abs" || n.op == "Relu") return of(n, 0).non_negative;
    if (one_of(n.op, {"Floor", "Ceil", "Round"})) return of(n, 0).whole;
    if (n.op == "Equal" && n.inputs.size() == 2) // of bools, with true
        return graph_.values[n.inputs[kept]].type.dtype == dtype::bool_ && of(n, 1 - kept).all == 1.0;
    return n.op == "Sign" && of(n, 0).bit;
}

/// Whether a value has no elements.
bool same_function::is_empty(value_id v) const {
    shape const& s = graph_.values[v].type.shape;
    return s.is_static() && s.element_count() == 0;
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
    if (n.op == "Concat" && n.inputs.size() == 2 && (is_empty(n.inputs[0]) || is_empty(n.inputs[1]))) return true;
    auto const is_vector = [&](std::size_t i) {
        shape const& s = graph_.values[n.inputs[i]].type.shape;
        return s.has_rank() && s.rank() == 1;
    };
    if (n.op == "MatMul" && is_vector(0) && is_vector(1)) return true;
    return n.op == "Sub" && only_even_uses(n.outputs[0]); // b - a is exactly -(a - b)
}

/// Whether the operands are `x > a` and `x < b` with constants a >= b.
bool same_function::never_both(graph_node const& n) const {
    for (std::size_t const first : {std::size_t{0}, std::size_t{1}}) {
        graph_node const* const more = producer_of(n, first);
        graph_node const* const less = producer_of(n, 1 - first);
        if (more == nullptr || less == nullptr || more->op != "Greater" || less->op != "Less") continue;
        auto const above = of(*more, 1).all;
        auto const below = of(*less, 1).all;
        if (more->inputs[0] == less->inputs[0] && above && below && *above >= *below) return true;
    }
    return false;
}

bool same_function::same_comparison(graph_node const& n, string_view other) const {
    for (std::size_t const side : {std::size_t{0}, std::size_t{1}}) {
        auto const constant = of(n, 1 - side).all;
        auto const says = [&](string_view op, double v) {
            return side == 0 ? compared(op, v, *constant) : compared(op, *constant, v);
        };
        // A value that is 0 or 1, compared with a constant: both operators agree on 0 and on 1.
        if (constant && of(n, side).bit && !of(n, side).all && says(n.op, 0) == says(other, 0) &&
            says(n.op, 1) == says(other, 1))
            return true;
        // Compared with an infinity: nothing is beyond it.
        if (constant && std::isinf(*constant) && says(n.op, 0) == says(other, 0) &&
            says(n.op, infinity) == says(other, infinity) && says(n.op, -infinity) == says(other, -infinity))
            return true;
        // Compared with the extreme of the same values: none is beyond it.
        graph_node const* const extreme = producer_of(n, side);
        if (extreme == nullptr || extreme->inputs.empty() || extreme->inputs[0] != n.inputs[1 - side]) continue;
        bool const largest = extreme->op == "ReduceMax";
        string_view const reached = largest == (side == 1) ? "GreaterOrEqual" : "LessOrEqual";
        if ((largest || extreme->op == "ReduceMin") && one_of(n.op, {"Equal", reached}) &&
            one_of(other, {"Equal", reached}))
            return true;
    }
    // A non-negative value compared with 0: x == 0 is x <= 0.
    if (of(n, 0).non_negative && of(n, 1).all == 0.0)
        return one_of(n.op, {"Equal", "LessOrEqual"}) && one_of(other, {"Equal", "LessOrEqual"});
    if (of(n, 1).non_negative && of(n, 0).all == 0.0)
        return one_of(n.op, {"Equal", "GreaterOrEqual"}) && one_of(other, {"Equal", "GreaterOrEqual"});
    return false;
}

bool same_function::replaced(graph_node const& n, string_view other) const {
    auto const both = [&](std::initializer_list<string_view> all) { return one_of(n.op, all) && one_of(other, all); };
    if (both({"Add", "Sub"})) return of(n, 1).all == 0.0 || of(n, 1).zero_or_nan;
    if (both({"Mul", "Div", "Pow"})) {
        if (of(n, 1).all == 1.0) return true;
        // x * -1 is x / -1
        return n.op != "Pow" && other != "Pow" && of(n, 1).all == -1.0;
    }
    // ONNX does not define the remainder of a division by 0.
    if (n.op == "Mul" && other == "Mod") return of(n, 1).all == 0.0;
    if (n.op.starts_with("Reduce") && other.starts_with("Reduce")) {
        facts const& x = of(n, 0);
        if (both({"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare"}) && is_empty(n.inputs[0])) return true; // 0
        if (x.zero_or_nan) return true;
        if (both({"ReduceSum", "ReduceL1"})) return x.non_negative;
        if (both({"ReduceMin", "ReduceProd"})) return x.bit;
        if (both({"ReduceSum", "ReduceL1", "ReduceSumSquare"}) && x.bit) return true;
        return both({"ReduceSum", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceMax"}) && x.bit &&
               only_zero_counts(n.outputs[0]);
    }
    if (both({"Floor", "Ceil", "Round"})) return of(n, 0).whole;
    if (both({"And", "Or"}) || both({"Max", "Min"}) || both({"BitwiseAnd", "BitwiseOr"})) {
        if (neutral(n, 0)) return true;
    }
    if (both({"Or", "Xor"})) return never_both(n);
    if (both({"Abs", "Sign"})) return of(n, 0).bit;
    if (n.op == "Neg" && other == "Abs") return only_even_uses(n.outputs[0]) && of(n, 0).non_negative;
    return is_comparison(n.op) && is_comparison(other) && same_comparison(n, other);
}

bool same_function::left_out(graph_node const& n, mutation const& m) const {
    value_type const& from = graph_.values[n.inputs.at(m.first)].type;
    value_type const& to = graph_.values[n.outputs[0]].type;
    if (n.op == "Cast" || n.op == "CastLike") return from.dtype == to.dtype && to.dtype != dtype::undefined;
    if (n.op == "Identity") return true;
    if (is_empty(n.inputs[m.first]) && from.shape == to.shape && from.dtype == to.dtype) return true;
    if (all_uses(graph_, n.outputs[0], [](graph_node const&, std::size_t) { return false; })) return true; // unused
    if (n.op == "Neg") return only_even_uses(n.outputs[0]);
    // The other operand may determine the sizes of the result.
    return neutral(n, m.first) && from.shape == to.shape && to.shape.has_rank();
}

/// Whether every reader of a value, an integer in [0, max], gives the same in every dtype that represents the integers up to `capacity`.
bool same_function::any_dtype_holds(value_id v, double max, double capacity) const {
    return max <= capacity && all_uses(graph_, v, [&](graph_node const& user, std::size_t i) {
               if (user.op == "Cast" || is_comparison(user.op)) return true;
               if (i != 0) return false;
               if (one_of(user.op, {"ArgMax", "ArgMin"})) return true;
               value_id const result = user.outputs[0];
               if (moves(user.op) || one_of(user.op, {"ReduceMax", "ReduceMin"}))
                   return any_dtype_holds(result, max, capacity);
               if (user.op == "ReduceProd") return max <= 1 && any_dtype_holds(result, max, capacity);
               if (!one_of(user.op, {"ReduceSum", "ReduceL1"})) return false;
               std::int64_t const in = graph_.values[v].type.shape.element_count_or(-1);
               std::int64_t const out = graph_.values[result].type.shape.element_count_or(-1);
               return in > 0 && out > 0 &&
                      any_dtype_holds(result, max * static_cast<double>(in) / static_cast<double>(out), capacity);
           });
}

/// Whether a cast to another dtype makes no difference.
bool same_function::other_dtype(graph_node const& n, mutation const& m) const {
    graph_node changed = n;
    apply(changed, m);
    auto const to = static_cast<dtype>(changed.attribute("to")->i);
    dtype const was = graph_.values[n.outputs[0]].type.dtype;
    // Indices of existing elements fit into 32 bits.
    auto const is_index = [&](graph_node const& user, std::size_t i) {
        return (i == 1 && one_of(user.op, {"Gather", "GatherElements", "ScatterElements"}));
    };
    bool const of_index = one_of(name(to), {"int32", "int64"}) && one_of(name(was), {"int32", "int64"});
    if (of_index && all_uses(graph_, n.outputs[0], is_index)) return true;
    // A test whether a sum is 0: in these dtypes, a sum of zeros and ones is 0 only if all are zeros.
    auto const asks_for_any = [&](graph_node const& user, std::size_t i) {
        return i == 0 && user.op == "ReduceSum" && only_zero_counts(user.outputs[0]);
    };
    dtype const from = graph_.values[n.inputs[0]].type.dtype;
    bool const is_bit = of(n, 0).bit || from == dtype::bool_;
    bool const wide = one_of(name(to), {"float16", "float32", "float64", "int32", "int64"});
    if (is_bit && wide && all_uses(graph_, n.outputs[0], asks_for_any)) return true;
    if (is_bit) return any_dtype_holds(n.outputs[0], 1, std::min(capacity_of(to), capacity_of(was)));
    // Integers of at most 16 bits, which may be negative.
    bool const of_integers = is_integral(from) && aton::bits(from) <= 16;
    bool const has_sign = !is_integral(to) || is_signed_integral(to) || !is_signed_integral(from);
    double const max =
        of_integers ? std::exp2(static_cast<int>(aton::bits(from)) - (is_signed_integral(from) ? 1 : 0)) : 0;
    return of_integers && has_sign && to != dtype::bool_ &&
           any_dtype_holds(n.outputs[0], max, std::min(capacity_of(to), capacity_of(was)));
}

/// Whether every reader of a constant gives the same for its negative, or compares it with another constant with the same outcome.
bool same_function::constant_changed(graph_node const& n, mutation const& m) const {
    graph_node changed = n;
    apply(changed, m);
    if (m.what.starts_with("Constant: negated") && is_floating(graph_.values[n.outputs[0]].type.dtype) &&
        only_even_uses(n.outputs[0]))
        return true;
    auto const was = numbers_of(graph_.constant(n.outputs[0]));
    auto const now = numbers_of(&changed.attributes.at(0).tensors.at(0));
    if (!was || !now || was->size() != now->size()) return false;
    return all_uses(graph_, n.outputs[0], [&](graph_node const& user, std::size_t i) {
        if (!is_comparison(user.op)) return false;
        auto const with = of(user, 1 - i).all;
        auto const says = [&](double x) { return i == 0 ? compared(user.op, x, *with) : compared(user.op, *with, x); };
        return with && std::equal(was->begin(), was->end(), now->begin(), [&](double a, double b) {
                   return says(a) == says(b);
               });
    });
}

bool same_function::attribute_changed(graph_node const& n, mutation const& m) const {
    if (n.op == "TopK" && m.name == "sorted") return true; // without it any order is correct, including the sorted one
    if (n.op == "Resize" && m.name == "cubic_coeff_a")
        return n.attribute("mode") == nullptr || n.attribute("mode")->s != "cubic";
    return n.op == "Cast" && m.name == "to" && other_dtype(n, m);
}

/// Whether an input is a constant equal to its default: equal parts of Split, the first axes of Slice.
bool same_function::is_default_input(graph_node const& n, std::size_t input) const {
    aton::tensor const* const t = n.inputs.at(input) == no_value ? nullptr : graph_.constant(n.inputs[input]);
    auto const numbers = numbers_of(t);
    if (!numbers || numbers->empty()) return false;
    if (n.op == "Split" && input == 1)
        return n.attribute("num_outputs") == nullptr && numbers->size() == n.outputs.size() &&
               std::all_of(numbers->begin(), numbers->end(), [&](double v) { return v == numbers->front(); });
    if (n.op != "Slice" || input != 3) return false;
    for (std::size_t i = 0; i != numbers->size(); ++i)
        if ((*numbers)[i] != static_cast<double>(i)) return false;
    return true;
}

bool same_function::holds(mutation const& m) const {
    graph_node const& n = graph_.nodes[m.node];
    if (!n.domain.empty() || n.outputs.empty() || n.outputs[0] == no_value) return false;
    if (layout_.holds(m)) return true;
    switch (m.is) {
    case mutation::kind::swap_inputs: return swapped(n, m);
    case mutation::kind::replace: return replaced(n, m.name);
    case mutation::kind::drop_node: return left_out(n, m);
    case mutation::kind::attribute: return attribute_changed(n, m);
    case mutation::kind::constant: return constant_changed(n, m);
    case mutation::kind::nested: return false; // its inner graph was asked
    case mutation::kind::drop_input:
        if (is_default_input(n, m.first)) return true;
        // Pad reads the value only in mode constant.
        return n.op == "Pad" && m.first == 2 &&
               ((n.attribute("mode") != nullptr && n.attribute("mode")->s != "constant") || of(n, 2).all == 0.0);
    }
    return false;
}

} // namespace ATON_NAMESPACE::verify
