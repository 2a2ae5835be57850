// SPDX-License-Identifier: MIT
// Bodies of declared operators: one function for equal bodies, overloads for others, functions that call functions.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace operator_body_test {

using namespace aton::dsl;

namespace {

/// alpha * x added n times to itself, plus the optional bias.
inline constexpr auto scaled = [](graph<13> g, value x, optional_value bias, double alpha, std::int64_t n) -> value {
    value y = g.op<"Mul">(x, alpha);
    for (std::int64_t i = 0; i != n; ++i) y = g.op<"Add">(y, x);
    return bias.has_value() ? value(g.op<"Sub">(y, *bias)) : y;
};
/// Every type of attribute that a body takes.
inline constexpr auto described = [](graph<13> g, value x, std::string_view mode, std::span<std::int64_t const> axes,
                                     std::span<float const> knots, std::span<std::string const> names, tensor const& t,
                                     std::optional<double> eps, std::optional<std::span<std::int64_t const>> pads) {
    value y = mode == "neg" ? value(g.op<"Neg">(x)) : x;
    y = g.op<"Add">(y, g.constant(t));
    if (axes.size() == 2) y = g.op<"Mul">(y, knots[1]);
    if (eps.has_value()) y = g.op<"Sub">(y, *eps);
    if (pads.has_value()) y = g.op<"Reshape">(y, g.ints(*pads));
    return std::tuple<value, value>(y, g.op<"Mul">(x, static_cast<double>(names.size())));
};
/// Returns an input, and the same value twice.
inline constexpr auto passes = [](graph<13>, value x) { return std::tuple<value, value, value>(x, x, x); };
/// The attribute of the call is one of a node.
inline constexpr auto leaky = [](graph<13> g, value x, double alpha) {
    return g.op<"LeakyRelu">(x, attr::alpha_f(alpha));
};
/// Each branch is a different body.
inline constexpr auto chosen = [](graph<13> g, value c, value x) -> value {
    return g.op<"If">(c,
                      attr::then_branch_g([&](graph<13> b) { return b.op<"Neg">(x); }),
                      attr::else_branch_g([&](graph<13>) { return x; }));
};

inline constexpr auto inner_domain =
    domain<"test.inner", 2,
           op<"Scaled(T X, T? Bias, float alpha=0.5, int n=1) -> (T Y)", "T: float, double", body<scaled>>,
           op<"Described(T X, string mode='neg', int[] axes=[4, 5], float[] knots=[1, 2.5], string[] names=['p', 'q', "
              "'r'], tensor t, "
              "float? eps, int[]? pads) -> (T Y, T? Z)",
              "T: float, double", body<described>>,
           op<"Leaky(T X, float alpha) -> (T Y)", "T: float", body<leaky>>,
           op<"Passes(T X) -> (T A, T B, T C)", "", body<passes>>,
           op<"Chosen(tensor(bool) C, T X) -> (T Y)", "", body<chosen>>>{};

/// Calls two operators of the other domain; the second call has different attributes.
inline constexpr auto twice = [](graph<13, inner_domain> g, value x) -> value {
    return g.op<"test.inner::Scaled">(g.op<"test.inner::Scaled">(x), x, attr_f<"alpha">(2.0));
};
inline constexpr auto in_a_branch = [](graph<13, inner_domain> g, value c, value x) -> value {
    return g.op<"If">(c,
                      attr::then_branch_g([&](graph<13, inner_domain> b) { return b.op<"test.inner::Scaled">(x); }),
                      attr::else_branch_g([&](graph<13>) { return x; }));
};
inline constexpr auto outer_domain =
    domain<"test.outer", 1, op<"Twice(T X) -> (T Y)", "", body<twice>>,
           op<"Branch(tensor(bool) C, T X) -> (T Y)", "", body<in_a_branch>>,
           op<"Refused(T X, int n) -> (T Y)", "", body<[](graph<13> g, value x, std::int64_t n) -> value {
                  if (n == 1) return g.unsupported("n of 1");
                  return x;
              }>>>{};

using both = graph<13, outer_domain, inner_domain>;

struct fixture {
    graph_data data;
    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
    [[nodiscard]] std::vector<std::string> functions() const {
        std::vector<std::string> all;
        for (auto const& f : data.functions) all.push_back(f.domain + "::" + f.name + ":" + f.overload);
        return all;
    }
};

std::vector<std::string> ops(graph_data const& g) {
    std::vector<std::string> all;
    for (auto const& n : g.nodes) all.push_back(n.op + (n.overload.empty() ? "" : ":" + n.overload));
    return all;
}

} // namespace

