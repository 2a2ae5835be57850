// SPDX-License-Identifier: MIT
// Rewrites of tables: what matches a pattern, what similar graphs do not, and what becomes of the nodes around.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <aton/dsl/rewrite.hpp>

using namespace passes_tests;

namespace {

aton::shape const x_3_5{3, 5};

/// Runs the passes with the rewrites of a table.
template <class Table>
std::string rewritten(optimized<>& o, Table const& table, value result) {
    o.data.outputs.push_back(result.id());
    return o.run({.rewrites = table});
}

constexpr auto swish = rewrites(rewrite<"swish">(
    [](pattern<14> p, capture<value> x) { return p.op<"Mul">(x, p.op<"Sigmoid">(x)); },
    [](graph<14> g, value x) { return g.op<"HardSwish">(x); })); // what it becomes is of no importance here

} // namespace

TEST_CASE("a pattern matches commutative operands in either order") {
    for (bool const swapped : {false, true}) {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        value const s = o.g.op<"Sigmoid">(x);
        CHECK(rewritten(o, swish, swapped ? o.g.op<"Mul">(s, x) : o.g.op<"Mul">(x, s)) == "HardSwish");
        CHECK(o.data.nodes[0].inputs == std::vector<aton::value_id>{x.id()});
    }
}

TEST_CASE("a capture that is used twice is one value") {
    optimized<> o;
    value const x = o.input("x", x_3_5);
    value const y = o.input("y", x_3_5);
    CHECK(rewritten(o, swish, o.g.op<"Mul">(x, o.g.op<"Sigmoid">(y))) == "Sigmoid Mul");
}

TEST_CASE("a value inside a match that is used elsewhere keeps its nodes") {
    optimized<> o;
    value const x = o.input("x", x_3_5);
    value const s = o.g.op<"Sigmoid">(x);
    o.data.outputs.push_back(o.g.op<"Neg">(s).id());
    CHECK(rewritten(o, swish, o.g.op<"Mul">(x, s)) == "Sigmoid Neg Mul");
}

TEST_CASE("an output of the graph inside a match keeps its nodes") {
    optimized<> o;
    value const x = o.input("x", x_3_5);
    value const s = o.g.op<"Sigmoid">(x);
    o.data.outputs.push_back(s.id());
    CHECK(rewritten(o, swish, o.g.op<"Mul">(x, s)) == "Sigmoid Mul");
}

TEST_CASE("a shared value may be used elsewhere, and stays") {
    constexpr auto shared = rewrites(
        rewrite<"shared">([](pattern<14> p, capture<value> x) { return p.op<"Mul">(x, p.shared(p.op<"Sigmoid">(x))); },
                          [](graph<14> g, value x) { return g.op<"HardSwish">(x); }));
    optimized<> o;
    value const x = o.input("x", x_3_5);
    value const s = o.g.op<"Sigmoid">(x);
    o.data.outputs.push_back(o.g.op<"Neg">(s).id());
    CHECK(rewritten(o, shared, o.g.op<"Mul">(x, s)) == "Sigmoid Neg HardSwish");
}

namespace {

/// x * sigmoid(x), and sigmoid(x); what they become is of no importance here.
constexpr auto both = rewrites(rewrite<"both">(
    [](pattern<14> p, capture<value> x) {
        auto const s = p.op<"Sigmoid">(x);
        return std::tuple(p.op<"Mul">(x, s), s);
    },
    [](graph<14> g, value x) { return std::tuple{g.op<"Abs">(x), g.op<"Exp">(x)}; }));

} // namespace

TEST_CASE("nodes that follow, and outputs of the graph, use the replacements of all results of a pattern") {
    optimized<> o;
    value const x = o.input("x", x_3_5);
    value const s = o.g.op<"Sigmoid">(x);
    value const y = o.g.op<"Mul">(x, s);
    o.data.outputs = {s.id(), o.g.op<"Neg">(s).id()};
    o.data.values[s.id()].name = "s";
    REQUIRE(rewritten(o, both, y) == "Abs Exp Neg");
    aton::value_id const replaced = o.data.nodes[1].outputs[0];
    CHECK(o.data.outputs[0] == replaced);
    CHECK(o.data.values[replaced].name == "s");
    CHECK(o.data.nodes[2].inputs == std::vector<aton::value_id>{replaced});
    CHECK(o.data.outputs[2] == o.data.nodes[0].outputs[0]);
}

