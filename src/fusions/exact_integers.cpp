// SPDX-License-Identifier: MIT
// Operators on integers as others, whose kernels in ONNX Runtime are exact and wrap around: products of matrices, sorts, comparisons and
// loops.
#include <aton/fusions/built_in.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/ir/einsum_equation.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/elementwise_binary.hpp>

namespace ATON_NAMESPACE::fusions {

namespace {

using namespace dsl;      // NOLINT(google-build-using-namespace): the forms are written in this language
using namespace mappings; // NOLINT(google-build-using-namespace): and with what the mappings share

using integers = std::vector<std::int64_t>;
using axes_or_all = std::optional<integers>;

value constant_ones(graph<11> g, dtype type, integers const& sizes) {
    tensor t{type, sizes, {}};
    for (std::int64_t i = t.element_count(); i > 0; --i) t.append(1);
    return g.constant(std::move(t));
}

/// Ones with the size of x along an axis: 1-d, as a row or as a column. A column needs a static size.
enum class orientation : std::uint8_t { flat, row, column };
value ones_along(graph<11> g, value x, std::int64_t axis, orientation as) {
    constexpr std::int64_t max_constant = 1024;
    integers const one = as == orientation::flat ? integers{1} : integers{1, 1};
    if (dim const& d = x.size(axis); d.is_static()) {
        integers sizes = one;
        sizes[as == orientation::row ? 1 : 0] = d.size();
        if (d.size() <= max_constant) return constant_ones(g, x.dtype(), sizes);
        return g.op<"Expand">(constant_ones(g, x.dtype(), one), g.ints(sizes));
    }
    value const size = g.opset() >= 15
                           ? value(g.within<15>().op<"Shape">(x, attr::start_i(axis), attr::end_i(axis + 1)))
                           : value(g.op<"Slice">(g.op<"Shape">(x), g.ints({axis}), g.ints({axis + 1})));
    return g.op<"Expand">(constant_ones(g, x.dtype(), one), size);
}

/// The sum along an axis that is not negative, as a product with ones.
value sum_along(graph<11> g, value x, std::int64_t axis, bool keepdims) {
    std::int64_t const last = x.rank() - 1;
    bool const is_static = x.size(axis).is_static();
    if (axis == last && keepdims && is_static) return g.op<"MatMul">(x, ones_along(g, x, axis, orientation::column));
    if (last != 0 && axis == last - 1)
        return g.op<"MatMul">(ones_along(g, x, axis, keepdims ? orientation::row : orientation::flat), x);
    value moved = x;
    if (axis != last) {
        safe_vector<std::int64_t> perm = iota(x.rank());
        std::rotate(perm.begin() + axis, perm.begin() + axis + 1, perm.end());
        moved = g.op<"Transpose">(x, attr::perm_i(perm));
    }
    value const sum = g.op<"MatMul">(moved, ones_along(g, moved, last, orientation::flat));
    return keepdims ? unsqueeze(g, sum, axis) : sum;
}

/// Axes in descending order, if the rank is known; nothing for all of them.
axes_or_all descending(value x, axes_or_all axes) {
    if (!axes) return {};
    for (std::int64_t& axis : *axes) axis = normalize_axis(axis, x.rank());
    std::sort(axes->rbegin(), axes->rend());
    return static_cast<std::int64_t>(axes->size()) == x.rank() ? axes_or_all{} : axes;
}

/// A reduction by one along a single axis: of all axes as of a 1-d tensor, of several one after the other.
template <class Along>
value reduce_by(graph<11> g, value x, axes_or_all const& given, bool keepdims, Along const& along) {
    axes_or_all const axes = descending(x, given);
    if (!axes && x.has_rank() && x.rank() == 1) return along(g, x, 0, keepdims);
    if (!axes) {
        value const all = along(g, g.op<"Reshape">(x, g.ints({-1})), 0, false);
        return keepdims ? value(g.op<"Reshape">(all, g.ints(integers(static_cast<std::size_t>(x.rank()), 1)))) : all;
    }
    value y = x;
    for (std::int64_t const axis : *axes) y = along(g, y, axis, keepdims);
    return y;
}

value sum(graph<11> g, value x, axes_or_all const& axes, bool keepdims) {
    return reduce_by(g, x, axes, keepdims, sum_along);
}

/// The greatest or smallest element along an axis: the first of a sort.
template <bool Largest>
value extreme_along(graph<11> g, value x, std::int64_t axis, bool keepdims) {
    auto const [first, at] =
        g.op<"TopK">(x, g.ints({1}), attr::axis_i(axis), attr::largest_i(std::int64_t{Largest}), outputs<2>);
    (void)at;
    return keepdims ? value(first) : squeeze(g, first, axis);
}

shape with_size(shape const& from, std::int64_t axis, dim size) {
    std::vector<dim> dims = from.dims();
    dims[static_cast<std::size_t>(axis)] = std::move(size);
    return shape(dims);
}

/// The product along an axis: one half times the other, until one number is left. An element 1 in front is the product of none.
value product_along(graph<11> g, value x, std::int64_t axis, bool keepdims) {
    integers pads(2 * static_cast<std::size_t>(x.rank()), 0);
    pads[static_cast<std::size_t>(axis)] = 1;
    value const start = g.op<"Pad">(x, g.ints(pads), g.scalar(1, x.dtype()));
    value const count = g.to_value(g.size(start, axis));
    shape const some = with_size(start.shape(), axis, dim());
    auto const [product, left] =
        g.op<"Loop">(absent,
                     g.op<"Greater">(count, 1),
                     start,
                     count,
                     outputs<2>,
                     attr::body_g([&](graph<11> b, value, value, value now, value n) {
                         now.set_shape(some);
                         n.set_shape(shape(safe_vector<dim>{}));
                         value const half = b.op<"Div">(n, 2);
                         value const both = b.op<"Mul">(half, 2);
                         value const halves = b.op<"Mul">(slice(b, now, axis, 0, sym_int(half)),
                                                          slice(b, now, axis, sym_int(half), sym_int(both)));
                         value const rest = slice(b, now, axis, sym_int(both), to_the_end);
                         value const next = b.op<"Sub">(n, half);
                         value const joined = b.op<"Concat">(safe_vector<value>{halves, rest}, attr::axis_i(axis));
                         return std::tuple(value(b.op<"Greater">(next, 1)), joined, next);
                     }));
    (void)left;
    value one = product;
    one.set_shape(with_size(start.shape(), axis, 1));
    return keepdims ? value(g.op<"Identity">(one)) : squeeze(g, one, axis);
}

/// x to the power y by squaring, in steps for every bit of y. With a negative exponent, 1 and -1 stay, and other bases give 0.
value power(graph<11> g, value x, value y) {
    dtype const type = x.dtype();
    if (auto const n = mappings::detail::known_number(y); n && *n >= 1 && *n <= 64)
        return mappings::detail::integer_power(g, x, static_cast<std::int64_t>(*n));
    value const base = broadcast_with(g, x, y);
    value const exponent = broadcast_with(g, y, x);
    value const one = g.scalar(1, type);
    auto const [result, square, rest] =
        g.op<"Loop">(g.scalar(64, dtype::int64),
                     g.scalar(true, dtype::bool_),
                     broadcast_with(g, one, base),
                     base,
                     exponent,
                     outputs<3>,
                     attr::body_g([&](graph<11> b, value, value, value done, value factor, value left) {
                         value const is_odd = is_equal(b, b.op<"Mod">(left, 2), 1);
                         value const next = b.op<"Div">(left, 2);
                         value const unfinished = b.cast(b.op<"Not">(is_equal(b, next, 0)), dtype::int64);
                         value const count = reduce_sum(
                             b, b.op<"Reshape">(unfinished, b.ints({-1})), safe_vector<std::int64_t>{0}, false);
                         return std::tuple(value(b.op<"Greater">(count, 0)),
                                           value(b.op<"Mul">(done, b.op<"Where">(is_odd, factor, one))),
                                           value(b.op<"Mul">(factor, factor)),
                                           next);
                     }));
    (void)square;
    (void)rest;
    value out = result;
    out.set_shape(base.shape());
    if (is_unsigned_integral(y.dtype()) || (y.is_constant() && mappings::detail::known_number(y).value_or(-1) >= 0))
        return g.op<"Identity">(out);
    value const vanishes = g.op<"And">(is_less(g, y, 0), g.op<"Not">(is_equal(g, g.op<"Abs">(x), 1)));
    return g.op<"Where">(vanishes, g.scalar(0, type), out);
}

/// The larger (Greater) or smaller (Less) of two numbers.
template <fixed_string Order>
value chosen(graph<11> g, value a, value b) {
    return g.op<"Where">(g.op<Order>(a, b), a, b);
}

/// Einsum in which every index that is summed belongs to two operands: others are summed before.
value contract(graph<12> g, safe_vector<value> const& operands, std::string const& text) {
    std::vector<shape> shapes;
    for (value const& x : operands) shapes.push_back(x.shape());
    std::optional<einsum_equation> const equation = read_einsum(text, shapes);
    if (!equation) return g.unsupported("an ellipsis of unknown rank");
    einsum_equation left{{}, equation->result};
    safe_vector<value> values;
    for (std::size_t i = 0; i != operands.size(); ++i) {
        std::string letters;
        for (char const c : equation->operands[i])
            if (letters.find(c) == std::string::npos) letters += c;
        value x = operands[i];
        if (letters.size() != equation->operands[i].size()) // a diagonal
            x = g.op<"Einsum">(x, attr::equation_s(equation->operands[i] + "->" + letters));
        integers axes;
        std::string rest;
        for (std::size_t axis = 0; axis != letters.size(); ++axis) {
            if (!equation->is_summed_alone(letters[axis], shapes)) rest += letters[axis];
            else axes.push_back(static_cast<std::int64_t>(axis));
        }
        values.push_back(axes.empty() ? x : sum(g, x, axes, false));
        left.operands.push_back(rest);
    }
    if (values.size() == 1 && left.operands[0] == left.result) return values[0];
    return g.op<"Einsum">(values, attr::equation_s(left.text()));
}

/// start, start + delta, ...: the elements are counted in integers, and are then those of a range that starts at 0.
value steps(graph<11> g, value start, value limit, value delta) {
    value const distance = g.op<"Sub">(limit, start);
    value const whole = g.op<"Div">(distance, delta);
    value const rest = g.op<"Sub">(distance, g.op<"Mul">(whole, delta));
    value const is_part = is_greater(g, g.op<"Mul">(g.op<"Sign">(rest), g.op<"Sign">(delta)), 0);
    value const count = g.op<"Add">(whole, g.cast(is_part, start.dtype()));
    value const numbers = g.op<"Range">(g.scalar(0, start.dtype()), count, g.scalar(1, start.dtype()));
    return g.op<"Add">(g.op<"Mul">(numbers, delta), start);
}

std::int64_t number_of(graph_node const& n, std::string_view name, std::int64_t otherwise) {
    node_attribute const* const a = n.attribute(name);
    return a == nullptr ? otherwise : a->i;
}

/// A node that is replaced, whose operands are values of the graph.
struct replaced {
    graph<11> g;
    graph_data& data;
    graph_node const& node;

