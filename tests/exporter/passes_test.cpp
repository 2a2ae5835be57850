// SPDX-License-Identifier: MIT
// Every rule of the passes: what is removed, and similar nodes that must stay.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>

using namespace passes_tests;

namespace {

aton::shape const batch_3_5{std::string("batch"), 3, 5};

} // namespace

TEST_CASE("Reshape with a computed shape gets a constant one if the result's sizes allow it") {
    optimized<> o;
    value const x = o.input("x", {std::string("batch"), std::string("time"), 3, 5});
    value const y = o.typed(o.g.op<"Reshape">(x, o.g.ints(std::vector<sym_int>{o.g.size(x, 0), o.g.size(x, 1), 15})),
                            {std::string("batch"), std::string("time"), 15});
    CHECK(o(y) == "Reshape");
    CHECK(o.integers(0, 1) == sizes{0, 0, 15});
    check_consistent(o.data);
}

TEST_CASE("parts without elements are not joined") {
    optimized<> o;
    value const x = o.input("x", batch_3_5);
    value const nothing = o.g.op<"Slice">(x, o.g.ints({3}), o.g.ints({INT64_MAX}), o.g.ints({1}));
    CHECK(o(o.g.op<"Relu">(o.g.op<"Concat">(x, nothing, attr::axis_i(-2)))) == "Relu");
    optimized<> p; // one part must stay, and a part that is empty along another axis decides the other sizes
    value const y = p.input("y", {std::string("batch"), 0});
    CHECK(p(p.g.op<"Concat">(y, y, attr::axis_i(1))) == "Concat");
    optimized<> q;
    value const z = q.input("z", {std::string("batch"), 0});
    CHECK(q(q.g.op<"Concat">(z, z, attr::axis_i(0))) == "Concat");
}

TEST_CASE("one size that cannot be copied is -1; two stay computed") {
    optimized<> o;
    value const x = o.input("x", {std::string("batch"), 4, std::string("time")});
    value const flat = o.typed(o.g.op<"Reshape">(x, o.g.ints(std::vector<sym_int>{4, sym_int(o.g.op<"Size">(x))})),
                               {4, std::string("batch*time")});
    CHECK(o(flat) == "Reshape");
    CHECK(o.integers(0, 1) == sizes{4, -1});

    optimized<> p;
    value const a = p.input("a", {4, std::string("time*batch")});
    value const b = p.input("b", {std::string("batch"), std::string("time")});
    value const both = p.typed(
        p.g.op<"Reshape">(a, p.g.ints(std::vector<sym_int>{p.g.size(b, 0), 4, p.g.size(b, 1)}), attr::allowzero_i(1)),
        {std::string("batch"), 4, std::string("time")});
    CHECK(p(both) == "Shape Shape Concat Reshape"); // one Shape per size: 4 is between them
    CHECK(p.attribute(3, "allowzero") == 1);
    check_consistent(p.data);
}

TEST_CASE("a size of 0 is not written as the 0 that copies") {
    optimized<> o;
    value const x = o.input("x", {std::string("batch"), 7, 0});
    value const y =
        o.typed(o.g.op<"Reshape">(x, o.g.ints(std::vector<sym_int>{0, o.g.size(x, 0)}), attr::allowzero_i(1)),
                {0, std::string("batch")});
    CHECK(o(y) == "Shape Concat Reshape");
    CHECK(o.attribute(2, "allowzero") == 1);
}

TEST_CASE("views of views are merged, and removed if the shape is restored") {
    optimized<> o;
    value const x = o.input("x", batch_3_5);
    value const wide = o.g.op<"Unsqueeze">(x, o.g.ints({2}));
    value const y = o.typed(o.g.op<"Reshape">(wide, o.g.ints({-1, 15})), {std::string("batch"), 15});
    value const back = o.typed(o.g.op<"Reshape">(y, o.g.ints({-1, 3, 5})), batch_3_5);
    CHECK(o({y, o.g.op<"Relu">(back)}) == "Reshape Relu");
    CHECK(o.data.nodes[0].inputs[0] == x.id());
    CHECK(o.data.nodes[1].inputs[0] == x.id());

    optimized<> p; // in reverse order the dimensions differ
    value const z = p.input("z", batch_3_5);
    value const t = p.typed(p.g.op<"Reshape">(z, p.g.ints({-1, 5, 3})), {std::string("batch"), 5, 3});
    CHECK(p(t) == "Reshape");
}