TEST_CASE("calls with equal bodies share a function; others have their own overload") {
    fixture f;
    both const g(f.data, 21);
    value const x = f.input("x", dtype::float32, {2, 3});
    value const d = f.input("d", dtype::float64, {4});
    value const y = g.op<"test.inner::Scaled">(x);
    (void)g.op<"test.inner::Scaled">(y, absent, attr_f<"alpha">(0.5), attr_i<"n">(1)); // the defaults, given explicitly
    value const two = g.op<"test.inner::Scaled">(x, attr_i<"n">(2));
    value const biased = g.op<"test.inner::Scaled">(x, y);
    (void)g.op<"test.inner::Scaled">(two, attr_i<"n">(2));
    value const wide = g.op<"test.inner::Scaled">(d); // the constant in the body is a double here
    std::string const name = "test.inner::Scaled:";
    CHECK(f.functions() == std::vector<std::string>{name, name + "2", name + "3", name + "4"});
    CHECK(ops(f.data) == std::vector<std::string>{"Scaled", "Scaled", "Scaled:2", "Scaled:3", "Scaled:2", "Scaled:4"});
    CHECK(ops(f.data.functions[1].body[0]) == std::vector<std::string>{"Constant", "Mul", "Add", "Add"});
    CHECK(ops(f.data.functions[2].body[0]) == std::vector<std::string>{"Constant", "Mul", "Add", "Sub"});
    CHECK(y.type() == value_type{dtype::float32, aton::shape{2, 3}});
    CHECK(biased.dtype() == dtype::float32);
    CHECK(wide.type() == value_type{dtype::float64, aton::shape{4}});
    // The interface of the call does not depend on the body.
    auto const& function = f.data.functions[2];
    CHECK(function.attributes == std::vector<std::string>{"alpha", "n"});
    REQUIRE(function.body[0].inputs.size() == 2);
    CHECK(function.body[0].values[function.body[0].inputs[1]].name == "Bias");
    CHECK(function.body[0].values[function.body[0].outputs[0]].name == "Y");
    CHECK(function.body[0].opset == 21);
    CHECK(function.body[0].around == nullptr);
    CHECK(f.data.opset_imports.size() == 1);
}

TEST_CASE("bodies are compared bitwise: -0. is not 0, NaN equals itself") {
    fixture f;
    graph<13, inner_domain> const g(f.data, 21);
    value const x = f.input("x", dtype::float32, {2, 3});
    for (double alpha : {0.0, -0.0, 0.0, -0.0}) (void)g.op<"test.inner::Leaky">(x, attr_f<"alpha">(alpha));
    float const nan = std::numeric_limits<float>::quiet_NaN();
    for (int i = 0; i != 2; ++i) (void)g.op<"test.inner::Leaky">(x, attr_f<"alpha">(nan));
    CHECK(ops(f.data) == std::vector<std::string>{"Leaky", "Leaky:2", "Leaky", "Leaky:2", "Leaky:3", "Leaky:3"});
}

TEST_CASE("a body reads every type of attribute, or its default") {
    fixture f;
    both const g(f.data, 13);
    value const x = f.input("x", dtype::float32, {3, 2});
    tensor const t = scalar_tensor(1.5, dtype::float32);
    auto const [y, z] = g.op<"test.inner::Described">(x, attr_t<"t">(t), outputs<2>);
    CHECK(ops(f.data.functions[0].body[0]) ==
          std::vector<std::string>{"Neg", "Constant", "Add", "Constant", "Mul", "Constant", "Mul"});
    auto const& nodes = f.data.functions[0].body[0].nodes;
    CHECK(nodes[1].attributes[0].tensors[0] == t);
    CHECK(nodes[3].attributes[0].tensors[0].at(0).to<double>() == 2.5);
    CHECK(nodes[5].attributes[0].tensors[0].at(0).to<double>() == 3.0);
    (void)g.op<"test.inner::Described">(x,
                                        attr_t<"t">(t),
                                        attr_s<"mode">("id"),
                                        attr_i<"axes">({1}),
                                        attr_f<"eps">(0.25),
                                        attr_i<"pads">({2, 3}),
                                        attr_s<"names">({"a"}),
                                        attr_f<"knots">({7}));
    CHECK(ops(f.data.functions[1].body[0]) ==
          std::vector<std::string>{"Constant", "Add", "Constant", "Sub", "Constant", "Reshape", "Constant", "Mul"});
    CHECK(f.data.functions[1].name == "Described__2"); // before opset 21 there are no overloads
    CHECK(f.data.functions[1].overload.empty());
    CHECK(y.shape() == aton::shape{3, 2});
    CHECK(z.shape() == aton::shape{3, 2});
}

