// SPDX-License-Identifier: MIT
// Rows that decline a call: the row below gets it, in the graph as it was before.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include <aton/aton.hpp>

#include "../faults.hpp"

namespace tables_test {

using namespace aton::dsl;
using aton::tests::refusal_of;

namespace {

inline constexpr auto swish = [](graph<13> g, value x) { return g.op<"Mul">(x, g.op<"Sigmoid">(x)); };
inline constexpr auto custom = domain<"test", 3, op<"Swish(T X) -> (T Y = like(X))", "T: float", body<swish>>>{};

/// Takes calls with alpha=2; declines others after it has left all kinds of traces in the graph.
inline constexpr auto first = table(
    override_<"aten::add.Tensor(self, other, alpha)">([](graph<13, custom> g, value x, value y, double alpha) -> value {
        value const sum = g.op<"Add">(g.op<"test::Swish">(x), g.op<"Mul">(y, alpha));
        value const chosen = g.op<"If">(g.scalar(true, dtype::bool_),
                                        attr::then_branch_g([&](graph<13> b) { return b.op<"Neg">(x); }),
                                        attr::else_branch_g([&](graph<13> b) { return b.op<"Identity">(sum); }));
        if (alpha == 2) return chosen;
        y.set_shape({});
        (void)g.op<"ai.onnx.ml::Normalizer">(x);
        return g.next();
    }),
    override_<"aten::neg(self)">([](graph<13> g, value x) -> value {
        (void)g.op<"Abs">(x);
        return g.next();
    }),
    symbolic<"my::kept(Tensor x) -> Tensor">([](graph<13> g, value) { return g.next(); }));
/// Takes alpha=3; has no row for neg below opset 18.
inline constexpr auto second =
    table(override_<"aten::add.Tensor(self, other, alpha)">([](graph<13> g, value x, value y, double alpha) -> value {
              if (alpha != 3) return g.next();
              return g.op<"Sub">(x, y);
          }),
          override_<"aten::neg(self)">([](graph<18> g, value) -> value { return g.next(); }),
          symbolic<"my::kept(Tensor x, int n=1) -> Tensor">([](graph<13>, value x, std::int64_t) { return x; }));
/// Takes everything, in the plainest way; alpha must be at its default.
inline constexpr auto last = table(
    symbolic<"aten::add.Tensor(self, other)">([](graph<7> g, value x, value y) -> value { return g.op<"Add">(x, y); }),
    symbolic<"aten::neg(self)">([](graph<13> g, value x) { return g.op<"Neg">(x); }));

std::array<table_view, 3> const tables{first, second, last};

struct fixture {
    graph_data data;
    value x{data, data.add_input("x", {dtype::float32, aton::shape{2, 5}})};
    value y{data, data.add_input("y", {dtype::float32, aton::shape{5}})};