TEST_CASE("Expand is removed if it changes nothing or an operator broadcasts") {
    optimized<> o;
    value const x = o.input("x", {std::string("batch"), 1, 5});
    value const y = o.input("y", {4, 5});
    value const same = o.typed(o.g.op<"Expand">(x, o.g.ints({1, 1, 1})), {std::string("batch"), 1, 5});
    value const wide = o.typed(o.g.op<"Expand">(same, o.g.ints({1, 4, 5})), {std::string("batch"), 4, 5});
    value const sum = o.typed(o.g.op<"Add">(wide, y), {std::string("batch"), 4, 5});
    CHECK(o(sum) == "Add");

    optimized<> p; // here Expand determines the size of the result
    value const a = p.input("a", {1, 5});
    value const b = p.input("b", {5});
    value const grown = p.typed(p.g.op<"Expand">(a, p.g.ints({6, 5})), {6, 5});
    CHECK(p(p.typed(p.g.op<"Add">(grown, b), {6, 5})) == "Expand Add");
}

TEST_CASE("Transposes are merged, and removed if they do nothing") {
    optimized<> o;
    value const x = o.input("x", {2, 3, 5, 7});
    value const a = o.g.op<"Transpose">(x, attr::perm_i({0, 2, 1, 3}));
    value const b = o.g.op<"Transpose">(a, attr::perm_i({0, 1, 3, 2}));
    value const c = o.g.op<"Transpose">(b, attr::perm_i({0, 1, 3, 2}));
    value const d = o.g.op<"Transpose">(c, attr::perm_i({0, 2, 1, 3}));
    CHECK(o({b, o.g.op<"Relu">(d)}) == "Transpose Relu");
    CHECK(o.data.nodes[0].attributes.at(0).ints == sizes{0, 2, 3, 1});
    CHECK(o.data.nodes[1].inputs[0] == x.id());

    optimized<> p; // the default reverses: twice is a no-op, once is not
    value const y = p.input("y", {2, 3, 5});
    value const once = p.g.op<"Transpose">(y);
    CHECK(p({once, p.g.op<"Neg">(p.g.op<"Transpose">(once))}) == "Transpose Neg");
}

TEST_CASE("casts that keep every value are removed, others stay") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const n = o.input("n", {3, 5}, dtype::int32);
    value const wide = o.g.op<"Cast">(x, attr::to_i(dtype::float64));
    value const back = o.g.op<"Cast">(wide, attr::to_i(dtype::float32));
    value const longer = o.g.op<"Cast">(o.g.op<"Cast">(n, attr::to_i(dtype::int64)), attr::to_i(dtype::float16));
    CHECK(o({o.g.op<"Relu">(back), longer}) == "Cast Relu");
    CHECK(o.data.nodes[0].inputs[0] == n.id());

    optimized<> p; // rounds; wraps; loses bits; NaN is true
    value const y = p.input("y", {3, 5});
    value const m = p.input("m", {3, 5}, dtype::int64);
    value const half = p.g.op<"Cast">(p.g.op<"Cast">(y, attr::to_i(dtype::float16)), attr::to_i(dtype::float32));
    value const whole = p.g.op<"Cast">(p.g.op<"Cast">(y, attr::to_i(dtype::int64)), attr::to_i(dtype::float32));
    value const narrow = p.g.op<"Cast">(p.g.op<"Cast">(m, attr::to_i(dtype::float32)), attr::to_i(dtype::int64));
    value const truth = p.g.op<"Cast">(p.g.op<"Cast">(y, attr::to_i(dtype::bool_)), attr::to_i(dtype::float32));
    CHECK(p({half, whole, narrow, truth}) == "Cast Cast Cast Cast Cast Cast Cast Cast");
}

TEST_CASE("neutral elements are removed if dtype, shape and the sign of zero stay") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const n = o.input("n", {3, 5}, dtype::int64);
    value const a = o.g.op<"Div">(o.g.op<"Mul">(1, o.g.op<"Sub">(x, 0)), 1);
    value const b = o.g.op<"Add">(n, o.constant(dtype::int64, {1, 5}, {0, 0, 0, 0, 0}));
    CHECK(o({o.g.op<"Neg">(o.g.op<"Pow">(a, o.g.scalar(1, dtype::float32))), o.g.op<"Abs">(b)}) == "Neg Abs");

    optimized<> p;
    value const y = p.input("y", {3, 5});
    value const zero = p.g.op<"Add">(y, 0);                                           // -0.0 becomes 0.0
    value const grows = p.g.op<"Mul">(y, p.constant(dtype::float32, {1, 1, 1}, {1})); // rank 3
    value const minus = p.g.op<"Sub">(y, p.constant(dtype::float32, {}, {-0.0}));
    value const mixed = p.g.op<"Mul">(y, p.constant(dtype::float32, {5}, {1, 1, 1, 1, 2}));
    value const under = p.g.op<"Div">(1, y);
    CHECK(p({zero, grows, minus, mixed, under}) == "Add Mul Sub Mul Div");
}