TEST_CASE("the results of a body are made in it") {
    fixture f;
    both const g(f.data, 13);
    (void)g.op<"test.inner::Passes">(f.input("x", dtype::string, {3}), outputs<3>);
    auto const& inner = f.data.functions[0].body[0];
    CHECK(ops(inner) == std::vector<std::string>{"Identity", "Identity", "Identity"});
    REQUIRE(inner.outputs.size() == 3);
    CHECK(inner.outputs[0] != inner.outputs[1]);
    CHECK(inner.outputs[1] != inner.outputs[2]);
}

TEST_CASE("a graph in a body, a body in a body, a body in a graph in a body") {
    fixture f;
    both const g(f.data, 13);
    value const x = f.input("x", dtype::float32, {3});
    value const c = f.input("c", dtype::bool_, aton::shape(std::vector<dim>()));
    value const y = g.op<"test.inner::Chosen">(c, x);
    CHECK(y.dtype() == dtype::float32);
    (void)g.op<"test.outer::Twice">(x);
    (void)g.op<"test.outer::Branch">(c, x);
    (void)g.op<"test.inner::Scaled">(x, x, attr_f<"alpha">(2.0)); // as Twice calls it
    CHECK(f.functions() == std::vector<std::string>{"test.inner::Chosen:",
                                                    "test.inner::Scaled:",
                                                    "test.inner::Scaled__2:",
                                                    "test.outer::Twice:",
                                                    "test.outer::Branch:"});
    CHECK(f.data.nodes.back().op == "Scaled__2");
    CHECK(ops(f.data.functions[3].body[0]) == std::vector<std::string>{"Scaled", "Scaled__2"});
    CHECK(f.data.functions[3].body[0].functions.empty());
    CHECK(f.data.functions[3].body[0].opset_imports.size() == 1);
    auto const& branch = f.data.functions[4].body[0].nodes[0];
    REQUIRE(branch.attributes.size() == 2);
    CHECK(branch.attributes[0].graphs[0].nodes[0].op == "Scaled");
    CHECK(branch.attributes[0].graphs[0].functions.empty());
    // From a branch of the outermost graph.
    (void)g.op<"If">(c,
                     attr::then_branch_g([&](both b) { return b.op<"test.inner::Scaled">(x, attr_i<"n">(3)); }),
                     attr::else_branch_g([&](graph<13>) { return x; }));
    CHECK(f.functions().back() == "test.inner::Scaled__3:");
}

TEST_CASE("a body that refuses leaves the existing functions unchanged") {
    fixture f;
    both const g(f.data, 13);
    value const x = f.input("x", dtype::float32, {3});
    (void)g.op<"test.inner::Scaled">(x);
    CHECK_THROWS_WITH_AS((void)g.op<"test.outer::Refused">(x, attr_i<"n">(1)), "n of 1", unsupported_error);
    CHECK(f.functions() == std::vector<std::string>{"test.inner::Scaled:"});
    (void)g.op<"test.outer::Refused">(x, attr_i<"n">(2));
    CHECK(f.functions().size() == 2);
}

namespace {

namespace negative {
inline constexpr auto foo = [](graph<13> g, value x) { return g.op<"Neg">(x); };
inline constexpr auto custom = domain<"twice", 1, op<"Foo(T X) -> (T Y)", "", body<foo>>>{};
} // namespace negative
namespace positive {
inline constexpr auto foo = [](graph<13> g, value x) { return g.op<"Abs">(x); };
inline constexpr auto custom = domain<"twice", 1, op<"Foo(T X) -> (T Y)", "", body<foo>>>{};
} // namespace positive

} // namespace

TEST_CASE("domains that differ only in their bodies are different") {
    graph_data data;
    value const x(data, data.add_input("x", {dtype::float32, {2, 3}}));
    (void)graph<13, negative::custom>(data, 18).op<"twice::Foo">(x);
    (void)graph<13, positive::custom>(data, 18).op<"twice::Foo">(x);
    REQUIRE(data.functions.size() == 2);
    CHECK(data.functions[0].body[0].nodes[0].op == "Neg");
    CHECK(data.functions[1].body[0].nodes[0].op == "Abs");
}

