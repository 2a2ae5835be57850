// SPDX-License-Identifier: MIT
// The interface of shape rules to a node: its attributes, the shapes and known contents of its inputs, the types of its outputs.
// Part of every include of the DSL; templates only so that an include does not instantiate them.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/budget.hpp>
#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/shape.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::shapes {

using dims = std::vector<dim>;
using ints = std::vector<std::int64_t>;

inline constexpr std::int64_t unknown = INT64_MIN;

/// The integers of an attribute or a small tensor. An unknown number may still have a symbol in `sizes`.
struct list {
    bool known = false; ///< whether at least their count is known
    ints values;
    dims sizes; ///< empty, or as long as `values`: the same numbers as dimensions

    explicit operator bool() const { return known; }
    [[nodiscard]] std::size_t size() const { return values.size(); }
    [[nodiscard]] std::int64_t operator[](std::size_t i) const { return values[i]; }
    [[nodiscard]] dim as_dim(std::size_t i) const {
        return values[i] == unknown ? i < sizes.size() ? sizes[i] : dim() : values[i];
    }
    [[nodiscard]] bool complete() const {
        for (std::int64_t v : values)
            if (v == unknown) return false;
        return known;
    }
};

constexpr std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }
/// The axis as a non-negative number, or -1 if it is out of range.
constexpr std::int64_t axis_of(std::int64_t axis, std::int64_t rank) {
    if (axis < -rank || axis >= rank) return -1;
    return axis < 0 ? axis + rank : axis;
}

template <class = void>
std::int64_t count(dims const& d) {
    return static_cast<std::int64_t>(d.size());
}
template <class = void>
void append(dims& to, dims const& from, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = larger(first, 0); i < smaller(last, count(from)); ++i) to.push_back(from[index(i)]);
}

/// Refuses two different known sizes; an unknown one matches any other.
template <class = void>
void expect_same(dim const& a, dim const& b, char const* what, char const* problem = " do not match") {
    if (a.is_static() && b.is_static() && a.size() != b.size())
        throw illegal_call(std::string(what) + ' ' + std::to_string(a.size()) + " and " + std::to_string(b.size()) +
                           problem);
}

/// The size of two dimensions that broadcast against each other.
template <class = void>
dim broadcast(dim const& a, dim const& b) {
    if (a.same_as(b)) return a;
    if (a.is_static() && a.size() != 1) {
        if (!b.is(1)) expect_same(a, b, "dimensions", " do not broadcast");
        return a;
    }
    if (b.is_static()) return b.size() != 1 ? b : a;
    return a.is_static() ? b : dim();
}

template <class = void>
dims broadcast(dims const& a, dims const& b) {
    dims out = a.size() < b.size() ? b : a;
    dims const& other = a.size() < b.size() ? a : b;
    std::size_t const skipped = out.size() - other.size();
    for (std::size_t i = 0; i != other.size(); ++i) out[i + skipped] = broadcast(out[i + skipped], other[i]);
    return out;
}

/// The more precise of two dimensions known to be equal.
template <class = void>
dim merge(dim const& a, dim const& b) {
    return a.is_static() || (a.is_symbolic() && !b.is_static()) ? a : b;
}

/// The node whose outputs are inferred. Inputs and outputs are named by position.
template <class Graph>
class context {
public:
    context(Graph& graph, graph_node const& node) : graph_(graph), node_(node) {}

    [[nodiscard]] graph_node const& node() const { return node_; }

    /// Refuses the call.
    [[noreturn]] void refuse(std::string const& what) const { throw illegal_call("onnx::" + node_.op + ": " + what); }
    [[noreturn]] void refuse_axis(std::int64_t axis, std::int64_t rank) const {
        refuse("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank));
    }
    [[noreturn]] void refuse_rank(std::int64_t rank) const {
        refuse("a result of rank " + std::to_string(rank) + ", at most " + std::to_string(budget::max_rank) +
               " is allowed");
    }
    /// Refuses an input whose known rank is not in [low, high].
    void expect_rank(std::size_t i, std::int64_t low, std::int64_t high = budget::max_rank) const {
        if (ranked(i) && (rank(i) < low || rank(i) > high))
            refuse("input " + std::to_string(i + 1) + " has rank " + std::to_string(rank(i)) + ", expected " +
                   (low == high     ? ""
                    : rank(i) < low ? "at least "
                                    : "at most ") +
                   std::to_string(rank(i) < low ? low : high));
    }
    /// Refuses a 1-d input of more than `max` elements, also where elements() is too short to hold them.
    void expect_at_most(std::size_t i, std::int64_t max) const {
        if (length(i) > max)
            refuse("input " + std::to_string(i + 1) + " has " + std::to_string(length(i)) +
                   " elements, expected at most " + std::to_string(max));
    }
    /// Refuses an attribute that does not have `length` numbers, or has one below `min`. The attribute may be missing.
    void expect_numbers(std::string_view name, std::size_t length, std::int64_t min) const {
        list const all = numbers(name);
        if (all && all.size() != length)
            refuse("attribute '" + std::string(name) + "' has " + std::to_string(all.size()) + " numbers, expected " +
                   std::to_string(length));
        for (std::int64_t const n : all.values)
            if (n < min)
                refuse("attribute '" + std::string(name) + "' contains " + std::to_string(n) + ", the minimum is " +
                       std::to_string(min));
    }
    [[nodiscard]] std::size_t outputs() const { return node_.outputs.size(); }
    [[nodiscard]] std::size_t inputs() const { return node_.inputs.size(); }
    [[nodiscard]] bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != no_value; }

