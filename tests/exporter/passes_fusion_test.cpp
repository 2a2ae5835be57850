// SPDX-License-Identifier: MIT
// Passes over several nodes: products of stacked matrices, attention's guard against empty rows, dimensions of 1.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace passes_tests;

namespace {

aton::shape const scores_shape{std::string("batch"), 3, 4, 5};

/// Softmax(scores) that is 0 for rows of -infinity, as in the mapping of attention.
template <class Test>
value guarded(Test& o, value scores) {
    value const weights = o.g.template op<"Softmax">(scores, attr::axis_i(-1));
    value const largest = o.g.template op<"ReduceMax">(scores, o.g.ints({3}), attr::keepdims_i(1));
    value const hidden = o.g.template op<"Equal">(largest, o.g.scalar(-infinity, dtype::float32));
    return o.g.template op<"Where">(hidden, o.g.scalar(0, dtype::float32), weights);
}

/// The same as in torch's decomposition.
template <class Test>
value decomposed(Test& o, value scores) {
    value const weights = o.g.template op<"Softmax">(scores, attr::axis_i(-1));
    value const shown = o.g.template op<"Not">(o.g.template op<"Equal">(scores, o.g.scalar(-infinity, dtype::float32)));
    value const count =
        o.g.template op<"ReduceMax">(o.g.template op<"Cast">(shown, attr::to_i(dtype::int32)), o.g.ints({3}));
    value const any = o.g.template op<"Cast">(count, attr::to_i(dtype::bool_));
    value const zeros = o.typed(o.g.template op<"ConstantOfShape">(o.g.template op<"Shape">(scores)), scores_shape);
    return o.typed(o.g.template op<"Where">(any, weights, zeros), scores_shape);
}

template <class Test>
value masked(Test& o, value x, std::vector<double> const& rows) {
    return o.g.template op<"Where">(
        o.constant(dtype::bool_, {2, 1, 1, 5}, rows), x, o.g.scalar(-infinity, dtype::float32));
}

} // namespace

TEST_CASE("Gemm between Reshapes that flatten and restore leading dimensions is MatMul and Add") {
    for (bool flip : {false, true}) {
        optimized<> o;
        value const x = o.input("x", {std::string("batch"), std::string("time"), 6});
        value const w = o.weight("w", flip ? sizes{7, 6} : sizes{6, 7});
        value const b = o.input("b", {7});
        value const flat = o.typed(o.g.op<"Reshape">(x, o.g.ints({-1, 6})), {std::string("batch*time"), 6});
        value const y =
            o.typed(o.g.op<"Gemm">(flat, w, b, attr::transB_i(flip ? 1 : 0)), {std::string("batch*time"), 7});
        value const z =
            o.typed(o.g.op<"Reshape">(y, o.g.ints({-1, 9, 7})), {std::string("batch"), std::string("time"), 7});
        CHECK(o(z) == "MatMul Add");
        CHECK(o.data.nodes[0].inputs[0] == x.id());
        CHECK(o.stored_input(0, 1)->sizes == sizes{6, 7});
        CHECK(o.stored_input(0, 1)->parts[0].strides == (flip ? sizes{1, 6} : sizes{7, 1}));
    }
    optimized<> p; // scaled; restored to another shape; the weight would need a transpose, which is not allowed
    value const x = p.input("x", {2, 3, 6});
    value const v = p.weight("v", {7, 6});
    value const flat = p.g.op<"Reshape">(x, p.g.ints({6, 6}));
    value const scaled = p.g.op<"Gemm">(flat, p.weight("w", {6, 7}), attr::alpha_f(0.5));
    value const other = p.g.op<"Gemm">(flat, p.weight("u", {6, 4}));
    value const turned = p.g.op<"Gemm">(flat, v, attr::transB_i(1));
    p.data.outputs = {value(p.g.op<"Reshape">(scaled, p.g.ints({2, 3, 7}))).id(),
                      value(p.g.op<"Reshape">(other, p.g.ints({3, 2, 4}))).id(),
                      value(p.g.op<"Reshape">(turned, p.g.ints({2, 3, 7}))).id()};
    CHECK(p.run({false}) == "Reshape Gemm Gemm Gemm Reshape Reshape Reshape");
}

