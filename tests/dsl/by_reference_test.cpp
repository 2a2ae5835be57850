// SPDX-License-Identifier: MIT
// Attributes that a body passes on: one function for all values, in nodes, as operands, in nested graphs and through other operators.
#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace by_reference_test {

using namespace aton::dsl;

namespace {

using floats = std::span<float const>;
using integers = std::span<std::int64_t const>;
using strings = std::span<std::string const>;

inline constexpr auto as_values = [](graph<13> g, value x, by_reference<double> f, by_reference<std::int64_t> i,
                                     by_reference<std::string_view> s, by_reference<tensor> t, by_reference<floats> fs,
                                     by_reference<integers> is, by_reference<strings> ss) {
    value const y = g.op<"Mul">(g.op<"Add">(x, f), i);
    return std::vector<value>{g.op<"Sub">(y, g.to_value(t)),
                              g.to_value(s),
                              g.op<"Mul">(g.to_value(fs), 2),
                              g.op<"Reshape">(x, g.to_value(is)),
                              g.to_value(ss)};
};
inline constexpr auto as_attributes = [](graph<13> g, value x, by_reference<double> f, by_reference<std::int64_t> i,
                                         by_reference<std::string_view> s, by_reference<integers> is,
                                         std::optional<by_reference<double>> eps) {
    value y = g.op<"LeakyRelu">(x, attr::alpha_f(f));
    y = g.op<"Softmax">(g.op<"Elu">(y, attr::alpha_f(eps)), attr::axis_i(i));
    y = g.op<"Transpose">(y, attr::perm_i(is));
    return g.op<"Pad">(y, g.ints({0, 1, 0, 0}), attr::mode_s(s));
};
/// What C++ reads is part of the function.
inline constexpr auto mixed = [](graph<13> g, value x, by_reference<double> factor, std::int64_t times) {
    for (std::int64_t i = 0; i != times; ++i) x = g.op<"Mul">(x, factor);
    return x;
};
inline constexpr auto nested = [](graph<13> g, value c, value x, by_reference<double> factor) -> value {
    return g.op<"If">(c,
                      attr::then_branch_g([&](graph<13> b) { return b.op<"Mul">(x, factor); }),
                      attr::else_branch_g([&](graph<13> b) { return b.op<"LeakyRelu">(x, attr::alpha_f(factor)); }));
};
inline constexpr auto domain_of_references =
    domain<"test.references", 1,
           op<"Values(T X, float f=0.5, int i=2, string s='p', tensor t, float[] fs=[1, 2], int[] is=[3, 2], string[] "
              "ss=['a']) "
              "-> (T A, tensor(string) B, tensor(float) C, T D, tensor(string) E)",
              "T: float, double, int32", body<as_values>>,
           op<"Attributes(T X, float f=0.25, int i=-1, string s='constant', int[] is=[1, 0], float? eps) -> (T Y)",
              "T: float", body<as_attributes>>,
           op<"Mixed(T X, float factor=1.5, int times) -> (T Y)", "T: float, double", body<mixed>>,
           op<"Nested(tensor(bool) C, T X, float factor) -> (T Y)", "T: float", body<nested>>>{};
inline constexpr auto through = [](graph<13, domain_of_references> g, value x, by_reference<double> scale) {
    return g.op<"test.references::Mixed">(x, attr_f<"factor">(scale), attr_i<"times">(2));
};
inline constexpr auto outer_domain =
    domain<"test.through", 1, op<"Through(T X, float scale=3.0) -> (T Y)", "", body<through>>>{};
using all_graph = graph<13, domain_of_references, outer_domain>;

struct fixture {
    graph_data data;
    all_graph g{data, 13};
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, 3}})};
    [[nodiscard]] graph_data const& body(std::size_t i) const { return data.functions.at(i).body.at(0); }
};

std::vector<std::string> references(graph_data const& g) {
    std::vector<std::string> all;
    for (auto const& n : g.nodes)
        for (auto const& a : n.attributes) {
            if (!a.reference.empty()) all.push_back(n.op + "." + a.name + "=@" + a.reference);
            for (auto const& inner : a.graphs)
                for (std::string const& each : references(inner)) all.push_back(each);
        }
    return all;
}

} // namespace