    std::string add(argument alpha) {
        auto const r = convert(
            data, tables, "aten::add.Tensor", 20, {argument::of_tensor(x), argument::of_tensor(y), std::move(alpha)});
        data.outputs = {r.at(0).single.id()};
        return to_string(data);
    }
};

} // namespace

TEST_CASE("a row that does not decline converts the call") {
    fixture f;
    CHECK(f.add(argument::of_number(2)).find("test::Swish") != std::string::npos);
    CHECK(f.data.functions.size() == 1);
}

TEST_CASE("where a row declines, the next one converts the call in the graph as it was before") {
    fixture f;
    (void)f.add(argument::of_number(2)); // what was there stays
    std::size_t const values = f.data.values.size();
    std::size_t const nodes = f.data.nodes.size();
    auto const third = f.add(argument::of_number(3));
    CHECK(f.data.nodes.size() == nodes + 1);
    CHECK(f.data.nodes.back().op == "Sub");
    CHECK(f.data.values.size() == values + 1);
    CHECK(f.data.functions.size() == 1);
    CHECK(f.y.shape() == aton::shape{5});

    fixture plain;
    graph_data expected;
    value const x(expected, expected.add_input("x", {dtype::float32, aton::shape{2, 5}}));
    value const y(expected, expected.add_input("y", {dtype::float32, aton::shape{5}}));
    auto const r = convert(expected, table_view(last)[0], 20, {argument::of_tensor(x), argument::of_tensor(y)});
    expected.outputs = {r.at(0).single.id()};
    CHECK(plain.add(argument()) == to_string(expected)); // two rows declined
    CHECK(plain.data.opset_imports.empty());
    CHECK(plain.data.functions.empty());
    CHECK(plain.data.values.size() == expected.values.size());
}

TEST_CASE("each row binds the arguments by itself") {
    fixture f;
    CHECK(refusal_of([&] { return f.add(argument::of_number(4)); }) ==
          "aten::add.Tensor: argument 'alpha' is 4; the mapping supports only the default, 1");
}

TEST_CASE("only rows that cover the opset are below") {
    fixture f;
    (void)convert(f.data, tables, "aten::neg", 17, {argument::of_tensor(f.x)});
    REQUIRE(f.data.nodes.size() == 1);
    CHECK(f.data.nodes[0].op == "Neg");
    (void)convert(f.data, tables, "aten::neg", 18, {argument::of_tensor(f.x)});
    CHECK(f.data.nodes.size() == 2);
    CHECK(find_below(tables, *find(first, "aten::neg", 17), 17) == find(last, "aten::neg", 17));
    CHECK(find_below(tables, *find(first, "aten::neg", 18), 18) == find(second, "aten::neg", 18));
    CHECK(find_below(tables, *find(last, "aten::neg", 18), 18) == nullptr);
}

TEST_CASE("a call that every row declines is refused, and so is one whose next row has another schema") {
    fixture f;
    std::array<table_view, 2> const two{first, second};
    CHECK(refusal_of([&] { return convert(f.data, two, "aten::neg", 20, {argument::of_tensor(f.x)}); }) ==
          "aten::neg (opset 20): the row leaves the call to the row below (g.next()), but there is none");
    entry const& alone = *find(first, "aten::neg", 20);
    CHECK_THROWS_AS((void)convert(f.data, alone, 20, {argument::of_tensor(f.x)}), aton::declined);
    CHECK(refusal_of([&] { return convert(f.data, tables, "my::kept", 20, {argument::of_tensor(f.x)}); }) ==
          "my::kept (opset 20): the row leaves the call to a row with another schema, "
          "my::kept(Tensor x, int n=1) -> Tensor");
    CHECK(refusal_of([&] { return convert(f.data, tables, "aten::abs", 20, {argument::of_tensor(f.x)}); }) ==
          "aten::abs (opset 20): no mapping");
}

TEST_CASE("a call in a nested graph that declines leaves no captured values") {
    fixture f;
    graph<13> const g(f.data, 20);
    std::size_t inner = 99;
    std::size_t outer = 99;
    (void)g.op<"If">(true,
                     attr::then_branch_g([&](graph<13> a) {
                         std::size_t const before = a.data().values.size();
                         (void)a.op<"If">(false,
                                          attr::then_branch_g([&](graph<13> b) {
                                              graph_mark const mark(b.data());
                                              (void)b.op<"Neg">(f.x);
                                              mark.restore();
                                              inner = b.data().values.size() + b.data().nodes.size();
                                              outer = a.data().values.size() - before;
                                              return b.op<"Abs">(f.y);
                                          }),
                                          attr::else_branch_g([&](graph<13> b) { return b.op<"Neg">(f.y); }));
                         return a.op<"Neg">(f.y);
                     }),
                     attr::else_branch_g([&](graph<13> a) { return a.op<"Neg">(f.y); }));
    CHECK(inner == 0);
    CHECK(outer == 0);
}

} // namespace tables_test
