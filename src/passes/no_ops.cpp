// SPDX-License-Identifier: MIT
// Removes nodes that return an operand: identities, casts to the same dtype, arithmetic with neutral elements, constant conditions.
#include "rewriter.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

/// Whether every element is this number, including the sign of zero.
bool is_all(tensor const& t, double number) {
    if (!tensor::can_hold(t.type) || is_complex(t.type) || t.element_count() == 0 || t.element_count() > 64)
        return false;
    tensor const one = scalar_tensor(number, t.type);
    for (std::size_t i = 0; i != t.bytes.size(); i += one.bytes.size())
        if (t.bytes.compare(i, one.bytes.size(), one.bytes) != 0) return false;
    return true;
}

/// Whether a binary operator with these operands has the shape of `x`.
bool keeps_shape(rewriter const& r, value_id x, tensor const& other, value_id out) {
    bool const ones = std::all_of(other.sizes.begin(), other.sizes.end(), [](std::int64_t s) { return s == 1; });
    shape const& s = r.shape_of(x);
    return (ones && s.has_rank() && other.sizes.size() <= s.rank()) || same_shape(s, r.shape_of(out));
}

/// `zero_sign_matters`: that of the result, to which x + 0 gives that of 0.
bool is_neutral(std::string_view op, std::size_t position, tensor const& t, bool zero_sign_matters) {
    if (op == "Mul" || op == "And") return is_all(t, 1);
    if (op == "Or") return is_all(t, 0);
    if (op == "Add") return is_all(t, -0.0) || (is_all(t, 0) && (is_integral(t.type) || !zero_sign_matters));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (op == "Max" || op == "Min") return is_floating(t.type) && is_all(t, op == "Max" ? -infinity : infinity);
    if (position == 0) return false;
    return op == "Sub" ? is_all(t, 0) : is_all(t, 1); // Div and Pow
}

/// Whether a cast from one dtype to the other keeps every value.
bool keeps_values(dtype from, dtype to) {
    auto const precision = [](dtype t) -> std::size_t { // maximum bits of exact integers
        switch (t) {
        case dtype::float16: return 11;
        case dtype::bfloat16: return 8;
        case dtype::float32: return 24;
        case dtype::float64: return 53;
        default: return 0;
        }
    };
    if (from == dtype::bool_) return precision(to) != 0 || (is_integral(to) && bits(to) >= 8);
    if (is_integral(from) && is_integral(to))
        return is_signed_integral(from) ? is_signed_integral(to) && bits(to) >= bits(from)
                                        : bits(to) >= bits(from) + (is_signed_integral(to) ? 1 : 0);
    if (is_integral(from)) return precision(to) >= bits(from);
    if (precision(from) == 0) return false;
    return to == dtype::float64 || (to == dtype::float32 && from != dtype::float64) || to == from;
}

bool replace_by_input(rewriter& r, graph_node const& n) {
    r.replace(n.outputs[0], n.inputs[0]);
    return true;
}

bool all_positive(rewriter const& r, value_id steps) {
    if (steps == no_value) return true;
    tensor const* const t = r.constant(steps);
    if (t == nullptr || !is_index_tensor(*t)) return false;
    std::vector<std::int64_t> const list = integers(*t);
    return std::all_of(list.begin(), list.end(), [](std::int64_t s) { return s > 0; });
}

/// Drops operands of Concat without elements along its axis; the last operand stays.
void drop_empty_parts(rewriter& r, graph_node& n) {
    std::vector<value_id> parts;
    for (value_id id : n.inputs) {
        shape const& s = r.shape_of(id);
        auto const axis = axis_at(int_attribute(n, "axis", 0), s.rank());
        if (!axis || !s[*axis].is(0)) parts.push_back(id);
    }
    if (parts.size() != n.inputs.size() && !parts.empty()) r.set_inputs(n, std::move(parts));
}

} // namespace