    /// The type of an input, for which has() must be true.
    [[nodiscard]] value_type const& type(std::size_t i) const { return graph_.values[node_.inputs[i]].type; }
    [[nodiscard]] dtype element_type(std::size_t i) const { return has(i) ? type(i).dtype : dtype::undefined; }
    [[nodiscard]] bool ranked(std::size_t i) const { return has(i) && type(i).shape.has_rank(); }
    /// The dimensions of an input; empty if its rank is unknown, see ranked().
    [[nodiscard]] dims const& in(std::size_t i) const {
        static dims const none;
        return has(i) ? type(i).shape.dims() : none;
    }
    [[nodiscard]] std::int64_t rank(std::size_t i) const { return count(in(i)); }
    /// The number of elements of a 1-d input, or -1.
    [[nodiscard]] std::int64_t length(std::size_t i) const {
        return ranked(i) && rank(i) == 1 ? in(i)[0].size_or(-1) : -1;
    }

    [[nodiscard]] node_attribute const* attribute(std::string_view name) const { return node_.attribute(name); }
    [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t fallback) const {
        node_attribute const* a = attribute(name);
        return a != nullptr && a->type == onnx::attr_type::i ? a->i : fallback;
    }
    [[nodiscard]] std::string_view text(std::string_view name, std::string_view fallback) const {
        node_attribute const* a = attribute(name);
        return a != nullptr && a->type == onnx::attr_type::s ? std::string_view(a->s) : fallback;
    }
    /// The attribute `axis` as a non-negative number; refuses one that is out of range.
    [[nodiscard]] std::int64_t axis(std::int64_t fallback, std::int64_t rank) const {
        return axis_in(number("axis", fallback), rank);
    }
    [[nodiscard]] std::int64_t axis_in(std::int64_t axis, std::int64_t rank) const {
        std::int64_t const found = axis_of(axis, rank);
        if (found < 0) refuse_axis(axis, rank);
        return found;
    }

    /// The payload of a constant input, or nullptr.
    [[nodiscard]] tensor const* constant(std::size_t i) const {
        return has(i) ? graph_.constant(node_.inputs[i]) : nullptr;
    }
    [[nodiscard]] tensor const* constant_value(value_id id) const { return graph_.constant(id); }
    [[nodiscard]] int opset() const { return graph_.opset; }
    /// The contents of a small integer input, as far as they are known through Shape, Gather, Concat and similar operators.
    [[nodiscard]] list elements(std::size_t i) const { return has(i) ? elements_of(node_.inputs[i], 0) : list{}; }
    /// The integers of an attribute.
    [[nodiscard]] list numbers(std::string_view name) const {
        node_attribute const* a = attribute(name);
        return a != nullptr && a->type == onnx::attr_type::ints ? list{true, a->ints, {}} : list{};
    }
    /// The integers of an input, if all are known.
    [[nodiscard]] list numbers(std::size_t i) const {
        list out = elements(i);
        out.known = out.complete();
        return out;
    }
    /// The sizes in a 1-d input; refuses negative ones.
    [[nodiscard]] list sizes(std::size_t i) const {
        expect_rank(i, 1, 1);
        list const out = elements(i);
        for (std::int64_t const n : out.values)
            if (n < 0 && n != unknown) refuse("invalid size " + std::to_string(n));
        return out;
    }
    /// Integers that are an attribute in some opsets and an input in others.
    [[nodiscard]] list numbers(std::string_view name, std::size_t i) const {
        return attribute(name) != nullptr ? numbers(name) : numbers(i);
    }
    [[nodiscard]] bool given(std::string_view name, std::size_t i) const {
        return attribute(name) != nullptr || has(i);
    }