    [[nodiscard]] bool has(std::size_t i) const { return i < node.inputs.size() && node.inputs[i] != no_value; }
    [[nodiscard]] value operand(std::size_t i) const { return value(data, node.inputs[i]); }

    template <class Reduce>
    value reduction(value x, Reduce const& reduce) const {
        bool const keepdims = number_of(node, "keepdims", 1) != 0;
        axes_or_all axes;
        if (node_attribute const* const a = node.attribute("axes"); a != nullptr) {
            axes = a->ints;
        } else if (has(1)) {
            tensor const& t = operand(1).constant(); // refuses computed axes
            axes.emplace();
            for (std::int64_t i = 0; i != t.element_count(); ++i)
                axes->push_back(t.at(static_cast<std::size_t>(i)).to<std::int64_t>());
        }
        if (!axes || axes->empty()) {
            if (number_of(node, "noop_with_empty_axes", 0) != 0) return g.op<"Identity">(x);
            axes.reset();
        }
        return reduce(g, x, axes, keepdims);
    }

    template <fixed_string Order>
    value extreme() const {
        value out = operand(0);
        for (std::size_t i = 1; i != node.inputs.size(); ++i) out = chosen<Order>(g, out, operand(i));
        return out;
    }

    value clip() const {
        value out = operand(0);
        if (has(1)) out = chosen<"Greater">(g, out, operand(1));
        if (has(2)) out = chosen<"Less">(g, out, operand(2));
        return out;
    }
};

/// One reduction along all axes in question.
template <value (*Along)(graph<11>, value, std::int64_t, bool)>
value reduce_each(graph<11> g, value x, axes_or_all const& axes, bool keepdims) {
    return reduce_by(g, x, axes, keepdims, Along);
}

value build(replaced const& r) {
    std::string_view const op = r.node.op;
    graph<11> const& g = r.g;
    value const x = r.operand(0);
    if (op == "ReduceSum") return r.reduction(x, sum);
    if (op == "ReduceL1") return r.reduction(g.op<"Abs">(x), sum);
    if (op == "ReduceSumSquare") return r.reduction(g.op<"Mul">(x, x), sum);
    if (op == "ReduceProd") return r.reduction(x, reduce_each<product_along>);
    if (op == "ReduceMax") return r.reduction(x, reduce_each<extreme_along<true>>);
    if (op == "ReduceMin") return r.reduction(x, reduce_each<extreme_along<false>>);
    if (op == "Max") return r.extreme<"Greater">();
    if (op == "Min") return r.extreme<"Less">();
    if (op == "Clip") return r.clip();
    if (op == "Relu") return chosen<"Greater">(g, x, g.scalar(0, x.dtype()));
    if (op == "Sign") return g.cast(g.op<"Sign">(g.cast(x, dtype::float32)), x.dtype());
    if (op == "Range") return steps(g, x, r.operand(1), r.operand(2));
    if (op == "Pow") return power(g, x, r.operand(1));
    if (op == "Mod") return g.op<"Sub">(x, g.op<"Mul">(g.op<"Div">(x, r.operand(1)), r.operand(1)));
    if (op == "Einsum" && g.opset() >= 12) {
        safe_vector<value> operands;
        for (std::size_t i = 0; i != r.node.inputs.size(); ++i) operands.push_back(r.operand(i));
        return contract(g.within<12>(), operands, r.node.attribute("equation")->s);
    }
    return g.unsupported("no exact form");
}

} // namespace

value_id build_exact_integers(graph_data& graph, graph_node const& n) {
    constexpr int first_opset = 11;
    if (graph.opset < first_opset) return no_value;
    return build({dsl::graph<first_opset>(graph, graph.opset), graph, n}).id();
}

} // namespace ATON_NAMESPACE::fusions
