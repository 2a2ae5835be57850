// SPDX-License-Identifier: MIT
// Types at compile time: the possible types of the result of a call over all versions of its range, and the calls that they exclude.
#include <doctest/doctest.h>

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace typed_results_test {

using namespace aton::dsl;
using aton::type_set;

namespace {

template <class Graph, aton::fixed_string Name, class... Args>
constexpr type_set types_of() {
    return decltype(std::declval<Graph>().template op<Name>(std::declval<Args>()...))::types;
}
template <aton::fixed_string Name, class... Args>
inline constexpr type_set in_13 = types_of<graph<13>, Name, Args...>();

template <dtype... T>
using typed = typed_value<aton::tensors(T...)>;
using half = typed<dtype::float16>;
using single = typed<dtype::float32>;
using int64 = typed<dtype::int64>;
using boolean = typed<dtype::bool_>;
template <dtype T>
using to = decltype(attr::to_i(dtype_c<T>));
using axis = decltype(attr::axis_i(0));
constexpr type_set sequence_of(dtype t) { return {aton::tensors(t).plain << 32, 0}; }
constexpr type_set optional_of(type_set t) { return {0, t.plain}; }

// Fixed by the schema.
static_assert(in_13<"Shape", value> == aton::tensors(dtype::int64) &&
              in_13<"Size", value> == aton::tensors(dtype::int64));
static_assert(in_13<"Equal", value, value> == aton::tensors(dtype::bool_) &&
              in_13<"IsNaN", value> == aton::tensors(dtype::bool_));
static_assert(in_13<"ArgMax", value> == aton::tensors(dtype::int64) &&
              in_13<"NonZero", value> == aton::tensors(dtype::int64));
static_assert(in_13<"SequenceLength", value> == aton::tensors(dtype::int64));

// The types that the operands share, in any order.
static_assert(in_13<"Add", half, value> == aton::tensors(dtype::float16) &&
              in_13<"Add", value, half> == aton::tensors(dtype::float16));
static_assert(in_13<"Add", typed<dtype::float16, dtype::int64>, typed<dtype::int64, dtype::float64>> ==
              aton::tensors(dtype::int64));
static_assert(in_13<"Mul", int64, int> == aton::tensors(dtype::int64)); // numbers take the type of the others
static_assert(in_13<"Mul", half, double> == aton::tensors(dtype::float16));
static_assert(!valid_call<graph<13>, "Mul", int64, double> && !valid_call<graph<13>, "And", boolean, float>);
static_assert(in_13<"Mul", typed<dtype::int64, dtype::float32>, double> ==
              aton::tensors(dtype::int64, dtype::float32)); // known when the graph is built
static_assert(in_13<"Where", boolean, value, half> == aton::tensors(dtype::float16));
static_assert(in_13<"Concat", value, single, value, axis> == aton::tensors(dtype::float32));
static_assert(in_13<"Gather", half, int64> == aton::tensors(dtype::float16));
static_assert(in_13<"Identity", int64> == aton::tensors(dtype::int64));
static_assert(in_13<"Reshape", boolean, int64> == aton::tensors(dtype::bool_));
static_assert(in_13<"Clip", typed<dtype::int8>, optional_value, absent_t> == aton::tensors(dtype::int8));

// The type in the attribute, if the operator supports it.
static_assert(in_13<"Cast", value, to<dtype::float16>> == aton::tensors(dtype::float16));
static_assert(in_13<"Cast", boolean, to<dtype::int64>> == aton::tensors(dtype::int64));
static_assert(!in_13<"Cast", boolean, decltype(attr::to_i(dtype::int64))>.contains(sequence_of(dtype::int64)));
static_assert(
    in_13<"Cast", boolean, decltype(attr::to_i(dtype::int64))>.contains(dtype::float32)); // known only at run time
static_assert(
    in_13<"RandomNormal", decltype(attr::shape_i({2, 3})), decltype(attr::dtype_i(dtype_c<dtype::float64>))> ==
    aton::tensors(dtype::float64));
static_assert(in_13<"EyeLike", value, decltype(attr::dtype_i(dtype_c<dtype::bool_>))> == aton::tensors(dtype::bool_));
static_assert(!valid_call<graph<13>, "Cast", value, to<dtype::float8_e5m2>>); // from opset 19
static_assert(valid_call<graph<19>, "Cast", value, to<dtype::float8_e5m2>>);
static_assert(!valid_call<graph<13>, "RandomNormal", decltype(attr::shape_i({2})),
                          decltype(attr::dtype_i(dtype_c<dtype::int64>))>);
static_assert(valid_call<graph<13>, "SequenceEmpty", decltype(attr::dtype_i(dtype_c<dtype::float32>))>);
static_assert(in_13<"SequenceEmpty", decltype(attr::dtype_i(dtype_c<dtype::float32>))> == sequence_of(dtype::float32));

// The union over the versions of a range: Relu takes integers from opset 14, Add small ones, ReduceMax bool from 20.
static_assert(types_of<graph<13, 13>, "Relu", value>() ==
              aton::tensors(dtype::float16, dtype::float32, dtype::float64, dtype::bfloat16));
static_assert(types_of<graph<13>, "Relu", value>().contains(dtype::int8) &&
              types_of<graph<13>, "Relu", value>().contains(dtype::bfloat16));
static_assert(!types_of<graph<9, 12>, "Relu", value>().contains(dtype::bfloat16));
static_assert(!valid_call<graph<13>, "Relu", int64> && valid_call<graph<14>, "Relu", int64>);
static_assert(!valid_call<graph<13>, "Add", typed<dtype::uint8>, value> &&
              valid_call<graph<14>, "Add", typed<dtype::uint8>, value>);
static_assert(!valid_call<graph<18>, "ReduceMax", boolean> && valid_call<graph<20>, "ReduceMax", boolean>);
static_assert(!valid_call<graph<9>, "Equal", typed<dtype::string>, value> &&
              valid_call<graph<19>, "Equal", typed<dtype::string>, value>);

// Calls whose operands have no legal type in common.
static_assert(!valid_call<graph<13>, "Mul", value, boolean> && !valid_call<graph<13>, "Add", int64, single>);
static_assert(!valid_call<graph<13>, "Gather", value, single> && !valid_call<graph<13>, "Where", int64, value, value>);
static_assert(!valid_call<graph<13>, "Concat", half, single, axis> && !valid_call<graph<13>, "Not", single>);
static_assert(!valid_call<graph<13>, "If", single, decltype(attr::then_branch_g([](graph<13>) { return value(); })),
                          decltype(attr::else_branch_g([](graph<13>) { return value(); }))>);
static_assert(
    !valid_call<graph<13>, "Loop", single, value, value,
                decltype(attr::body_g([](graph<13>, value, value, value) { return std::pair<value, value>(); }))>);
static_assert(!valid_call<graph<13>, "Sqrt", int64> && !valid_call<graph<13>, "TopK", value, single, outputs_t<2>>);

// Sequences and optionals are types of their own.
using floats =
    decltype(std::declval<graph<13>>().op<"SequenceConstruct">(std::declval<single>(), std::declval<value>()));
static_assert(!(floats::types & aton::tensors(dtype::float32)).contains(dtype::float32));
static_assert(floats::types.contains(sequence_of(dtype::float32)));
static_assert(!valid_call<graph<13>, "Neg", floats> && !valid_call<graph<13>, "SequenceAt", single, int64>);
static_assert(valid_call<graph<13>, "SequenceAt", floats, int64> &&
              !valid_call<graph<13>, "SequenceAt", floats, single>);
using maybe = decltype(std::declval<graph<15>>().op<"Optional">(std::declval<single>()));
static_assert(maybe::types.contains(optional_of(aton::tensors(dtype::float32))) &&
              !valid_call<graph<15>, "Neg", maybe>);
static_assert(types_of<graph<15>, "OptionalHasElement", maybe>() == aton::tensors(dtype::bool_));

// Several outputs, each with its own.
using top = decltype(std::declval<graph<13>>().op<"TopK">(std::declval<half>(), std::declval<int64>(), outputs<2>));
static_assert(std::tuple_element_t<0, top>::types == aton::tensors(dtype::float16));
static_assert(std::tuple_element_t<1, top>::types == aton::tensors(dtype::int64));
using dropped = decltype(std::declval<graph<13>>().op<"Dropout">(std::declval<single>(), outputs<2>));
static_assert(std::is_same_v<dropped, std::tuple<single, boolean>>);

// g.cast with a dtype known at compile time.
static_assert(std::is_same_v<decltype(std::declval<graph<13>>().cast<dtype::float16>(std::declval<value>())), half>);

// Natural to write.
value plain(graph<13> g, value x) { return g.op<"Relu">(x); }
value chosen(graph<13> g, value x, bool more) {
    value const y = g.op<"Relu">(x);
    return more ? g.op<"Add">(y, x) : y;
}
auto narrower_first(graph<13> g, value x, bool size) {
    return size ? g.op<"Shape">(x) : g.op<"Identity">(g.op<"Shape">(x));
}
std::pair<value, value> two(graph<13> g, value x) { return {g.op<"Relu">(x), g.op<"Shape">(x)}; }
static_assert(std::is_same_v<decltype(narrower_first(std::declval<graph<13>>(), value(), true)), int64>);

} // namespace

TEST_CASE("results can be used as values") {
    graph_data data;
    graph<13> const g(data, 17);
    value const x(data, data.add_input("x", {dtype::float32, aton::shape{2, 3}}));
    auto y = g.op<"Relu">(x);
    y = g.op<"Relu">(y); // the same set of types
    value z = y;
    z = g.op<"Shape">(z);
    CHECK(z.dtype() == dtype::int64);
    CHECK(plain(g, x).dtype() == dtype::float32);
    CHECK(chosen(g, x, true).dtype() == dtype::float32);
    CHECK(narrower_first(g, x, false).dtype() == dtype::int64);
    CHECK(two(g, x).second.dtype() == dtype::int64);
    std::vector<value> const list{y, z, g.op<"Neg">(x)};
    optional_value const maybe = g.op<"Neg">(x);
    CHECK(maybe.has_value());
    CHECK(list.size() == 3);
    auto const [top, at] = g.op<"TopK">(x, g.ints({2}), outputs<2>);
    CHECK(at.dtype() == dtype::int64);
    CHECK(top.dtype() == dtype::float32);
}

TEST_CASE("the compile-time types are right when the graph is built") {
    graph_data data;
    graph<13> const g(data, 17);
    value const x(data, data.add_input("x", {dtype::float32, aton::shape{2, 3}}));
    auto const holds = [](auto const& v) { return std::remove_cvref_t<decltype(v)>::types.contains(v.dtype()); };
    CHECK(holds(g.op<"Cast">(x, attr::to_i(dtype_c<dtype::float16>))));
    CHECK(holds(g.cast<dtype::int32>(x)));
    CHECK(holds(g.cast<dtype::float32>(g.scalar(3, dtype::int64)))); // a constant, converted at export
    CHECK(holds(g.op<"Add">(x, 2.0)));
    CHECK(holds(g.op<"Less">(x, 2.0)));
    CHECK(holds(g.op<"Where">(g.op<"Less">(x, 2.0), x, x)));
    CHECK(holds(g.op<"ArgMin">(x, attr::axis_i(1))));
    CHECK(holds(g.op<"EyeLike">(x, attr::dtype_i(dtype_c<dtype::float64>))));
}

} // namespace typed_results_test