    /// Sets a whole type; an undefined dtype keeps the present one.
    void set_type(std::size_t out, value_type type) {
        value_type* const t = result(out);
        if (t == nullptr) return;
        if (type.dtype == dtype::undefined) type.dtype = t->dtype;
        *t = std::move(type);
    }
    void set(std::size_t out, dims const& d) {
        if (count(d) > budget::max_rank) refuse_rank(count(d));
        if (value_type* t = result(out)) t->shape = shape(d);
    }
    /// Sets only the rank; does nothing if `n` is negative.
    void set_rank(std::size_t out, std::int64_t n) {
        if (n > budget::max_rank) refuse_rank(n);
        if (n >= 0) set(out, dims(index(n)));
    }
    void set_dtype(std::size_t out, dtype type) {
        if (value_type* t = result(out); t != nullptr && type != dtype::undefined) t->dtype = type;
    }
    void set_default_dtype(std::size_t out, dtype type) {
        if (value_type* t = result(out); t != nullptr && t->dtype == dtype::undefined) t->dtype = type;
    }
    void set_kind(std::size_t out, value_kind kind) {
        if (value_type* t = result(out)) t->kind = kind;
    }
    /// Output `out` has the shape of input `i`.
    void same(std::size_t out, std::size_t i) {
        if (ranked(i)) set(out, in(i));
    }

private:
    static constexpr std::int64_t max_elements = 64;
    static constexpr int max_depth = 16;

    value_type* result(std::size_t out) {
        return out < outputs() && node_.outputs[out] != no_value ? &graph_.values[node_.outputs[out]].type : nullptr;
    }

    [[nodiscard]] list elements_of(value_id id, int depth) const {
        if (tensor const* t = graph_.constant(id); t != nullptr) {
            list out{
                (t->type == dtype::int64 || t->type == dtype::int32) && t->element_count() <= max_elements, {}, {}};
            for (std::int64_t i = 0; out && i != t->element_count(); ++i)
                out.values.push_back(larger(t->at(index(i)).to<std::int64_t>(),
                                            unknown + 1)); // INT64_MIN means unknown (aten::flip ends there)
            return out;
        }
        value_type const& type = graph_.values[id].type;
        std::int64_t const producer = graph_.values[id].producer;
        if (producer >= 0 && depth < max_depth)
            if (list out = elements_from(graph_.nodes[index(producer)], depth + 1)) return out;
        std::int64_t const n =
            type.kind == value_kind::tensor && type.shape.rank() < 2 ? type.shape.element_count_or(-1) : -1;
        return n >= 0 && n <= max_elements ? list{true, ints(index(n), unknown), {}} : list{};
    }

    [[nodiscard]] list elements_from(graph_node const& n, int depth) const {
        context const at(graph_, n);
        if (n.op == "Constant" && n.attributes.size() == 1 && n.attributes[0].name == "value_int")
            return {true, {n.attributes[0].i}, {}};
        if (n.op == "Constant") return at.numbers("value_ints");
        if (!at.ranked(0)) return {};
        if (n.op == "Shape") return shape_elements(at);
        bool const to_int64 = n.op == "Cast" && at.number("to", 0) == static_cast<std::int64_t>(dtype::int64);
        if (to_int64 || n.op == "Identity" || n.op == "Squeeze" || n.op == "Unsqueeze" || n.op == "Reshape")
            return elements_of(n.inputs[0], depth);
        if (n.op == "Gather" && at.rank(0) == 1) return pick(elements_of(n.inputs[0], depth), at.numbers(1));
        if (n.op != "Concat") return {};
        list out{true, {}, {}};
        for (value_id id : n.inputs) {
            list const part =
                id != no_value && graph_.values[id].type.shape.rank() == 1 ? elements_of(id, depth) : list{};
            if (!part || out.size() + part.size() > index(max_elements)) return {};
            for (std::size_t i = 0; i != part.size(); ++i) push(out, part, i);
        }
        return out;
    }

    static void push(list& out, list const& from, std::size_t i) {
        out.values.push_back(from.values[i]);
        out.sizes.push_back(from.as_dim(i));
    }

    static list shape_elements(context const& at) {
        std::int64_t const r = at.rank(0);
        std::int64_t const start = at.number("start", 0);
        std::int64_t const end = at.number("end", r);
        list out{true, {}, {}};
        for (std::int64_t i = larger(start < 0 ? start + r : start, 0); i < smaller(end < 0 ? end + r : end, r); ++i) {
            dim const& d = at.in(0)[index(i)];
            out.values.push_back(d.is_static() ? d.size() : unknown);
            out.sizes.push_back(d);
        }
        return out;
    }

    static list pick(list const& data, list const& positions) {
        list out{data && positions, {}, {}};
        for (std::size_t k = 0; out && k != positions.size(); ++k) {
            std::int64_t const i = axis_of(positions[k], static_cast<std::int64_t>(data.size()));
            if (i < 0) return {};
            push(out, data, index(i));
        }
        return out;
    }

    Graph& graph_;
    graph_node const& node_;
};

} // namespace ATON_NAMESPACE::shapes
