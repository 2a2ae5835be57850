// SPDX-License-Identifier: MIT
#include "integer_ranges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <aton/core/tensor.hpp>

#include "attributes.hpp"

namespace ATON_NAMESPACE::passes {

namespace {

constexpr int max_depth = 400;                 // of producers, so that a long graph does not use up the stack
constexpr std::int64_t max_constant = 1 << 20; // elements of a constant that are read

constexpr integer_range any_size{0, max_size};

bool is_one_of(std::string_view list, std::string_view op) { // separated by blanks
    std::size_t const at = list.find(op);
    return at != std::string_view::npos && at != 0 && list[at - 1] == ' ' && at + op.size() < list.size() &&
           list[at + op.size()] == ' ';
}

/// Operators whose results are elements of the first operand.
constexpr std::string_view moving =
    " Compress DepthToSpace Expand Flatten Gather GatherElements GatherND Identity MaxPool ReduceMax ReduceMin Reshape"
    " ReverseSequence Slice SpaceToDepth Split Squeeze Tile TopK Transpose Unique Unsqueeze ";

integer_range of_constant(tensor const& t) {
    integer_range const all = range_of(t.type);
    if (!tensor::can_hold(t.type) || t.element_count() > max_constant) return all;
    std::int64_t const n = t.element_count();
    if (n == 0) return {};
    integer_range out{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (std::int64_t i = 0; i != n; ++i) {
        double const number = t.at(static_cast<std::size_t>(i)).to<double>();
        out.low = std::min(out.low, number);
        out.high = std::max(out.high, number);
    }
    return out;
}

integer_range hull(integer_range const& a, integer_range const& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

integer_range product(integer_range const& a, integer_range const& b) {
    auto const [low, high] = std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return {low, high};
}

/// The range of x / y, which truncates, for a divisor that is not 0.
integer_range quotient(integer_range const& x, integer_range const& y) {
    if (y.low > 0 && x.low >= 0) return {std::trunc(x.low / y.high), std::trunc(x.high / y.low)};
    double const most = x.magnitude();
    return {-most, most};
}

/// The range of a remainder: less than the divisor and, with the sign of x, not beyond x.
integer_range remainder(integer_range const& x, integer_range const& y, bool truncates) {
    double const most = std::max(0.0, y.magnitude() - 1);
    if (truncates) return {x.low < 0 ? -std::min(most, -x.low) : 0, x.high > 0 ? std::min(most, x.high) : 0};
    if (x.low >= 0 && y.low > 0) return {0, std::min(most, x.high)};
    return {y.low < 0 ? -most : 0, y.high > 0 ? most : 0};
}

} // namespace

integer_range range_of(dtype type) {
    if (type == dtype::bool_) return {0, 1};
    bool const known = is_integral(type) && bits(type) <= 64;
    double const half = std::ldexp(1.0, (known ? static_cast<int>(bits(type)) : 64) - 1);
    if (known && is_unsigned_integral(type)) return {0, 2 * half - 1};
    return {-half, half - 1};
}

bool read_axes(graph_data const& graph, graph_node const& n, std::optional<std::vector<std::int64_t>>& axes) {
    axes.reset();
    if (node_attribute const* const a = n.attribute("axes"); a != nullptr) {
        axes = a->ints;
        return true;
    }
    value_id const list = input(n, 1);
    if (list == no_value) return true;
    tensor const* const t = graph.constant(list);
    if (t == nullptr) return false;
    axes = integers(*t);
    if (axes->empty() && int_attribute(n, "noop_with_empty_axes", 0) == 0) axes.reset();
    return true;
}

integer_ranges::integer_ranges(graph_data const& graph, integer_ranges* outer, bool counts_iterations)
    : graph_(graph),
      outer_(outer),
      counts_iterations_(counts_iterations),
      known_(graph.values.size()) {}

integer_range integer_ranges::of(value_id id) {
    if (id == no_value) return range_of(dtype::int64);
    if (known_[id]) return *known_[id];
    if (depth_ == max_depth) return range_of(graph_.values[id].type.dtype);
    ++depth_;
    integer_range out = infer(id);
    --depth_;
    integer_range const all = range_of(graph_.values[id].type.dtype);
    bool const may_wrap = !(out.low >= all.low && out.high <= all.high);
    known_[id] = may_wrap ? all : out;
    return *known_[id];
}

integer_range integer_ranges::infer(value_id id) {
    graph_value const& v = graph_.values[id];
    integer_range const all = range_of(v.type.dtype);
    if (!is_integral(v.type.dtype)) return all;
    if (v.outer != no_value) return outer_ == nullptr ? all : outer_->of(v.outer);
    if (tensor const* const t = graph_.constant(id); t != nullptr) return of_constant(*t);
    if (counts_iterations_ && !graph_.inputs.empty() && graph_.inputs[0] == id) return any_size;
    if (v.producer < 0) return all;
    graph_node const& n = graph_.nodes[static_cast<std::size_t>(v.producer)];
    if (!plain_domain(n.domain).empty()) return all;
    auto const output = static_cast<std::size_t>(std::find(n.outputs.begin(), n.outputs.end(), id) - n.outputs.begin());
    return of_result(n, output, v.type.dtype);
}

integer_range integer_ranges::of_result(graph_node const& n, std::size_t output, dtype type) {
    if (is_one_of(" ArgMax ArgMin NonZero Shape ", n.op)) return any_size;
    if (n.op == "Size") return {0, max_elements};
    if (output != 0) // the indices of TopK, Unique and MaxPool
        return n.op == "Split" ? of(input(n, 0)) : is_one_of(" TopK Unique MaxPool ", n.op) ? any_size : range_of(type);
    if (is_one_of(moving, n.op)) return of(input(n, 0));
    if (n.op == "Cast") return of_cast(n);
    if (n.op == "Concat") return join(n, 0, n.inputs.size());
    if (n.op == "Where") return join(n, 1, 3);
    if (n.op == "OneHot") return join(n, 2, 3);
    if (n.op == "Range") return join(n, 0, 2);
    if (n.op == "Trilu") return hull(of(input(n, 0)), {});
    if (n.op == "Pad" && input(n, 2) != no_value) return hull(of(input(n, 0)), of(input(n, 2)));
    if (n.op == "Pad" && n.attribute("value") == nullptr) return hull(of(input(n, 0)), {});
    node_attribute const* const reduction = n.attribute("reduction");
    if (is_one_of(" Scatter ScatterElements ScatterND ", n.op) && (reduction == nullptr || reduction->s == "none"))
        return hull(of(input(n, 0)), of(input(n, 2)));
    if (n.op == "ConstantOfShape") {
        node_attribute const* const number = n.attribute("value");
        return number == nullptr || number->tensors.empty() ? integer_range{} : of_constant(number->tensors[0]);
    }
    if (auto const r = of_arithmetic(n)) return *r;
    if (auto const r = of_reduction(n)) return *r;
    return range_of(type);
}

integer_range integer_ranges::of_cast(graph_node const& n) {
    dtype const from = graph_.values[input(n, 0)].type.dtype;
    auto const to = static_cast<dtype>(int_attribute(n, "to", 0));
    if (from != dtype::bool_ && !is_integral(from)) return range_of(to); // a float, or unknown
    integer_range const r = from == dtype::bool_ ? range_of(from) : of(input(n, 0));
    integer_range const all = range_of(to);
    return r.within(all.low, all.high) ? r : all;
}

integer_range integer_ranges::join(graph_node const& n, std::size_t first, std::size_t last) {
    integer_range out = of(input(n, first));
    for (std::size_t i = first + 1; i < last; ++i) out = hull(out, of(input(n, i)));
    return out;
}

std::optional<integer_range> integer_ranges::of_arithmetic(graph_node const& n) {
    if (n.inputs.empty() || !is_one_of(" Abs Add BitwiseAnd Clip Div Max Min Mod Mul Neg Relu Sign Sub ", n.op))
        return {};
    integer_range const a = of(n.inputs[0]);
    if (n.op == "Abs") return integer_range{0, a.magnitude()};
    if (n.op == "Relu") return integer_range{std::max(a.low, 0.0), std::max(a.high, 0.0)};
    if (n.op == "Neg") return integer_range{-a.high, -a.low};
    if (n.op == "Sign") return integer_range{-1, 1};
    if (n.op == "Clip") {
        integer_range const all = range_of(graph_.values[n.inputs[0]].type.dtype);
        integer_range const least = input(n, 1) == no_value ? all : of(input(n, 1));
        integer_range const most = input(n, 2) == no_value ? all : of(input(n, 2));
        if (n.attribute("min") != nullptr || n.attribute("max") != nullptr) return all;
        double const low = input(n, 1) == no_value ? a.low : std::max(a.low, least.low);
        double const high = input(n, 2) == no_value ? a.high : std::min(a.high, most.high);
        // A lower bound above the upper one gives the upper one.
        return integer_range{std::min(low, input(n, 2) == no_value ? low : most.low), std::max(high, low)};
    }
    if (n.op == "Max" || n.op == "Min") {
        integer_range out = a;
        for (std::size_t i = 1; i < n.inputs.size(); ++i) {
            integer_range const b = of(n.inputs[i]);
            out = n.op == "Max" ? integer_range{std::max(out.low, b.low), std::max(out.high, b.high)}
                                : integer_range{std::min(out.low, b.low), std::min(out.high, b.high)};
        }
        return out;
    }
    integer_range const b = of(input(n, 1));
    if (n.op == "Add") return integer_range{a.low + b.low, a.high + b.high};
    if (n.op == "Sub") return integer_range{a.low - b.high, a.high - b.low};
    if (n.op == "Mul") return product(a, b);
    if (n.op == "Div") return quotient(a, b);
    if (n.op == "Mod") return remainder(a, b, int_attribute(n, "fmod", 0) != 0);
    if (a.low >= 0 || b.low >= 0) // BitwiseAnd
        return integer_range{0, a.low < 0 ? b.high : b.low < 0 ? a.high : std::min(a.high, b.high)};
    return {};
}

std::optional<integer_range> integer_ranges::of_reduction(graph_node const& n) {
    if (!is_one_of(" CumSum ReduceL1 ReduceProd ReduceSum ", n.op)) return {};
    std::optional<std::vector<std::int64_t>> axes;
    if (n.op == "CumSum") {
        tensor const* const axis = input(n, 1) == no_value ? nullptr : graph_.constant(n.inputs[1]);
        if (axis == nullptr) return {};
        axes = integers(*axis);
    } else if (n.op == "ReduceProd") {
        if (!are_sizes_of_one_tensor(n.inputs[0])) return {};
        return integer_range{0, max_elements};
    } else if (!read_axes(graph_, n, axes)) {
        return {};
    }
    integer_range const x = of(n.inputs[0]);
    double const count = count_along(n.inputs[0], axes);
    if (x.within(0, 1)) return integer_range{0, count}; // a number of elements
    double const most = x.magnitude() * count;
    return integer_range{n.op == "ReduceL1" || x.low >= 0 ? 0 : -most, x.high <= 0 && n.op != "ReduceL1" ? 0 : most};
}

double integer_ranges::count_along(value_id id, std::optional<std::vector<std::int64_t>> const& axes) const {
    shape const& s = graph_.values[id].type.shape;
    if (!s.has_rank()) return max_elements;
    double count = 1;
    auto const add = [&](std::size_t axis) {
        count *= s.dims()[axis].is_static() ? static_cast<double>(s.dims()[axis].size()) : max_size;
    };
    if (!axes)
        for (std::size_t i = 0; i != s.rank(); ++i) add(i);
    else
        for (std::int64_t const each : *axes)
            if (auto const axis = axis_at(each, s.rank())) add(*axis);
    return std::min(count, max_elements);
}

bool integer_ranges::are_sizes_of_one_tensor(value_id id) const {
    for (int i = 0; i != max_depth && id != no_value; ++i) {
        graph_value const& v = graph_.values[id];
        if (v.producer < 0) return false;
        graph_node const& n = graph_.nodes[static_cast<std::size_t>(v.producer)];
        if (n.op == "Shape") return true;
        if (n.op == "Gather") { // of each size at most once
            tensor const* const at = graph_.constant(n.inputs[1]);
            if (at == nullptr) return false;
            std::vector<std::int64_t> list = integers(*at);
            std::sort(list.begin(), list.end());
            if (std::adjacent_find(list.begin(), list.end()) != list.end()) return false;
        } else if (n.op != "Slice" && n.op != "Identity") {
            return false;
        }
        id = n.inputs[0];
    }
    return false;
}

} // namespace ATON_NAMESPACE::passes