bool remove_no_op(rewriter& r, graph_node& n) {
    if (n.inputs.empty() || n.inputs[0] == no_value) return false;
    if (n.op == "Concat") drop_empty_parts(r, n);
    if (n.op == "Identity" || ((n.op == "Concat" || n.op == "Sum") && n.inputs.size() == 1))
        return replace_by_input(r, n);
    if (n.op == "Dropout") {
        bool const has_mask = n.outputs.size() > 1 && n.outputs[1] != no_value && r.uses(n.outputs[1]) != 0;
        tensor const* const training = r.constant(input(n, 2));
        bool const inference =
            input(n, 2) == no_value || (training != nullptr && training->bytes == std::string(1, '\0'));
        return inference && !has_mask && r.graph().opset >= 7 && replace_by_input(r, n);
    }
    if (n.op == "Pad") {
        tensor const* const pads = r.constant(input(n, 1));
        node_attribute const* const a = n.attribute("pads");
        bool const nothing =
            a != nullptr
                ? std::all_of(a->ints.begin(), a->ints.end(), [](std::int64_t p) { return p == 0; })
                : pads != nullptr && std::all_of(pads->bytes.begin(), pads->bytes.end(), [](char b) { return b == 0; });
        return nothing && replace_by_input(r, n);
    }
    if (n.op == "Split" && n.outputs.size() != 1) return false;
    if (n.op == "Slice" && !all_positive(r, input(n, 4))) return false;
    bool const whole = (n.op == "Slice" || n.op == "Split" || n.op == "Tile") &&
                       same_shape(r.shape_of(n.inputs[0]), r.shape_of(n.outputs[0]));
    return whole && replace_by_input(r, n);
}

bool simplify_casts(rewriter& r, graph_node& n) {
    dtype const to = dtype_from_onnx(int_attribute(n, "to", 0));
    if (to == dtype::undefined) return false;
    value_id const x = n.inputs[0];
    if (r.type(x).dtype == to) return replace_by_input(r, n);
    graph_node const* const before = r.producer(x, "Cast");
    if (before == nullptr || !tensor::can_hold(to)) return false;
    value_id const origin = before->inputs[0];
    dtype const from = r.type(origin).dtype;
    dtype const between = r.type(x).dtype;
    if (!keeps_values(from, between)) return false;
    // Casts of negative floats to unsigned integers are undefined; those of negative integers are not.
    if (is_signed_integral(from) && !is_integral(between) && is_unsigned_integral(to)) return false;
    if (from == to) {
        r.replace(n.outputs[0], origin);
        return true;
    }
    r.set_input(n, 0, origin);
    return false;
}

bool simplify_arithmetic(rewriter& r, graph_node& n) {
    if (n.inputs.size() != 2) return false;
    for (std::size_t i = 0; i != 2; ++i) {
        tensor const* const t = r.constant(n.inputs[i]);
        value_id const x = n.inputs[1 - i];
        if (t == nullptr || !is_neutral(n.op, i, *t, r.zero_sign_matters(n.outputs[0])) ||
            !keeps_shape(r, x, *t, n.outputs[0]))
            continue;
        r.replace(n.outputs[0], x);
        return true;
    }
    return false;
}

namespace {

bool simplify_not(rewriter& r, graph_node& n) {
    value_id const x = n.inputs[0];
    graph_node const* const p = r.producer(x);
    if (p == nullptr) return false;
    if (p->op == "Not") {
        r.replace(n.outputs[0], p->inputs[0]);
        return true;
    }
    bool const greater = p->op == "Greater";
    if ((!greater && p->op != "Less") || r.uses(x) != 1 || r.graph().opset < 12) return false;
    dtype const t = r.type(p->inputs[0]).dtype; // NaN is neither less nor greater
    if (t != dtype::int64 && t != dtype::int32) return false;
    n.op = greater ? "LessOrEqual" : "GreaterOrEqual";
    r.set_inputs(n, std::vector<value_id>(p->inputs));
    return false;
}

} // namespace

bool simplify_where(rewriter& r, graph_node& n) {
    if (n.op == "Not") return simplify_not(r, n);
    if (n.inputs.size() != 3) return false;
    if (tensor const* const condition = r.constant(n.inputs[0]); condition != nullptr && !condition->bytes.empty()) {
        char const first = condition->bytes[0];
        bool const all = std::all_of(
            condition->bytes.begin(), condition->bytes.end(), [&](char b) { return (b == 0) == (first == 0); });
        value_id const chosen = n.inputs[first != 0 ? 1 : 2];
        if (!all || !same_shape(r.shape_of(chosen), r.shape_of(n.outputs[0]))) return false;
        r.replace(n.outputs[0], chosen);
        return true;
    }
    if (graph_node const* const p = r.producer(n.inputs[0], "Not"); p != nullptr)
        r.set_inputs(n, {p->inputs[0], n.inputs[2], n.inputs[1]});
    return false;
}

} // namespace ATON_NAMESPACE::passes