TEST_CASE("products of stacked matrices need no flattening of leading dimensions") {
    optimized<> o;
    value const a = o.input("a", {std::string("batch"), 3, 4, 6});
    value const b = o.input("b", {std::string("batch"), 3, 6, 5});
    value const c = o.input("c", {std::string("3*batch"), 5, 2});
    aton::shape const stack{std::string("3*batch"), 4, 5};
    value const flat_a = o.typed(o.g.op<"Reshape">(a, o.g.ints({-1, 4, 6})), {std::string("3*batch"), 4, 6});
    value const flat_b = o.typed(o.g.op<"Reshape">(b, o.g.ints({-1, 6, 5})), {std::string("3*batch"), 6, 5});
    value const ab = o.typed(o.g.op<"MatMul">(flat_a, flat_b), stack);
    value const wide = o.typed(o.g.op<"Reshape">(ab, o.g.ints({-1, 3, 4, 5})), scores_shape);
    value const soft = o.g.op<"Softmax">(wide, attr::axis_i(-1));
    value const flat = o.typed(o.g.op<"Reshape">(soft, o.g.ints({-1, 4, 5})), stack);
    value const abc = o.typed(o.g.op<"MatMul">(flat, c), {std::string("3*batch"), 4, 2});
    value const z = o.typed(o.g.op<"Reshape">(abc, o.g.ints({-1, 3, 4, 2})), {std::string("batch"), 3, 4, 2});
    CHECK(o(z) == "MatMul Softmax Reshape MatMul");
    CHECK(o.data.nodes[0].inputs == std::vector<aton::value_id>{a.id(), b.id()});
    CHECK(o.integers(2, 1) == sizes{-1, 3, 5, 2});

    optimized<> p; // the flattened dimensions are not the leading ones
    value const x = p.input("x", {2, 3, 4, 6});
    value const y = p.g.op<"MatMul">(p.g.op<"Reshape">(x, p.g.ints({2, 12, 6})), p.input("y", {2, 6, 5}));
    CHECK(p(p.g.op<"Reshape">(y, p.g.ints({2, 3, 4, 5}))) == "Reshape MatMul Reshape");
}

TEST_CASE("a mask that hides no whole row needs no guard") {
    optimized<18> o;
    value const x = o.input("x", scores_shape);
    CHECK(o(guarded(o, masked(o, x, {1, 0, 0, 1, 0, 0, 0, 0, 0, 1}))) == "Where Softmax");
    optimized<18> p; // the second row is hidden
    CHECK(p(guarded(p, masked(p, p.input("x", scores_shape), {1, 0, 0, 1, 0, 0, 0, 0, 0, 0}))) ==
          "Where Softmax ReduceMax Equal Where");
    optimized<18> q; // an input may be -infinity anywhere
    CHECK(q(guarded(q, q.input("x", scores_shape))) == "Softmax ReduceMax Equal Where");
    optimized<18> r; // added instead of chosen
    value const sum =
        r.g.op<"Add">(r.input("x", scores_shape), r.constant(dtype::float32, {5}, {0, -infinity, -1, -infinity, 2}));
    CHECK(r(guarded(r, sum)) == "Add Softmax");
    optimized<18> s; // a product of finite numbers
    value const product =
        s.g.op<"MatMul">(s.input("q", {std::string("batch"), 3, 4, 6}), s.input("k", {std::string("batch"), 3, 6, 5}));
    CHECK(s(decomposed(s, s.typed(product, scores_shape))) == "MatMul Softmax");
}

TEST_CASE("a computed causal mask shows every query the first key") {
    for (bool strict : {false, true}) {
        optimized<18> o;
        value const x = o.input("x", {std::string("batch"), 3, std::string("queries"), std::string("keys")});
        auto const count = [&](std::int64_t i, std::int64_t axis) {
            value const n = o.g.op<"Gather">(o.g.op<"Shape">(x), o.g.scalar(i, dtype::int64), attr::axis_i(0));
            value const r = o.g.op<"Range">(o.g.scalar(strict ? 1 : 0, dtype::int64), n, o.g.scalar(1, dtype::int64));
            return value(o.g.op<"Unsqueeze">(r, o.g.ints({axis})));
        };
        value const keys = count(3, 0);
        value const queries = count(2, 1);
        value const mask = o.g.op<"Not">(o.g.op<"Greater">(keys, queries));
        value const scores = o.g.op<"Where">(mask, x, o.g.scalar(-infinity, dtype::float32));
        std::string const left = o(guarded(o, scores));
        CHECK((left.find("ReduceMax") != std::string::npos) == strict);
        CHECK(left.find("LessOrEqual Where Softmax") != std::string::npos);
    }
}

TEST_CASE("the decomposed guard is shortened") {
    optimized<18> o;
    CHECK(o(decomposed(o, o.input("x", scores_shape))) == "Softmax ReduceMax Equal Where");
    CHECK(o.integers(1, 1) == sizes{3});
    CHECK(o.numbers_of(*o.data.constant(o.data.nodes[3].inputs[1])) == std::vector<double>{0});
}