TEST_CASE("one function serves every value of its attributes, as operands and constants") {
    fixture f;
    tensor const one = scalar_tensor(1.5, dtype::float32);
    (void)f.g.op<"test.references::Values">(f.x, attr_t<"t">(one), outputs<5>);
    auto const [a, b, c, d, e] = f.g.op<"test.references::Values">(f.x,
                                                                   attr_f<"f">(-2.0),
                                                                   attr_i<"i">(7),
                                                                   attr_s<"s">("q"),
                                                                   attr_t<"t">(scalar_tensor(-1, dtype::float32)),
                                                                   attr_f<"fs">({4, 5, 6}),
                                                                   attr_i<"is">({1, 6}),
                                                                   attr_s<"ss">({"b", "c"}),
                                                                   outputs<5>);
    REQUIRE(f.data.functions.size() == 1);
    CHECK(references(f.body(0)) == std::vector<std::string>{"Constant.value_float=@f",
                                                            "Constant.value_int=@i",
                                                            "Constant.value=@t",
                                                            "Constant.value_string=@s",
                                                            "Constant.value_floats=@fs",
                                                            "Constant.value_ints=@is",
                                                            "Constant.value_strings=@ss"});
    // The types are those of this call.
    CHECK(a.shape() == aton::shape{2, 3});
    CHECK(b.type() == value_type{dtype::string, aton::shape(std::vector<dim>())});
    CHECK(c.shape() == aton::shape{3});
    CHECK(d.dtype() == dtype::float32);
    CHECK(e.shape() == aton::shape{2});
    // Both calls have every attribute: the function has no defaults.
    CHECK(f.data.nodes[0].attributes.size() == 7);
    REQUIRE(f.data.nodes[0].attribute("f") != nullptr);
    CHECK(f.data.nodes[0].attribute("f")->f == 0.5F);
    CHECK(f.data.nodes[0].attribute("f")->reference.empty());
    CHECK(f.data.functions[0].defaults.empty());
    // Constants that are not known are not folded.
    CHECK_FALSE(value(f.data.functions[0].body[0], 1).is_constant());
}

TEST_CASE("one function serves every value of its attributes, as attributes of nodes") {
    fixture f;
    value const y = f.g.op<"test.references::Attributes">(f.x);
    (void)f.g.op<"test.references::Attributes">(f.x, attr_f<"f">(3.0), attr_i<"i">(0), attr_i<"is">({0, 1}));
    CHECK(y.shape() == aton::shape{3, 3});
    REQUIRE(f.data.functions.size() == 1);
    CHECK(references(f.body(0)) ==
          std::vector<std::string>{"LeakyRelu.alpha=@f", "Softmax.axis=@i", "Transpose.perm=@is", "Pad.mode=@s"});
    (void)f.g.op<"test.references::Attributes">(f.x, attr_f<"eps">(0.5)); // given or not is another body
    (void)f.g.op<"test.references::Attributes">(f.x, attr_f<"eps">(0.75));
    REQUIRE(f.data.functions.size() == 2);
    CHECK(references(f.body(1)).size() == 5);
}

TEST_CASE("what C++ reads is part of the function") {
    fixture f;
    for (double factor : {1.0, 2.0, 3.0})
        for (std::int64_t times : {1, 3})
            (void)f.g.op<"test.references::Mixed">(f.x, attr_f<"factor">(factor), attr_i<"times">(times));
    CHECK(f.data.functions.size() == 2);
    CHECK(f.data.functions[1].name == "Mixed__2");
}

TEST_CASE("references in nested graphs, and of attributes that are references themselves") {
    fixture f;
    value const c(f.data, f.data.add_input("c", {dtype::bool_, aton::shape(std::vector<dim>())}));
    (void)f.g.op<"test.references::Nested">(c, f.x, attr_f<"factor">(0.5));
    (void)f.g.op<"test.references::Nested">(c, f.x, attr_f<"factor">(2.5));
    REQUIRE(f.data.functions.size() == 1);
    CHECK(references(f.body(0)) == std::vector<std::string>{"Constant.value_float=@factor", "LeakyRelu.alpha=@factor"});
    (void)f.g.op<"test.through::Through">(f.x);
    (void)f.g.op<"test.through::Through">(f.x, attr_f<"scale">(-1.0));
    REQUIRE(f.data.functions.size() == 3); // Mixed, which Through calls
    CHECK(f.data.functions[1].name == "Mixed");
    CHECK(references(f.body(1)) ==
          std::vector<std::string>{"Constant.value_float=@factor", "Constant.value_float=@factor"});
    CHECK(references(f.body(2)) == std::vector<std::string>{"Mixed.factor=@scale"});
}

TEST_CASE("an operand that refers to an attribute has the dtype of the others") {
    fixture f;
    value const wide(f.data, f.data.add_input("w", {dtype::float64, aton::shape{2}}));
    value const y = f.g.op<"test.references::Mixed">(wide, attr_i<"times">(1));
    CHECK(y.dtype() == dtype::float64);
    CHECK(f.body(0).nodes.at(1).op == "Cast");
    value const whole(f.data, f.data.add_input("i", {dtype::int32, aton::shape{2, 3}}));
    CHECK_THROWS_WITH_AS(
        (void)f.g.op<"test.references::Values">(whole, attr_t<"t">(scalar_tensor(1, dtype::int32)), outputs<5>),
        "onnx::Add (opset 13): input 'B' is a floating-point number that the program computes, which does not fit "
        "int32; "
        "cast the other input first; by_reference_test.cpp:28, the 1st Add of the body",
        aton::illegal_call);
}

} // namespace by_reference_test