namespace {

inline constexpr auto maybe = [](graph<13> g, value x, std::int64_t n) {
    return std::tuple<value, optional_value, value>(
        g.op<"Neg">(x), n > 0 ? optional_value(g.op<"Abs">(x)) : optional_value(absent), g.op<"Exp">(x));
};
inline constexpr auto never = [](graph<13> g, value x) { return std::tuple(g.op<"Neg">(x), absent); };
inline constexpr auto forgotten = [](graph<13> g, value x) { return std::vector<value>{value(), g.op<"Neg">(x)}; };
inline constexpr auto wider = [](graph<13> g, value x) -> value {
    return g.op<"Concat">(std::vector<value>{x, x}, attr::axis_i(0));
};
inline constexpr auto flat = [](graph<13> g, value x, value) -> value { return g.op<"Reshape">(x, g.ints({-1})); };
inline aton::value_type as_input(inference const& in) { return in.input(0); }
inline constexpr auto results_domain =
    domain<"test.results", 1, op<"Maybe(T X, int n) -> (T Y, T? Z, T? W)", "T: float", body<maybe>>,
           op<"Never(T X) -> (T Y, T? Z)", "", body<never>>, op<"Forgotten(T X) -> (T Y, T? Z)", "", body<forgotten>>,
           op<"Wider(T X) -> (T Y = like(X))", "T: float", body<wider>>,
           op<"Told(T X) -> (T Y)", "T: float", infer<as_input>, body<wider>>,
           op<"Flat(T X, T B) -> (T Y = broadcast(X, B))", "", body<flat>>>{};
using of_results = graph<13, results_domain>;

} // namespace

TEST_CASE("a body returns an optional value for an optional output") {
    fixture f;
    of_results const g(f.data, 17);
    value const x = f.input("x", dtype::float32, {2, 3});
    (void)g.op<"test.results::Maybe">(x, attr_i<"n">(1));
    CHECK(f.data.functions[0].body[0].outputs.size() == 3);
    auto const [y, z, w] = g.op<"test.results::Maybe">(x, attr_i<"n">(1), outputs<3>);
    CHECK(f.data.functions.size() == 1); // whatever the call asks for
    CHECK(w.shape() == aton::shape{2, 3});
    (void)g.op<"test.results::Maybe">(x, attr_i<"n">(0));
    REQUIRE(f.data.functions.size() == 2);
    CHECK(f.data.functions[1].body[0].outputs.size() == 1); // the outputs before the first that is absent
    auto const asks = [&] { (void)g.op<"test.results::Maybe">(x, attr_i<"n">(0), outputs<3>); };
    CHECK_THROWS_WITH_AS(asks(),
                         "test.results::Maybe: output 'Z' is used by the call, but its body returns nothing for it",
                         unsupported_error);
    CHECK(f.data.functions.size() == 2);
    (void)g.op<"test.results::Never">(x);
    CHECK(f.data.functions[2].body[0].outputs.size() == 1);
    CHECK_THROWS_WITH_AS(
        (void)g.op<"test.results::Forgotten">(x),
        "test.results::Forgotten: output 'Y' is absent in the body, but not optional in the declaration",
        aton::illegal_call);
}

TEST_CASE("a body whose results do not have the declared shapes is refused") {
    fixture f;
    of_results const g(f.data, 17);
    CHECK_THROWS_WITH_AS((void)g.op<"test.results::Wider">(f.input("x", dtype::float32, {2, 3})),
                         "test.results::Wider: output 'Y' is [4, 3] according to its body, but [2, 3] according to its "
                         "declaration, like(X)",
                         aton::illegal_call);
    CHECK_THROWS_WITH_AS(
        (void)g.op<"test.results::Told">(f.input("x", dtype::float32, {2, "b"})),
        "test.results::Told: output 'Y' is [4, b] according to its body, but [2, b] according to its infer<...> rule",
        aton::illegal_call);
    CHECK_THROWS_WITH_AS(
        (void)g.op<"test.results::Flat">(f.input("x", dtype::float32, {2, 3}), f.input("b", dtype::float32, {3})),
        "test.results::Flat: output 'Y' is [6] according to its body, but [2, 3] according to its "
        "declaration, broadcast(X, B)",
        aton::illegal_call);
    CHECK(f.data.functions.empty());
    // What is not known may be right.
    CHECK_NOTHROW((void)g.op<"test.results::Wider">(f.input("x", dtype::float32, {"a", 3})));
    CHECK_NOTHROW((void)g.op<"test.results::Wider">(f.input("x", dtype::float32, aton::shape())));
    CHECK_NOTHROW(
        (void)g.op<"test.results::Flat">(f.input("x", dtype::float32, {6}), f.input("b", dtype::float32, {6})));
}

} // namespace operator_body_test
