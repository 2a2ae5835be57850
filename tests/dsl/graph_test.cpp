// SPDX-License-Identifier: MIT
// g.op: operands, numbers, attributes and outputs of a call, and refusals at the target opset.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <type_traits>

#include <aton/aton.hpp>

namespace graph_test {

using namespace aton::dsl;

namespace {

struct fixture {
    graph_data data;

    explicit fixture(int opset) { data.opset = opset; }
    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
};

using float_value = decltype(std::declval<graph<13>>().op<"Neg">(std::declval<value>()));

// Types of results: derived from value, with the set of dtypes that the schemas allow.
static_assert(std::is_base_of_v<value, float_value>);
static_assert(float_value::types.contains(dtype::float32) && float_value::types.contains(dtype::int64));
static_assert(!float_value::types.contains(dtype::bool_) && !float_value::types.contains(dtype::string));
using shape_value = decltype(std::declval<graph<13>>().op<"Shape">(std::declval<value>()));
static_assert(shape_value::types == tensors(dtype::int64));
using bool_value = decltype(std::declval<graph<13>>().op<"IsNaN">(std::declval<value>()));
static_assert(bool_value::types == tensors(dtype::bool_));

// They convert only to supersets.
static_assert(std::is_convertible_v<shape_value, float_value> && !std::is_convertible_v<float_value, shape_value>);
static_assert(std::is_convertible_v<shape_value, value> && !std::is_convertible_v<value, shape_value>);
static_assert(
    std::is_same_v<std::remove_cvref_t<decltype(true ? std::declval<value>() : std::declval<float_value>())>, value>);
static_assert(
    std::is_same_v<std::remove_cvref_t<decltype(true ? std::declval<shape_value>() : std::declval<float_value>())>,
                   float_value>);

// The union over all versions of the range: Relu takes integers from opset 14.
using relu_13 = decltype(std::declval<graph<13, 13>>().op<"Relu">(std::declval<value>()));
using relu_14 = decltype(std::declval<graph<13>>().op<"Relu">(std::declval<value>()));
static_assert(!relu_13::types.contains(dtype::int64) && relu_14::types.contains(dtype::int64));

// outputs<n> gives a tuple, each with its own types; output_list a vector.
using top_k = decltype(std::declval<graph<13>>().op<"TopK">(std::declval<value>(), std::declval<value>(), outputs<2>));
static_assert(std::tuple_size_v<top_k> == 2 && std::tuple_element_t<1, top_k>::types == tensors(dtype::int64));
using pieces =
    decltype(std::declval<graph<13>>().op<"Split">(std::declval<value>(), std::declval<value>(), output_list(3)));
static_assert(std::is_base_of_v<std::vector<value>, pieces>); // with checked access

// valid_call checks without an error.
static_assert(valid_call<graph<13>, "Add", value, value>);
static_assert(valid_call<graph<13>, "Add", value, double>);
static_assert(!valid_call<graph<13>, "Add", value>);
static_assert(!valid_call<graph<13>, "Gelu", value> && valid_call<graph<20>, "Gelu", value>);
static_assert(valid_call<graph<11, 12>, "ReduceSum", value, decltype(attr::axes_i({1}))>);
static_assert(!valid_call<graph<11>, "ReduceSum", value, decltype(attr::axes_i({1}))>);
static_assert(!valid_call<graph<13>, "Add", shape_value, bool_value>);

// A graph is two words; it converts to a wider range, but not to a narrower one.
static_assert(sizeof(graph<13>) == 2 * sizeof(void*));
static_assert(std::is_convertible_v<graph<13, 17>, graph<11>> && !std::is_convertible_v<graph<11>, graph<13>>);
static_assert(!std::is_convertible_v<graph<13>, graph<13, 17>>);

} // namespace

TEST_CASE("a call appends a node with its operands and attributes") {
    fixture f(17);
    graph<13> g(f.data, 17);
    value const x = f.input("x", dtype::float32, {2, 3, 5, 7});
    value const w = f.input("w", dtype::float32, {4, 3, 2, 3});
    value const y = g.op<"Conv">(x, w, attr::strides_i({2, 1}), attr::pads_i({1, 0, 2, 0}), attr::auto_pad_s("NOTSET"));
    REQUIRE(f.data.nodes.size() == 1);
    auto const& node = f.data.nodes[0];
    CHECK(node.op == "Conv");
    CHECK(node.inputs == std::vector{x.id(), w.id()});
    CHECK(node.outputs == std::vector{y.id()});
    REQUIRE(node.attributes.size() == 3);
    CHECK(node.attributes[0].ints == std::vector<std::int64_t>{2, 1});
    CHECK(node.attributes[1].type == aton::onnx::attr_type::ints);
    CHECK(node.attributes[2].s == "NOTSET");
    CHECK(y.dtype() == dtype::float32);
    CHECK(y.shape() == aton::shape{2, 4, 4, 5});
}

TEST_CASE("a number becomes a constant of the other operand's dtype") {
    for (dtype t : {dtype::float32, dtype::float64, dtype::float16, dtype::bfloat16, dtype::int64, dtype::int32}) {
        fixture f(20);
        graph<13> g(f.data, 20);
        value const x = f.input("x", t, {3});
        (void)g.op<"Mul">(x, 2.0);
        (void)g.op<"Sub">(7, x);
        REQUIRE(f.data.nodes.size() == 4);
        value const two(f.data, f.data.nodes[0].outputs[0]);
        value const seven(f.data, f.data.nodes[2].outputs[0]);
        CHECK(two.dtype() == t);
        CHECK(two.rank() == 0);
        CHECK(two.constant<double>() == 2.0);
        CHECK(seven.dtype() == t);
        CHECK(f.data.nodes[3].inputs[0] == seven.id());
    }
}

TEST_CASE("a fraction beside integers is refused, not truncated") {
    fixture f(20);
    graph<13> g(f.data, 20);
    value const x = f.input("x", dtype::int64, {3});
    CHECK_THROWS_WITH_AS((void)g.op<"Mul">(x, 0.5),
                         "onnx::Mul (opset 20): input 'B' is 0.5, which does not fit int64; cast the other input first",
                         aton::illegal_call);
    CHECK_NOTHROW((void)g.op<"Mul">(x, 2.0));
}

TEST_CASE("float attributes are rounded from double once") {
    fixture f(13);
    graph<13> g(f.data, 13);
    value const x = f.input("x", dtype::float32, {3});
    (void)g.op<"Elu">(x, attr::alpha_f(0.1));
    CHECK(f.data.nodes[0].attributes[0].f == 0.1F);
}

TEST_CASE("trailing absent inputs are dropped, inner ones are kept") {
    fixture f(13);
    graph<13> g(f.data, 13);
    value const x = f.input("x", dtype::float32, {3});
    value const high = f.input("high", dtype::float32, aton::shape(std::vector<aton::dim>{}));
    (void)g.op<"Clip">(x, absent, high);
    (void)g.op<"Clip">(x, high, absent);
    (void)g.op<"Clip">(x, optional_value(), optional_value());
    CHECK(f.data.nodes[0].inputs == std::vector{x.id(), aton::no_value, high.id()});
    CHECK(f.data.nodes[1].inputs == std::vector{x.id(), high.id()});
    CHECK(f.data.nodes[2].inputs == std::vector{x.id()});
}

TEST_CASE("structured bindings, lists and output lists") {
    fixture f(13);
    graph<13> g(f.data, 13);
    value const x = f.input("x", dtype::float32, {4, 6});
    auto [values, indices] = g.op<"TopK">(x, g.ints({2}), attr::axis_i(1), outputs<2>);
    CHECK(values.dtype() == dtype::float32);
    CHECK(indices.dtype() == dtype::int64);
    std::vector<value> const parts = g.op<"Split">(x, g.ints({1, 2, 3}), attr::axis_i(1), output_list(3));
    REQUIRE(parts.size() == 3);
    CHECK(parts[2].size(1).size() == 3);
    value const joined = g.op<"Concat">(parts, attr::axis_i(1));
    CHECK(f.data.nodes.back().inputs.size() == 3);
    CHECK(joined.dtype() == dtype::float32);
}

TEST_CASE("dtypes that the target opset does not allow are refused when the graph is built") {
    fixture f(13);
    graph<13> g(f.data, 13);
    value const i = f.input("i", dtype::int64, {3});
    value const x = f.input("x", dtype::float32, {3});
    CHECK_THROWS_WITH_AS((void)g.op<"Relu">(i),
                         "onnx::Relu (opset 13): input 'X' is int64, which this opset does not accept (opset 14 does)",
                         aton::illegal_call);
    CHECK_THROWS_WITH_AS((void)g.op<"Add">(x, i),
                         "onnx::Add (opset 13): input 'B' is int64, but another input of the same type variable is "
                         "float32; cast one of them",
                         aton::illegal_call);
    fixture later(14);
    graph<13> h(later.data, 14);
    CHECK_NOTHROW((void)h.op<"Relu">(later.input("i", dtype::int64, {3})));
}

TEST_CASE("static sizes are constants, others are computed") {
    fixture f(13);
    graph<13> g(f.data, 13);
    value const x = f.input("x", dtype::float32, {2, "batch", aton::dim()});
    CHECK(g.size(x, 0).is(2));
    CHECK(f.data.nodes.empty());
    sym_int const batch = g.size(x, -2);
    CHECK_FALSE(batch.is_constant());
    CHECK_THROWS_AS((void)batch.constant(), aton::unsupported_error);
    sym_int const mixed[] = {6, batch, 5, 7};
    value const shape = g.ints(mixed);
    CHECK(shape.dtype() == dtype::int64);
    CHECK(shape.size(0).size() == 4);
    sym_int const fixed[] = {6, 5};
    CHECK(g.ints(fixed).constant() == aton::int64_tensor(std::vector<std::int64_t>{6, 5}));
    CHECK_THROWS_AS((void)x.size(3), aton::unsupported_error);
}

TEST_CASE("cast does nothing to the same dtype and converts constants at export") {
    fixture f(13);
    graph<13> g(f.data, 13);
    value const x = f.input("x", dtype::float32, {3});
    CHECK(g.cast(x, dtype::float32).same_as(x));
    CHECK(g.cast(g.scalar(2.75, dtype::float64), dtype::int32).constant<double>() == 2.0);
    CHECK(g.cast(x, dtype::int64).dtype() == dtype::int64);
    CHECK(f.data.nodes.back().op == "Cast");
}

TEST_CASE("a narrower range is checked against the target") {
    fixture f(17);
    graph<13> g(f.data, 17);
    CHECK(g.within<13, 17>().opset() == 17);
    CHECK_THROWS_WITH_AS((void)g.within<18>(), "opset 17 is outside graph<18, 28>", aton::error);
    CHECK_THROWS_AS(graph<13>(f.data, 12), aton::error);
    graph_data fresh;
    graph<13> const h(fresh, 19);
    CHECK(fresh.opset == 19);
    CHECK(h.opset() == 19);
}

TEST_CASE("operators of other domains are checked at their newest version and imported") {
    fixture f(15);
    graph<13> g(f.data, 15);
    value const x = f.input("x", dtype::float32, {1, 3});
    (void)g.op<"ai.onnx.ml::Scaler">(x, attr::offset_f({0.5, 1.5, 2.5}), attr::scale_f({2.0, 3.0, 4.0}));
    CHECK(f.data.nodes[0].domain == "ai.onnx.ml");
    REQUIRE(f.data.opset_imports.size() == 1);
    CHECK(f.data.opset_imports[0].first == "ai.onnx.ml");
    CHECK(f.data.opset_imports[0].second == aton::onnx::newest_version("ai.onnx.ml"));
}

TEST_CASE("unsupported converts to any result and throws its reason") {
    fixture f(15);
    graph<13> g(f.data, 15);
    auto const refuse = [&]() -> value { return g.unsupported("antialias with align_corners"); };
    auto const refuse_tuple = [&]() -> std::tuple<value, value> { return g.unsupported("because"); };
    CHECK_THROWS_WITH_AS((void)refuse(), "antialias with align_corners", aton::unsupported_error);
    CHECK_THROWS_AS((void)refuse_tuple(), aton::unsupported_error);
}

TEST_CASE("handles and types stay valid while the graph grows") {
    fixture f(15);
    graph<13> g(f.data, 15);
    value const x = f.input("x", dtype::float32, {3, 4});
    aton::shape const& before = x.shape();
    value y = x;
    for (int i = 0; i != 5000; ++i) y = g.op<"Neg">(y);
    CHECK(&before == &x.shape());
    CHECK(y.shape() == before);
}

} // namespace graph_test