TEST_CASE("a replacement that nothing uses is not kept") {
    optimized<> o;
    value const x = o.input("x", x_3_5);
    CHECK(rewritten(o, both, o.g.op<"Mul">(x, o.g.op<"Sigmoid">(x))) == "Abs");
}

TEST_CASE("a node before the last one that uses a further result keeps the match") {
    optimized<> o;
    value const x = o.input("x", x_3_5);
    value const s = o.g.op<"Sigmoid">(x);
    o.data.outputs.push_back(o.g.op<"Neg">(s).id());
    CHECK(rewritten(o, both, o.g.op<"Mul">(x, s)) == "Sigmoid Neg Mul");
}

TEST_CASE("the results of a pattern may be those of one node") {
    constexpr auto table = rewrites(rewrite<"top">(
        [](pattern<14> p, capture<value> x, capture<std::vector<std::int64_t>> k) {
            auto const [largest, at] = p.op<"TopK">(x, k, outputs<2>);
            return std::tuple(largest, at);
        },
        [](graph<14> g, value x, std::vector<std::int64_t> const&) {
            return std::tuple{g.op<"Abs">(x), g.op<"Shape">(x)};
        }));
    optimized<> o;
    value const x = o.input("x", {dim("n")});
    auto const [largest, at] = o.g.op<"TopK">(x, o.g.ints({1}), outputs<2>);
    o.data.values[largest.id()].type.shape = o.data.values[at.id()].type.shape = aton::shape();
    o.data.outputs.push_back(o.g.op<"Neg">(at).id());
    CHECK(rewritten(o, table, largest) == "Abs Shape Neg");
}

TEST_CASE("attributes of a pattern are given, captured, or at their defaults") {
    constexpr auto table =
        rewrites(rewrite<"captured">(
                     [](pattern<14> p, capture<value> x, capture<std::int64_t> axis) {
                         return p.op<"Exp">(p.op<"Softmax">(x, attr::axis_i(axis)));
                     },
                     [](graph<14> g, value x, std::int64_t axis) { return g.op<"LogSoftmax">(x, attr::axis_i(axis)); }),
                 rewrite<"given">(
                     [](pattern<14> p, capture<value> x) { return p.op<"Exp">(p.op<"Elu">(x, attr::alpha_f(0.5))); },
                     [](graph<14> g, value x) { return g.op<"Abs">(x); }),
                 rewrite<"defaults">([](pattern<14> p, capture<value> x) { return p.op<"Exp">(p.op<"LeakyRelu">(x)); },
                                     [](graph<14> g, value x) { return g.op<"Neg">(x); }),
                 rewrite<"lists">(
                     [](pattern<14> p, capture<value> x, capture<std::vector<std::int64_t>> perm) {
                         return p.op<"Exp">(p.op<"Transpose">(x, attr::perm_i(perm)));
                     },
                     [](graph<14> g, value x, std::vector<std::int64_t> const& perm) {
                         return g.op<"Transpose">(g.op<"Abs">(x), attr::perm_i(perm));
                     }));
    auto const result = [&](auto const& make) {
        optimized<> o;
        return rewritten(o, table, o.g.op<"Exp">(make(o.g, o.input("x", x_3_5))));
    };
    CHECK(result([](auto g, value x) { return g.template op<"Softmax">(x, attr::axis_i(0)); }) == "LogSoftmax");
    CHECK(result([](auto g, value x) { return g.template op<"Softmax">(x); }) == "LogSoftmax"); // the default, -1
    CHECK(result([](auto g, value x) { return g.template op<"Elu">(x, attr::alpha_f(0.5)); }) == "Abs");
    CHECK(result([](auto g, value x) { return g.template op<"Elu">(x); }) == "Elu Exp"); // alpha is 1
    CHECK(result([](auto g, value x) { return g.template op<"LeakyRelu">(x); }) == "Neg");
    CHECK(result([](auto g, value x) { return g.template op<"LeakyRelu">(x, attr::alpha_f(0.01)); }) == "Neg");
    CHECK(result([](auto g, value x) { return g.template op<"LeakyRelu">(x, attr::alpha_f(0.02)); }) ==
          "LeakyRelu Exp");
    CHECK(result([](auto g, value x) { return g.template op<"Transpose">(x, attr::perm_i({1, 0})); }) ==
          "Abs Transpose");
}

