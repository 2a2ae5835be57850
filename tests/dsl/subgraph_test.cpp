// SPDX-License-Identifier: MIT
// Nested graphs: captures, parameters and results of lambdas, and refusals while the graph is built.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <aton/aton.hpp>

namespace subgraph_test {

using namespace aton::dsl;

namespace {

aton::shape scalar_shape() { return aton::shape(std::vector<dim>()); }

struct fixture {
    graph_data data;
    graph<13> g{data, 17};
    value x = input("x", dtype::float32, {2, 3});
    value c = input("c", dtype::bool_, scalar_shape());

    value input(std::string name, dtype type, aton::shape shape) {
        return {data, data.add_input(std::move(name), {type, std::move(shape)})};
    }
    /// The graph of an attribute of the last node.
    [[nodiscard]] graph_data const& body(std::size_t attribute = 0) const {
        return data.nodes.back().attributes.at(attribute).graphs.at(0);
    }
    template <class Then>
    value branch(Then const& then) {
        return g.op<"If">(c, attr::then_branch_g(then), attr::else_branch_g([this](graph<13>) { return x; }));
    }
};

std::vector<std::string> ops(graph_data const& g) {
    std::vector<std::string> all;
    for (auto const& n : g.nodes) all.push_back(n.op);
    return all;
}

/// The captured values of a graph.
std::vector<aton::value_id> captured(graph_data const& g) {
    std::vector<aton::value_id> all;
    for (auto const& v : g.values)
        if (v.outer != aton::no_value) all.push_back(v.outer);
    return all;
}

using strings = std::vector<std::string>;
using ids = std::vector<aton::value_id>;

template <class Then>
inline constexpr bool legal_branch =
    valid_call<graph<13>, "If", value, decltype(attr::then_branch_g(std::declval<Then>())),
               decltype(attr::else_branch_g([](graph<13>) { return value(); }))>;
inline constexpr auto returns_nothing_else = [](graph<13>) { return std::pair<value, value>(); };
inline constexpr auto returns_any = [](graph<13>) { return std::vector<value>(); };
inline constexpr auto returns_size = [](graph<13>) { return sym_int(3); };
inline constexpr auto takes_any = [](graph<13>, std::span<value const>) { return value(); };
inline constexpr auto takes_one = [](graph<13>, value) { return value(); };
inline constexpr auto of_a_wider_range = [](graph<11>) { return value(); };
inline constexpr auto of_a_narrower_range = [](graph<15>) { return value(); };
static_assert(!legal_branch<decltype(returns_nothing_else)> && legal_branch<decltype(returns_any)> &&
              legal_branch<decltype(returns_size)>);
static_assert(legal_branch<decltype(takes_any)> && !legal_branch<decltype(takes_one)>);
static_assert(legal_branch<decltype(of_a_wider_range)> && !legal_branch<decltype(of_a_narrower_range)>);

} // namespace

TEST_CASE("an outer value is captured once, also a constant") {
    fixture f;
    value const k = f.g.scalar(2, dtype::float32);
    value const y = f.branch([&](graph<13> b) {
        value const first = b.op<"Mul">(f.x, k);
        return b.op<"Add">(first, b.op<"Mul">(k, f.x));
    });
    CHECK(ops(f.body()) == strings{"Mul", "Mul", "Add"});
    CHECK(captured(f.body()) == ids{f.x.id(), k.id()});
    CHECK(ops(f.body(1)) == strings{"Identity"});
    CHECK(y.type() == value_type{dtype::float32, aton::shape{2, 3}});
    CHECK(f.body().around == nullptr);
    CHECK(f.body().opset == 17);
}

TEST_CASE("a captured constant is known inside") {
    fixture f;
    value const sizes = f.g.ints({3, 2});
    value const y = f.branch([&](graph<13> b) -> value {
        value const here = b.op<"Reshape">(f.x, sizes);
        CHECK(sizes.is_constant());
        CHECK(here.shape() == aton::shape{3, 2});
        return b.op<"Transpose">(here);
    });
    CHECK(y.shape() == aton::shape{2, 3});
}

TEST_CASE("captures pass through all graphs in between") {
    fixture f;
    value const outer = f.g.op<"Neg">(f.x);
    (void)f.branch([&](graph<13> b) {
        value const middle = b.op<"Abs">(f.x);
        return b.op<"If">(f.c,
                          attr::then_branch_g([&](graph<13> d) {
                              return d.op<"If">(
                                  f.c,
                                  attr::then_branch_g([&](graph<13> e) { return e.op<"Add">(outer, middle); }),
                                  attr::else_branch_g([&](graph<13>) { return outer; }));
                          }),
                          attr::else_branch_g([&](graph<13> d) { return d.op<"Neg">(middle); }));
    });
    graph_data const& first = f.body();
    CHECK(ops(first) == strings{"Abs", "If"});
    CHECK(captured(first) == ids{f.x.id(), f.c.id(), outer.id()});
    graph_data const& second = first.nodes[1].attributes[0].graphs[0];
    graph_data const& third = second.nodes[0].attributes[0].graphs[0];
    REQUIRE(captured(third).size() == 2);
    for (aton::value_id const id : captured(third)) CHECK(second.values[id].outer != aton::no_value);
    CHECK(ops(third) == strings{"Add"});
    CHECK(third.values[third.outputs[0]].type == value_type{dtype::float32, aton::shape{2, 3}});
}

TEST_CASE("every output of a body is made in it") {
    fixture f;
    auto const all =
        f.g.op<"If">(f.c,
                     outputs<4>,
                     attr::then_branch_g([&](graph<13> b) {
                         value const y = b.op<"Neg">(f.x);
                         return std::tuple<value, value, value, sym_int>(y, y, f.x, 3);
                     }),
                     attr::else_branch_g([&](graph<13> b) {
                         value const sizes = b.op<"Shape">(f.x);
                         return std::vector<value>{f.x, f.x, f.x, b.op<"Gather">(sizes, b.scalar(0, dtype::int64))};
                     }));
    CHECK(ops(f.body()) == strings{"Neg", "Constant", "Identity", "Identity"});
    CHECK(f.body().outputs.size() == 4);
    CHECK(ops(f.body(1)) == strings{"Shape", "Constant", "Gather", "Identity", "Identity", "Identity"});
    CHECK(std::get<3>(all).type() == value_type{dtype::int64, scalar_shape()});
}

TEST_CASE("a loop passes an iteration number, a condition and the carried values to its body") {
    fixture f;
    value const n = f.g.scalar(5, dtype::int64);
    value const carried = f.input("s", dtype::float64, {4});
    auto const [last, rows] =
        f.g.op<"Loop">(n,
                       f.c,
                       carried,
                       outputs<2>,
                       attr::body_g([&](graph<13> b, value i, value keep, value s) -> std::tuple<value, value, value> {
                           CHECK(i.type() == value_type{dtype::int64, scalar_shape()});
                           CHECK(keep.type() == value_type{dtype::bool_, scalar_shape()});
                           CHECK(s.dtype() == dtype::float64);
                           CHECK(!s.has_rank()); // may change between iterations
                           return {keep, s, b.op<"Mul">(f.x, f.x)};
                       }));
    CHECK(last.dtype() == dtype::float64);
    CHECK(rows.dtype() == dtype::float32);
    CHECK(rows.has_rank());
    CHECK(rows.rank() == 3);
    CHECK(f.body().inputs.size() == 3);
    // A body that takes all values as a list.
    std::vector<value> const two{carried, f.x};
    (void)f.g.op<"Loop">(n, absent, two, output_list(2), attr::body_g([](graph<13>, value, std::span<value const> all) {
                             CHECK(all.size() == 3);
                             return std::vector<value>(all.begin(), all.end());
                         }));
    CHECK(f.data.nodes.back().inputs == ids{n.id(), aton::no_value, carried.id(), f.x.id()});
    CHECK(ops(f.body()) == strings{"Identity", "Identity", "Identity"});
}

TEST_CASE("a scan passes states and slices to its body") {
    fixture f;
    value const s = f.input("s", dtype::float32, {7});
    value const ys = f.input("ys", dtype::int64, {5, 4, 2});
    (void)f.g.op<"Scan">(s,
                         f.x,
                         ys,
                         outputs<2>,
                         attr::num_scan_inputs_i(2),
                         attr::scan_input_axes_i({-1, 1}),
                         attr::body_g([](graph<13>, value state, value x, value y) {
                             CHECK(state.shape() == aton::shape{7});
                             CHECK(x.type() == value_type{dtype::float32, aton::shape{2}});
                             CHECK(y.type() == value_type{dtype::int64, aton::shape{5, 2}});
                             return std::pair<value, value>(state, y);
                         }));
    CHECK(f.data.nodes.back().outputs.size() == 2);
}

TEST_CASE("a sequence map passes elements to its body") {
    fixture f;
    graph<17> const g(f.data, 17);
    value const parts = g.sequence({f.x, f.x});
    value const mapped = g.op<"SequenceMap">(parts, f.x, attr::body_g([](graph<17> b, value each, value whole) {
                                                 CHECK(each.type().kind == aton::value_kind::tensor);
                                                 CHECK(each.dtype() == dtype::float32);
                                                 CHECK(whole.shape() == aton::shape{2, 3});
                                                 return b.op<"Add">(each, whole);
                                             }));
    CHECK(mapped.type().kind == aton::value_kind::sequence);
    CHECK(mapped.dtype() == dtype::float32);
}

TEST_CASE("nodes that a body adds to the outer graph come before the node") {
    fixture f;
    value const y = f.branch([&](graph<13> b) { return b.op<"Add">(f.g.op<"Neg">(f.x), f.x); });
    CHECK(ops(f.data) == strings{"Neg", "If"});
    CHECK(ops(f.body()) == strings{"Add"});
    CHECK(f.data.values[y.id()].producer == 1);
}

TEST_CASE("values of a graph that does not enclose the current one are refused in one line") {
    fixture f;
    fixture other;
    CHECK_THROWS_WITH_AS((void)f.g.op<"Neg">(other.x),
                         doctest::Contains("onnx::Neg (opset 17): an operand belongs to a graph that does not enclose"),
                         illegal_call);
    CHECK_THROWS_WITH_AS((void)f.branch([&](graph<13>) { return other.x; }),
                         "a body returns a value of a graph that does not enclose it",
                         aton::error);
    // A branch cannot use values of the other one.
    std::optional<value> inner;
    CHECK_THROWS_AS((void)f.g.op<"If">(f.c,
                                       attr::then_branch_g([&](graph<13> b) {
                                           inner = b.op<"Neg">(f.x);
                                           return f.g.op<"If">(
                                               f.c,
                                               attr::then_branch_g([&](graph<13> d) { return d.op<"Abs">(f.x); }),
                                               attr::else_branch_g([&](graph<13>) { return *inner; }));
                                       }),
                                       attr::else_branch_g([&](graph<13>) { return f.x; })),
                    aton::error);
    CHECK_THROWS_AS((void)f.branch([](graph<13>) { return value(); }), aton::error);
}

TEST_CASE("the numbers of values in lists are checked when the graph is built") {
    fixture f;
    std::vector<value> const carried{f.x, f.x};
    value const n = f.g.scalar(2, dtype::int64);
    CHECK_THROWS_WITH_AS(
        (void)f.g.op<"Loop">(n, f.c, carried, output_list(2), attr::body_g([](graph<13>, value, value keep, value a) {
                                 return std::pair<value, value>(keep, a);
                             })),
        doctest::Contains("a body takes 3 values, but 4 are passed"),
        illegal_call);
    CHECK_THROWS_AS(
        (void)f.g.op<"Loop">(n, f.c, carried, output_list(2), attr::body_g([](graph<13>, std::span<value const> all) {
                                 return std::vector<value>{all[1], all[2]};
                             })),
        illegal_call);
    CHECK_THROWS_AS((void)f.branch([&](graph<13>) { return std::vector<value>{f.x, f.x}; }), illegal_call);
    CHECK_THROWS_AS((void)f.branch([&](graph<13>) { return std::vector<value>{}; }), illegal_call);
}

TEST_CASE("a refused body leaves the graph without the node") {
    fixture f;
    CHECK_THROWS_WITH_AS(
        (void)f.branch([&](graph<13> b) -> value { return b.unsupported("not this"); }), "not this", unsupported_error);
    CHECK(f.data.nodes.empty());
    CHECK(f.branch([&](graph<13> b) { return b.op<"Neg">(f.x); }).dtype() == dtype::float32);
}

} // namespace subgraph_test