TEST_CASE("identities, dropout, empty padding, whole slices and single concatenations are removed") {
    optimized<> o;
    value x = o.input("x", batch_3_5);
    value const start = x;
    x = o.g.op<"Identity">(x);
    x = o.g.op<"Dropout">(x, o.g.scalar(0.3, dtype::float32));
    x = o.g.op<"Pad">(x, o.g.ints({0, 0, 0, 0, 0, 0}));
    x = o.typed(o.g.op<"Slice">(x, o.g.ints({0}), o.g.ints({INT64_MAX}), o.g.ints({1})), batch_3_5);
    x = o.typed(o.g.op<"Tile">(x, o.g.ints({1, 1, 1})), batch_3_5);
    x = o.g.op<"Concat">(std::vector<value>{x}, attr::axis_i(1));
    CHECK(o(o.g.op<"Relu">(x)) == "Relu");
    CHECK(o.data.nodes[0].inputs[0] == start.id());

    optimized<> p;
    value const y = p.input("y", {4, 3, 5});
    value const pad = p.g.op<"Pad">(y, p.g.ints({0, 0, 0, 0, 0, 1}));
    value const turned = p.g.op<"Slice">(y, p.g.ints({-1}), p.g.ints({INT64_MIN}), p.g.ints({1}), p.g.ints({-1}));
    value const shifted = p.g.op<"Pad">(y, p.g.ints({0, 0, 1, 0, 0, -1}));
    CHECK(p({pad, turned, shifted}) == "Pad Slice Pad");
}

TEST_CASE("constant conditions are removed, Not inverts comparisons of integers only") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const y = o.input("y", {3, 5});
    value const n = o.input("n", {5}, dtype::int64);
    value const taken = o.g.op<"Where">(o.constant(dtype::bool_, {3, 1}, {0, 0, 0}), x, y);
    value const few = o.g.op<"Not">(o.g.op<"Greater">(n, 3));
    CHECK(o({o.g.op<"Neg">(taken), few}) == "LessOrEqual Neg");
    CHECK(o.data.nodes[1].inputs[0] == y.id());

    optimized<> p;
    value const a = p.input("a", {1, 5});
    value const b = p.input("b", {5});
    value const mixed = p.g.op<"Where">(p.constant(dtype::bool_, {2, 1}, {1, 0}), a, b);
    value const grown =
        p.g.op<"Where">(p.constant(dtype::bool_, {2, 1}, {1, 1}), a, b); // the condition makes it larger
    value const nan = p.g.op<"Not">(p.g.op<"Greater">(a, 0.5F));
    CHECK(p({mixed, grown, nan}) == "Where Where Greater Not");

    optimized<> q; // the branches are swapped instead of a Not
    value const c = q.input("c", {5}, dtype::bool_);
    value const d = q.input("d", {5});
    value const z = q.g.op<"Where">(q.g.op<"Not">(c), d, 2.0F);
    CHECK(q(z) == "Where");
    CHECK(q.data.nodes[0].inputs[0] == c.id());
    CHECK(q.data.nodes[0].inputs[2] == d.id());
}