TEST_CASE("numbers of a pattern are constants of one element in the dtype of the operand") {
    constexpr auto table =
        rewrites(rewrite<"third">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Mul">(x, 0.1)); },
                                  [](graph<14> g, value x) { return g.op<"Abs">(x); }),
                 rewrite<"captured">(
                     [](pattern<14> p, capture<value> x, capture<double> c) { return p.op<"Neg">(p.op<"Div">(x, c)); },
                     [](value, double c) { return c > 0; },
                     [](graph<14> g, value x, double c) { return g.op<"Elu">(x, attr::alpha_f(c)); }));
    for (dtype const type : {dtype::float32, dtype::float64, dtype::float16}) {
        optimized<> o;
        value const x = o.input("x", x_3_5, type);
        CHECK(rewritten(o, table, o.g.op<"Neg">(o.g.op<"Mul">(o.g.scalar_like(0.1, x), x))) == "Abs");
    }
    auto const divided_by = [&](sizes const& s, std::vector<double> const& c) {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        return rewritten(o, table, o.g.op<"Neg">(o.g.op<"Div">(x, o.constant(dtype::float32, s, c))));
    };
    CHECK(divided_by({}, {2}) == "Elu");
    CHECK(divided_by({1, 1}, {2}) == "Elu");
    CHECK(divided_by({1, 1, 1}, {2}) == "Div Neg"); // it adds a dimension
    CHECK(divided_by({5}, {2, 2, 2, 2, 2}) == "Div Neg");
    CHECK(divided_by({}, {-2}) == "Div Neg"); // the condition does not hold
}

TEST_CASE("alternatives of a pattern, and operands that may be absent") {
    constexpr auto table = rewrites(
        rewrite<"powers">(
            [](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.either(p.op<"Mul">(x, x), p.op<"Pow">(x, 2))); },
            [](graph<14> g, value x) { return g.op<"Abs">(x); }),
        rewrite<"with_cast">(
            [](pattern<14> p, capture<value> x) {
                return p.op<"Exp">(p.either(p.op<"Cast">(x, attr::to_i(dtype_c<dtype::float32>)), x));
            },
            [](value x) { return x.dtype() == dtype::float16; },
            [](graph<14> g, value x) { return g.cast(g.op<"Sqrt">(x), dtype::float32); }),
        rewrite<"upper">(
            [](pattern<14> p, capture<value> x, capture<value> max) { return p.op<"Clip">(x, absent, max); },
            [](graph<14> g, value x, value max) { return g.op<"Min">(x, max); }));
    {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        CHECK(rewritten(o, table, o.g.op<"Neg">(o.g.op<"Pow">(x, o.g.scalar(2, dtype::float32)))) == "Abs");
    }
    {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        CHECK(rewritten(o, table, o.g.op<"Neg">(o.g.op<"Mul">(x, x))) == "Abs");
    }
    {
        optimized<> o;
        value const x = o.input("x", x_3_5, dtype::float16);
        CHECK(rewritten(o, table, o.g.op<"Exp">(o.g.cast(x, dtype::float32))) == "Sqrt Cast");
    }
    {
        optimized<> o;
        value const x = o.input("x", x_3_5, dtype::float16);
        CHECK(rewritten(o, table, o.g.op<"Exp">(x)) == "Exp"); // the replacement would be float32
    }
    {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        value const max = o.input("max", aton::shape(sizes{}));
        CHECK(rewritten(o, table, o.g.op<"Clip">(x, absent, max)) == "Min");
    }
    {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        value const max = o.input("max", aton::shape(sizes{}));
        CHECK(rewritten(o, table, o.g.op<"Clip">(x, max, max)) == "Clip");
    }
}

TEST_CASE("a replacement that refuses leaves the nodes as they are") {
    constexpr auto table =
        rewrites(rewrite<"refuses">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Exp">(x)); },
                                    [](graph<14> g, value x) -> value {
                                        (void)g.op<"Abs">(x);
                                        if (x.dtype() == dtype::float32) return g.unsupported("float32");
                                        return g.next();
                                    }),
                 rewrite<"next">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Exp">(x)); },
                                 [](value x) { return x.dtype() == dtype::float64; },
                                 [](graph<14> g, value x) { return g.op<"Abs">(x); }));
    optimized<> single;
    CHECK(rewritten(single, table, single.g.op<"Neg">(single.g.op<"Exp">(single.input("x", x_3_5)))) == "Exp Neg");
    optimized<> wide;
    CHECK(rewritten(wide, table, wide.g.op<"Neg">(wide.g.op<"Exp">(wide.input("x", x_3_5, dtype::float64)))) == "Abs");
}

