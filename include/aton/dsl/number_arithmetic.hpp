// SPDX-License-Identifier: MIT
// Arithmetic on numbers and sizes: folded if both operands are constant, else nodes of the graph.
// Public header.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <aton/core/budget.hpp>
#include <aton/core/dtype.hpp>
#include <aton/core/error.hpp>
#include <aton/core/scalar.hpp>
#include <aton/dsl/attr.hpp>
#include <aton/dsl/node_builder.hpp>
#include <aton/dsl/number.hpp>
#include <aton/dsl/value.hpp>

namespace ATON_NAMESPACE::dsl {

namespace detail {

/// The operands of arithmetic on numbers: at least one is a number or size, the other anything that converts to it.
template <class T>
inline constexpr bool is_size_like = std::same_as<T, sym_int> || (std::integral<T> && !std::same_as<T, bool>);
template <class T>
inline constexpr bool is_number_like =
    is_size_like<T> || std::same_as<T, number> || std::same_as<T, scalar> || std::is_arithmetic_v<T>;
template <class A, class B>
concept sizes = is_size_like<A> && is_size_like<B> && (std::same_as<A, sym_int> || std::same_as<B, sym_int>);
template <class A, class B>
concept numbers =
    !sizes<A, B> && is_number_like<A> && is_number_like<B> &&
    (std::same_as<A, number> || std::same_as<B, number> || std::same_as<A, sym_int> || std::same_as<B, sym_int>);

enum class operation : std::uint8_t { add, subtract, multiply, divide, modulo, maximum, minimum };

/// The graph that computes with both values: that of `a`, or that of `b` where it is nested in the graph of `a`.
template <class Graph = graph_data>
Graph& common_graph(value const& a, value const& b) {
    Graph& first = a.owner();
    return first.capture(b.owner(), b.id()) != no_value ? first : b.owner();
}
/// The same for numbers, of which at least one is computed.
template <class Number>
graph_data& graph_of_numbers(Number const& a, Number const& b) {
    if (a.is_constant() || b.is_constant()) return (a.is_constant() ? b : a).as_value().owner();
    return common_graph(a.as_value(), b.as_value());
}

/// Appends a node of one result to the graph of both values.
template <class Graph = graph_data, class... More>
value append_operation(std::string_view op, value const& a, value const& b, More const&... more) {
    Graph& graph = common_graph<Graph>(a, b);
    onnx::op_schema const schema = onnx::find("", op, graph.opset);
    if (!schema)
        throw unsupported_error("arithmetic on computed numbers needs " + std::string(op) + ", which opset " +
                                std::to_string(graph.opset) + " does not have");
    node_builder<Graph> node(graph, "", op, schema, graph.opset, graph.opset);
    node.add(a);
    node.add(b);
    (node.add(more), ...);
    return {graph, node.finish()};
}

/// A number as a value of this dtype, in the graph of another one.
template <class Graph>
value number_in(Graph& graph, number const& n, dtype type) {
    if (n.is_constant()) return {graph, append_constant(graph, scalar_tensor(n.constant(), type))};
    return {graph, append_cast(graph, n.as_value(), type)};
}

/// The larger or the smaller of two int64 numbers; Max and Min take integers since opset 12.
template <class = void>
value extreme_of_integers(std::string_view op, value const& x, value const& y) {
    if (x.owner().opset >= 12) return append_operation(op, x, y);
    value const less = append_operation("Less", x, y);
    return append_operation("Where", less, op == "Max" ? y : x, op == "Max" ? x : y);
}

/// The remainder of int64 numbers with the sign of the dividend; Mod was added in opset 10.
template <class = void>
value remainder_of_integers(value const& x, value const& y) {
    if (x.owner().opset >= 10) return append_operation("Mod", x, y, attr_i<"fmod">(1));
    return append_operation("Sub", x, append_operation("Mul", append_operation("Div", x, y), y));
}

/// Python's x % y of floating-point numbers: the remainder of a division, with the sign of the divisor.
template <class = void>
double floating_modulo(double x, double y) {
    double const quotient = x / y;
    if (!(quotient > -9e15 && quotient < 9e15)) throw unsupported_error("the remainder of numbers as large as these");
    auto const whole = static_cast<double>(static_cast<std::int64_t>(quotient));
    double const rest = x - whole * y;
    return !exactly_equal(rest, 0) && (rest < 0) != (y < 0) ? rest + y : rest;
}

/// Integers as in C++: `/` rounds toward zero, and `%` is its remainder. They must not overflow.
template <operation Op>
std::int64_t fold_integers(std::int64_t a, std::int64_t b) {
    if constexpr (Op == operation::add) return checked_add(a, b);
    else if constexpr (Op == operation::subtract) return checked_subtract(a, b);
    else if constexpr (Op == operation::multiply) return checked_multiply(a, b);
    else if constexpr (Op == operation::maximum) return a < b ? b : a;
    else if constexpr (Op == operation::minimum) return b < a ? b : a;
    else {
        if (b == 0) throw unsupported_error("a division of integers by zero");
        if (b == -1) return Op == operation::divide ? checked_subtract(0, a) : 0;
        return Op == operation::divide ? a / b : a % b;
    }
}

template <operation Op>
scalar fold_numbers(scalar const& a, scalar const& b) {
    if (a.is_complex() || b.is_complex()) throw unsupported_error("arithmetic on complex numbers");
    if (Op != operation::divide && !a.is_floating() && !b.is_floating()) {
        auto const x = a.to<std::int64_t>();
        auto const y = b.to<std::int64_t>();
        std::int64_t const z = fold_integers<Op>(x, y);
        return Op == operation::modulo && z != 0 && (z < 0) != (y < 0) ? z + y : z;
    }
    auto const x = a.to<double>();
    auto const y = b.to<double>();
    if constexpr (Op == operation::add) return x + y;
    else if constexpr (Op == operation::subtract) return x - y;
    else if constexpr (Op == operation::multiply) return x * y;
    else if constexpr (Op == operation::maximum) return x < y ? y : x;
    else if constexpr (Op == operation::minimum) return y < x ? y : x;
    else {
        if (exactly_equal(y, 0)) throw unsupported_error("a division of a number by zero");
        return Op == operation::divide ? x / y : floating_modulo(x, y);
    }
}

template <operation Op>
inline constexpr std::string_view operator_of = Op == operation::add        ? "Add"
                                                : Op == operation::subtract ? "Sub"
                                                : Op == operation::multiply ? "Mul"
                                                : Op == operation::divide   ? "Div"
                                                : Op == operation::modulo   ? "Mod"
                                                : Op == operation::maximum  ? "Max"
                                                                            : "Min";

/// x % y in the graph for floating-point numbers: ONNX's Mod has the sign of the dividend there.
template <class = void>
value modulo_of_floats(value const& x, value const& y) {
    value const rest = append_operation("Mod", x, y, attr_i<"fmod">(1));
    value const zero = number_in(x.owner(), 0.0, dtype::float64);
    value const signs_differ = append_operation("Less", append_operation("Mul", rest, y), zero);
    return append_operation("Where", signs_differ, append_operation("Add", rest, y), rest);
}

template <operation Op>
sym_int on_sizes(sym_int const& a, sym_int const& b) {
    if (a.is_constant() && b.is_constant()) return fold_integers<Op>(a.constant(), b.constant());
    constexpr bool sum = Op == operation::add || Op == operation::subtract;
    constexpr bool product = Op == operation::multiply || Op == operation::divide;
    if ((sum && b.is(0)) || (product && b.is(1))) return a;
    if ((Op == operation::add && a.is(0)) || (Op == operation::multiply && a.is(1))) return b;
    if (Op == operation::multiply && (a.is(0) || b.is(0))) return 0;
    graph_data& graph = graph_of_numbers(a, b);
    value const x = number_in(graph, a, dtype::int64);
    value const y = number_in(graph, b, dtype::int64);
    if constexpr (Op == operation::modulo) return remainder_of_integers(x, y);
    else if constexpr (Op == operation::maximum || Op == operation::minimum)
        return extreme_of_integers(operator_of<Op>, x, y);
    else return append_operation(operator_of<Op>, x, y);
}

template <operation Op>
number on_numbers(number const& a, number const& b) {
    if (a.is_constant() && b.is_constant()) return fold_numbers<Op>(a.constant(), b.constant());
    if (a.is_complex() || b.is_complex()) throw unsupported_error("arithmetic on complex numbers");
    bool const real = Op == operation::divide || a.is_floating() || b.is_floating();
    dtype const type = real ? dtype::float64 : dtype::int64;
    graph_data& graph = graph_of_numbers(a, b);
    value const x = number_in(graph, a, type);
    value const y = number_in(graph, b, type);
    if (Op == operation::modulo && real) return modulo_of_floats(x, y);
    if ((Op == operation::maximum || Op == operation::minimum) && !real)
        return extreme_of_integers(operator_of<Op>, x, y);
    return append_operation(operator_of<Op>, x, y);
}

template <operation Op, class A, class B>
auto arithmetic(A const& a, B const& b) {
    if constexpr (sizes<A, B>) return on_sizes<Op>(a, b);
    else return on_numbers<Op>(a, b);
}

/// Whether a relation is known to hold at export.
template <class A, class B, class Relation>
bool known(A const& first, B const& second, Relation holds) {
    number const a = first;
    number const b = second;
    if (!a.is_constant() || !b.is_constant()) return false;
    scalar const& x = a.constant();
    scalar const& y = b.constant();
    if (x.is_complex() || y.is_complex()) return false;
    bool const exact = !x.is_floating() && !y.is_floating();
    return exact ? holds(x.to<std::int64_t>(), y.to<std::int64_t>()) : holds(x.to<double>(), y.to<double>());
}

template <class A, class B>
concept number_operands = sizes<A, B> || numbers<A, B>;

} // namespace detail

/// Sum of numbers or sizes.
/// The result is a `sym_int` if both operands are sizes or integers, otherwise a `number`.
template <class A, class B>
    requires detail::number_operands<A, B>
auto operator+(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::add>(a, b);
}
/// Difference of numbers or sizes.
template <class A, class B>
    requires detail::number_operands<A, B>
auto operator-(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::subtract>(a, b);
}
/// Product of numbers or sizes.
template <class A, class B>
    requires detail::number_operands<A, B>
auto operator*(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::multiply>(a, b);
}
/// Quotient: of numbers as in Python (7 / 2 is 3.5), of sizes as in C++ (rounded toward zero). Refuses a constant divisor of zero.
template <class A, class B>
    requires detail::number_operands<A, B>
auto operator/(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::divide>(a, b);
}
/// Remainder: of numbers with the sign of the divisor, as in Python, of sizes with that of the dividend, as in C++.
template <class A, class B>
    requires detail::number_operands<A, B>
auto operator%(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::modulo>(a, b);
}
/// The larger number or size.
template <class A, class B>
    requires detail::number_operands<A, B>
auto max(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::maximum>(a, b);
}
/// The smaller number or size.
template <class A, class B>
    requires detail::number_operands<A, B>
auto min(A const& a, B const& b) {
    return detail::arithmetic<detail::operation::minimum>(a, b);
}
/// The negative of a number or size.
template <class A>
    requires std::same_as<A, number> || std::same_as<A, sym_int>
A operator-(A const& a) {
    return A(0) - a;
}

// Comparisons hold only if they are known to hold at export: they are false if the graph computes an operand. To compare at run time,
// write g.op<"Less">(x, n).

/// Whether two numbers or sizes are constants and equal.
template <class A, class B>
    requires detail::number_operands<A, B>
bool operator==(A const& a, B const& b) {
    return detail::known(a, b, [](auto x, auto y) { return exactly_equal(x, y); });
}
/// Whether two numbers or sizes are constants and the first is smaller.
template <class A, class B>
    requires detail::number_operands<A, B>
bool operator<(A const& a, B const& b) {
    return detail::known(a, b, [](auto x, auto y) { return x < y; });
}
/// Whether two numbers or sizes are constants and the first is larger.
template <class A, class B>
    requires detail::number_operands<A, B>
bool operator>(A const& a, B const& b) {
    return detail::known(a, b, [](auto x, auto y) { return x > y; });
}
/// Whether two numbers or sizes are constants and the first is not larger.
template <class A, class B>
    requires detail::number_operands<A, B>
bool operator<=(A const& a, B const& b) {
    return detail::known(a, b, [](auto x, auto y) { return x <= y; });
}
/// Whether two numbers or sizes are constants and the first is not smaller.
template <class A, class B>
    requires detail::number_operands<A, B>
bool operator>=(A const& a, B const& b) {
    return detail::known(a, b, [](auto x, auto y) { return x >= y; });
}

} // namespace ATON_NAMESPACE::dsl