TEST_CASE("dimensions of 1 that are later removed are not created") {
    optimized<> o;
    value const x = o.input("x", {17, 2, 72});
    value const split = o.g.op<"Reshape">(x, o.g.ints({1, 17, 2, 3, 24}));
    value const turned = o.g.op<"Transpose">(split, attr::perm_i({3, 1, 2, 0, 4}));
    CHECK(o(o.g.op<"Squeeze">(turned, o.g.ints({3}))) == "Reshape Transpose");
    CHECK(o.integers(0, 1) == sizes{17, 2, 3, 24});
    CHECK(o.data.nodes[1].attributes.at(0).ints == sizes{2, 0, 1, 3});

    optimized<> p; // also used with it
    value const y = p.input("y", {5, 6});
    value const wide = p.g.op<"Transpose">(p.g.op<"Reshape">(y, p.g.ints({5, 1, 6})), attr::perm_i({2, 1, 0}));
    CHECK(p({wide, p.g.op<"Squeeze">(wide, p.g.ints({1}))}) == "Reshape Transpose Squeeze");
}

TEST_CASE("a filled tensor next to one of the same shape becomes a number") {
    optimized<> o;
    value const x = o.input("x", {std::string("batch"), 5});
    aton::tensor const seven{dtype::float32, {1}, aton::scalar_tensor(7, dtype::float32).bytes};
    value const full =
        o.typed(o.g.op<"ConstantOfShape">(o.g.op<"Shape">(x), attr::value_t(seven)), {std::string("batch"), 5});
    CHECK(o(o.typed(o.g.op<"Mul">(full, x), {std::string("batch"), 5})) == "Mul");
    CHECK(o.numbers_of(*o.data.constant(o.data.nodes[0].inputs[0])) == std::vector<double>{7});

    optimized<> p; // here it determines the shape of the result
    value const y = p.input("y", {1, 5});
    value const n = p.input("n", {2}, dtype::int64);
    value const grown = p.typed(p.g.op<"ConstantOfShape">(n, attr::value_t(seven)), {std::string("rows"), 5});
    CHECK(p(p.typed(p.g.op<"Mul">(grown, y), {std::string("rows"), 5})) == "ConstantOfShape Mul");
}

TEST_CASE("a transpose before a transposed operand of Gemm cancels it") {
    optimized<> o;
    value const x = o.input("x", {4, 3});
    value const w = o.input("w", {3, 5});
    CHECK(o(o.g.op<"Gemm">(o.g.op<"Transpose">(x), o.g.op<"Transpose">(w), attr::transA_i(1), attr::transB_i(1))) ==
          "Gemm");
    CHECK(o.attribute(0, "transA") == 0);
    CHECK(o.attribute(0, "transB") == 0);
}

TEST_CASE("copied dimensions and an inferred one") {
    optimized<> o;
    value const x = o.input("x", {std::string("a"), std::string("b"), 7, std::string("c")});
    value const to = o.g.ints(
        std::vector<sym_int>{o.g.size(x, 0), o.g.size(x, 1), sym_int(o.g.op<"Mul">(o.g.to_value(o.g.size(x, 3)), 7))});
    CHECK(o(o.typed(o.g.op<"Reshape">(x, to, attr::allowzero_i(1)),
                    {std::string("a"), std::string("b"), std::string("7*c")})) == "Reshape");
    CHECK(o.integers(0, 1) == sizes{0, 0, -1});
    CHECK(o.attribute(0, "allowzero") == -1000);
}

TEST_CASE("gathering from a constant by several indices, and consecutive rows from a weight") {
    optimized<> o;
    value const x = o.constant(dtype::int64, {2, 3}, {1, 2, 3, 4, 5, 6});
    value const at = o.constant(dtype::int64, {2, 2}, {1, -1, 0, 1});
    CHECK(o(o.g.op<"GatherND">(x, at)).empty());
    CHECK(o.numbers() == std::vector<double>{6, 2});

    optimized<> p;
    value const positions = p.weight("positions", {300, 8});
    value const some = p.g.op<"Gather">(positions, p.constant(dtype::int64, {1, 4}, {2, 3, 4, 5}), attr::axis_i(0));
    value const y = p.input("y", {9, 4, 8});
    CHECK(p(p.g.op<"Add">(y, some)) == "Add");
    CHECK(p.stored_input(0, 1)->sizes == sizes{1, 4, 8});
    CHECK(p.stored_input(0, 1)->parts[0].offset == 3 + 2 * 8);

    optimized<> q; // not equidistant
    value const table = q.weight("table", {300, 8});
    value const rows = q.g.op<"Gather">(table, q.constant(dtype::int64, {3}, {2, 3, 5}), attr::axis_i(0));
    CHECK(q(q.g.op<"Add">(q.input("y", {3, 8}), rows)) == "Gather Add");
}