TEST_CASE("a product with a bias is a Gemm, and absorbs the transposes of its operands") {
    optimized<> o;
    value const x = o.input("x", {std::string("rows"), 3});
    value const w = o.input("w", {4, 3});
    value const b = o.input("b", {4});
    value const y = o.g.op<"Add">(b, o.g.op<"MatMul">(x, o.g.op<"Transpose">(w)));
    CHECK(o(o.typed(y, {std::string("rows"), 4})) == "Gemm");
    CHECK(o.attribute(0, "transB") == 1);
    CHECK(o.attribute(0, "transA") == -1000);
    CHECK(o.data.nodes[0].inputs == std::vector<aton::value_id>{x.id(), w.id(), b.id()});

    optimized<> p; // stacked matrices; integers; a bias that enlarges the result; a product with another use
    value const s = p.input("s", {2, 4, 3});
    value const v = p.input("v", {3, 5});
    value const n = p.input("n", {4, 3}, dtype::int32);
    value const m = p.input("m", {3, 5}, dtype::int32);
    value const a = p.input("a", {4, 3});
    value const bias = p.input("bias", {5});
    value const stack = p.g.op<"Add">(p.g.op<"MatMul">(s, v), bias);
    value const whole = p.g.op<"Add">(p.g.op<"MatMul">(n, m), p.input("i", {5}, dtype::int32));
    value const deep = p.g.op<"Add">(p.g.op<"MatMul">(a, v), p.input("deep", {2, 1, 5}));
    value const shared = p.g.op<"MatMul">(p.g.op<"Neg">(a), v);
    CHECK(p({stack, whole, deep, shared, p.g.op<"Add">(shared, bias)}) ==
          "MatMul Add MatMul Add MatMul Add Neg MatMul Add");
}

TEST_CASE("equal computations are merged, unless they are random") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const a = o.g.op<"Softmax">(x, attr::axis_i(0));
    value const b = o.g.op<"Softmax">(x, attr::axis_i(0));
    value const c = o.g.op<"Softmax">(x, attr::axis_i(1));
    value const r = o.g.op<"RandomNormalLike">(x);
    value const s = o.g.op<"RandomNormalLike">(x);
    o.data.values[b.id()].name = "b";
    CHECK(o({o.g.op<"Add">(a, b), c, o.g.op<"Sub">(r, s)}) ==
          "Softmax Softmax RandomNormalLike RandomNormalLike Add Sub");
    CHECK(o.data.nodes[4].inputs[0] == o.data.nodes[4].inputs[1]);
    CHECK(o.data.values[o.data.nodes[0].outputs[0]].name == "b"); // the only one with a name
}

TEST_CASE("outputs keep their order and types, and may become an input, a constant or one value") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    value const same = o.g.op<"Identity">(x);
    value const two = o.g.op<"Add">(o.g.scalar(1, dtype::int64), o.g.scalar(1, dtype::int64));
    value const a = o.g.op<"Relu">(x);
    value const b = o.g.op<"Relu">(x);
    CHECK(o({same, two, a, b}) == "Relu");
    CHECK(o.data.outputs[0] == x.id());
    CHECK(o.numbers(1) == std::vector<double>{2});
    CHECK(o.data.outputs[2] == o.data.outputs[3]);
    check_consistent(o.data);
}

TEST_CASE("remove_unused removes unused nodes and initializers, and keeps inputs") {
    optimized<> o;
    value const x = o.input("x", {3, 5});
    o.input("unused", {7});
    value const w = o.weight("w", {3, 5});
    o.weight("nothing", {2, 2});
    (void)o.g.op<"Relu">(x);
    o.data.outputs = {value(o.g.op<"Add">(x, w)).id()};
    aton::remove_unused(o.data);
    CHECK(o.data.nodes.size() == 1);
    CHECK(o.data.initializers.size() == 1);
    CHECK(o.data.inputs.size() == 2);
    check_consistent(o.data);
}

TEST_CASE("two thousand nodes are optimized quickly") {
    optimized<> o;
    value x = o.input("x", {std::string("batch"), std::string("time"), 24});
    for (int i = 0; i != 200; ++i) {
        value const y =
            o.typed(o.g.op<"Reshape">(x, o.g.ints(std::vector<sym_int>{o.g.size(x, 0), o.g.size(x, 1), 3, 8})),
                    {std::string("batch"), std::string("time"), 3, 8});
        value const z = o.typed(
            o.g.op<"Reshape">(o.g.op<"Relu">(y), o.g.ints(std::vector<sym_int>{o.g.size(x, 0), o.g.size(x, 1), 24})),
            {std::string("batch"), std::string("time"), 24});
        x = o.g.op<"Add">(x, z);
    }
    CHECK(o.data.nodes.size() > 2000);
    auto const start = std::chrono::steady_clock::now();
    o(x);
    auto const took = std::chrono::steady_clock::now() - start;
    CHECK(o.data.nodes.size() == 800);                        // Reshape, Relu, Reshape, Add
    CHECK(std::chrono::duration<double>(took).count() < 0.5); // a few ms; sanitizers and other work take their share
}