TEST_CASE("a replacement of another rank or dtype is not applied") {
    constexpr auto table =
        rewrites(rewrite<"rank">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Exp">(x)); },
                                 [](graph<14> g, value x) { return g.op<"Unsqueeze">(x, g.ints({0})); }),
                 rewrite<"dtype">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Exp">(x)); },
                                  [](graph<14> g, value x) { return g.op<"Cast">(x, attr::to_i(dtype::float64)); }));
    optimized<> o;
    CHECK(rewritten(o, table, o.g.op<"Neg">(o.g.op<"Exp">(o.input("x", x_3_5)))) == "Exp Neg");
}

TEST_CASE("rewrites of a rewritten graph end, also where two undo each other") {
    constexpr auto table =
        rewrites(rewrite<"there">([](pattern<14> p, capture<value> x, capture<value> y) { return p.op<"Sub">(x, y); },
                                  [](graph<14> g, value x, value y) { return g.op<"Add">(x, g.op<"Neg">(y)); }),
                 rewrite<"back">(
                     [](pattern<14> p, capture<value> x, capture<value> y) { return p.op<"Add">(x, p.op<"Neg">(y)); },
                     [](graph<14> g, value x, value y) { return g.op<"Sub">(x, y); }));
    optimized<> o;
    value const x = o.input("x", x_3_5);
    std::string const ops = rewritten(o, table, o.g.op<"Sub">(x, o.input("y", x_3_5)));
    CHECK((ops == "Sub" || ops == "Neg Add"));
}

TEST_CASE("a replacement is one of the captured values, or a constant") {
    constexpr auto table =
        rewrites(rewrite<"identity">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Neg">(x)); },
                                     [](graph<14>, value x) { return x; }),
                 rewrite<"constant">(
                     [](pattern<14> p, capture<value> x) { return p.op<"Sub">(p.op<"Shape">(x), p.op<"Shape">(x)); },
                     [](graph<14> g, value x) {
                         return g.ints(std::vector<std::int64_t>(static_cast<std::size_t>(x.rank())));
                     }));
    optimized<> o;
    value const x = o.input("x", {std::string("n"), 5});
    o.data.outputs.push_back(o.g.op<"Sub">(o.g.op<"Shape">(x), o.g.op<"Shape">(x)).id());
    CHECK(rewritten(o, table, o.g.op<"Neg">(o.g.op<"Neg">(x))).empty());
    CHECK(o.data.outputs[1] == x.id());
    CHECK(o.numbers(0) == std::vector<double>{0, 0});
}

TEST_CASE("of several rewrites that match, the first one of the table is applied, at the opsets that it covers") {
    constexpr auto table =
        rewrites(rewrite<"old">([](pattern<14, 17> p, capture<value> x) { return p.op<"Neg">(p.op<"Exp">(x)); },
                                [](graph<14, 17> g, value x) { return g.op<"Abs">(x); }),
                 rewrite<"new">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(p.op<"Exp">(x)); },
                                [](graph<14> g, value x) { return g.op<"Sin">(x); }),
                 rewrite<"never">([](pattern<14> p, capture<value> x) { return p.op<"Neg">(x); },
                                  [](graph<14> g, value x) { return g.op<"Cos">(x); }));
    for (int const opset : {14, 17, 18, 20}) {
        optimized<> o(opset);
        CHECK(rewritten(o, table, o.g.op<"Neg">(o.g.op<"Exp">(o.input("x", x_3_5)))) == (opset <= 17 ? "Abs" : "Sin"));
    }
}

TEST_CASE("results of nodes with several outputs match by their position") {
    constexpr auto table = rewrites(rewrite<"swapped_halves">(
        [](pattern<14> p, capture<value> x) {
            auto const [first, second] = p.op<"Split">(x, p.ints({2, 3}), attr::axis_i(1), outputs<2>);
            return p.op<"Concat">(second, first, attr::axis_i(1));
        },
        [](graph<14> g, value x) { return g.op<"Abs">(x); }));
    for (bool const swapped : {false, true}) {
        optimized<> o;
        value const x = o.input("x", x_3_5);
        auto const [first, second] = o.g.op<"Split">(x, o.g.ints({2, 3}), attr::axis_i(1), outputs<2>);
        std::vector<value> const parts =
            swapped ? std::vector<value>{second, first} : std::vector<value>{first, second};
        value const joined = o.typed(o.g.op<"Concat">(parts, attr::axis_i(1)), x_3_5);
        CHECK(rewritten(o, table, joined) == (swapped ? "Abs" : "Split Concat"));
    }
}
