// SPDX-License-Identifier: MIT
// Positions: what comparisons of ranges, their views and sums give, which selections are views, and which masks Attention needs not.
#include "passes_fixture.hpp"

#include <limits>

#include <doctest/doctest.h>

using namespace passes_tests;

namespace {

/// A graph with a float input "x" of sizes [batch, length, width].
template <int Since = 14>
struct with_positions : optimized<Since> {
    explicit with_positions(int opset = 20)
        : optimized<Since>(opset),
          x(this->input("x", {std::string("batch"), std::string("length"), std::string("width")})) {}

    value x;

    value size(std::int64_t axis) {
        return this->g.template op<"Gather">(this->g.template op<"Shape">(x), this->g.scalar(axis, dtype::int64));
    }
    value number(std::int64_t n) { return this->g.scalar(n, dtype::int64); }
    /// start, start + 1, ..., start + size of an axis - 1.
    value count(std::int64_t axis, std::int64_t start = 0) {
        value const end = start == 0 ? size(axis) : value(this->g.template op<"Add">(size(axis), number(start)));
        return this->g.template op<"Range">(number(start), end, number(1));
    }
    value column(value v) { return this->g.template op<"Unsqueeze">(v, this->g.ints({1})); }
    value from(value v, std::int64_t start, std::int64_t end = INT64_MAX) {
        return this->g.template op<"Slice">(v, this->g.ints({start}), this->g.ints({end}), this->g.ints({0}));
    }
    /// 1 where a condition is true, as a graph output would show it.
    std::string shown(value condition) {
        return (*this)(this->g.template op<"Where">(condition, x, this->g.scalar(-7.0, dtype::float32)));
    }
};

} // namespace

TEST_CASE("a comparison of positions that is decided by the sizes disappears") {
    with_positions<>
        o; // the positions after a first one that continues them to the left, as models number packed sequences
    value const r = o.count(2);
    value const all = o.g.op<"Concat">(o.g.ints({-1}), r, attr::axis_i(0));
    value const step = o.g.op<"Sub">(o.from(all, 1), o.from(all, 0, -1));
    CHECK(o(o.g.op<"Where">(o.g.op<"Equal">(step, o.number(1)), o.x, o.g.scalar(2.0, dtype::float32))) == "");
    CHECK(o.data.outputs[0] == o.x.id());

    with_positions<> p; // 0 <= i < size
    value const i = p.count(2);
    value const inside = p.g.op<"And">(p.g.op<"GreaterOrEqual">(i, p.number(0)), p.g.op<"Less">(i, p.size(2)));
    CHECK(p.shown(inside) == "");

    with_positions<> q; // sums of equal numbers count, and differ from what they do not reach
    value const ones = q.g.op<"Expand">(q.number(1), q.g.op<"Unsqueeze">(q.size(2), q.g.ints({0})));
    value const sum = q.g.op<"CumSum">(q.typed(ones, {std::string("width")}), q.number(0), attr::exclusive_i(1));
    CHECK(q.shown(q.g.op<"Equal">(sum, q.count(2))) == "");
}

TEST_CASE("a comparison of positions that is not decided stays") {
    auto const stays = [](auto const& condition) {
        with_positions<> o;
        return o.shown(condition(o)).find("Where") != std::string::npos;
    };
    CHECK(stays([](auto& o) { return o.g.template op<"Less">(o.count(2), o.number(3)); }));
    CHECK(stays([](auto& o) { return o.g.template op<"Less">(o.count(2, 1), o.size(2)); })); // the last one is not
    CHECK(stays([](auto& o) { return o.g.template op<"Equal">(o.count(2), o.column(o.count(1))); })); // on a diagonal
    CHECK(stays([](auto& o) { return o.g.template op<"Less">(o.count(2), o.size(1)); }));             // other sizes
    CHECK(stays([](auto& o) {                                                                         // 5, 0, 1, ...
        value const all = o.g.template op<"Concat">(o.g.ints({5}), o.count(2), attr::axis_i(0));
        value const step = o.g.template op<"Sub">(o.from(all, 1), o.from(all, 0, -1));
        return o.g.template op<"Equal">(step, o.number(1));
    }));
    CHECK(stays([](auto& o) { // 0, 1, ..., 0, 1, ...: the second range starts at a position that is not known
        value const twice = o.g.template op<"Concat">(o.count(2), o.count(2), attr::axis_i(0));
        return o.g.template op<"Less">(o.from(twice, 0, 1), o.size(1));
    }));
    CHECK(stays([](auto& o) { // an axis that may have size 1, expanded: its positions are then all 0
        value const wide =
            o.g.template op<"Expand">(o.count(1), o.g.template op<"Unsqueeze">(o.size(2), o.g.ints({0})));
        return o.g.template op<"Equal">(o.typed(wide, {std::string("width")}), o.count(2));
    }));
}

TEST_CASE("sizes that are sums are compared as sums") {
    with_positions<> o; // keys of a cache and of one more position: position <= length of the cache
    value const cache = o.input("cache", {std::string("past"), 3});
    value const past = o.g.op<"Gather">(o.g.op<"Shape">(cache), o.number(0));
    value const keys =
        o.typed(o.g.op<"Range">(o.number(0), o.g.op<"Add">(past, o.number(1)), o.number(1)), {std::string("past + 1")});
    value const scores = o.input("scores", {std::string("batch"), std::string("past + 1")});
    value const mask = o.g.op<"LessOrEqual">(keys, past);
    CHECK(o(o.g.op<"Where">(mask, scores, o.g.scalar(-infinity, dtype::float32))) == "");

    with_positions<> p; // as long as one tensor, and up to the size of another
    value const other = p.input("scores", {std::string("batch"), std::string("2*past + 3")});
    value const count =
        p.g.op<"Range">(p.number(0), p.g.op<"Gather">(p.g.op<"Shape">(other), p.number(1)), p.number(1));
    value const shorter = p.input("shorter", {std::string("2*past + 2")});
    value const limit = p.g.op<"Gather">(p.g.op<"Shape">(shorter), p.number(0));
    CHECK(p(p.g.op<"Where">(p.g.op<"LessOrEqual">(count, limit), other, p.g.scalar(-infinity, dtype::float32))) == "");
}

TEST_CASE("elements selected at all positions are a view") {
    with_positions<> o; // as index([rows, columns]) of a mask: both expanded and joined
    value const mask = o.input("mask", {std::string("batch"), std::string("width")}, dtype::bool_);
    value const shape = o.g.op<"Concat">(o.g.op<"Unsqueeze">(o.size(0), o.g.ints({0})),
                                         o.g.ints({1, 1}),
                                         o.g.op<"Unsqueeze">(o.size(2), o.g.ints({0})),
                                         attr::axis_i(0));
    aton::shape const wide{std::string("batch"), 1, 1, std::string("width")};
    auto const part = [&](value v, std::vector<std::int64_t> const& axes) {
        value const expanded = o.typed(o.g.op<"Expand">(o.g.op<"Unsqueeze">(v, o.g.ints(axes)), shape), wide);
        return value(o.g.op<"Unsqueeze">(expanded, o.g.ints({4})));
    };
    value const indices = o.g.op<"Concat">(part(o.count(0), {1, 2, 3}), part(o.count(2), {0, 1, 2}), attr::axis_i(4));
    CHECK(o(o.typed(o.g.op<"GatherND">(mask, indices), wide)) == "Reshape");

    with_positions<> p; // transposed
    value const m = p.input("m", {std::string("width"), std::string("batch")});
    value const row = p.g.op<"Unsqueeze">(p.count(2), p.g.ints({0}));
    aton::shape const turned{std::string("batch"), std::string("width")};
    value const both = p.g.op<"Concat">(
        std::vector<value>{
            p.g.op<"Unsqueeze">(
                p.typed(p.g.op<"Expand">(row, p.g.op<"Shape">(p.typed(p.g.op<"Transpose">(m), turned))), turned),
                p.g.ints({2})),
            p.g.op<"Unsqueeze">(p.typed(p.g.op<"Expand">(p.column(p.count(0)),
                                                         p.g.op<"Shape">(p.typed(p.g.op<"Transpose">(m), turned))),
                                        turned),
                                p.g.ints({2}))},
        attr::axis_i(2));
    CHECK(p(p.typed(p.g.op<"GatherND">(m, both), turned)) == "Transpose");

    with_positions<> q; // all rows, in order
    CHECK(q(q.g.op<"Relu">(q.g.op<"Gather">(q.x, q.count(1), attr::axis_i(1)))) == "Relu");
    with_positions<> r; // as many as another tensor has
    value const table = r.input("table", {17, 3});
    CHECK(r(r.g.op<"Gather">(table, r.count(1))).find("Gather") != std::string::npos);
    with_positions<> s; // from the end: -1, 0, 1, ...
    value const back = s.g.op<"Sub">(s.count(1), s.number(1));
    CHECK(s(s.g.op<"Gather">(s.count(1), back)).find("Gather") != std::string::npos);
    with_positions<> t; // positions of positions are positions
    CHECK(t(t.g.op<"Gather">(t.count(1), t.column(t.count(1)))) == "Shape Squeeze Range Reshape");
}

TEST_CASE("an expanded mask is computed before it is expanded") {
    with_positions<> o;
    value const mask = o.input("mask", {1, std::string("width")}, dtype::bool_);
    value const wide = o.typed(o.g.op<"Expand">(mask, o.g.op<"Shape">(o.x)),
                               {std::string("batch"), std::string("length"), std::string("width")});
    CHECK(o(o.g.op<"Where">(o.g.op<"Not">(wide), o.x, o.g.scalar(0.0, dtype::float32))) == "Where");
    with_positions<> p; // a graph output keeps its sizes
    value const m = p.input("mask", {1, std::string("width")}, dtype::bool_);
    value const w = p.typed(p.g.op<"Expand">(m, p.g.op<"Shape">(p.x)),
                            {std::string("batch"), std::string("length"), std::string("width")});
    CHECK(p(p.g.op<"Not">(w)) == "Shape Not Expand");
}

TEST_CASE("attention gets its attribute for a causal mask, and no mask that shows all") {
    auto const optimized_mask = [](auto const& make, char const* keys = "length") {
        with_positions<23> o(23);
        value const q = o.input("q", {std::string("batch"), 3, std::string("length"), 8});
        value const k = o.input("k", {std::string("batch"), 3, std::string(keys), 8});
        std::string const ops = o(o.g.template op<"Attention">(q, k, k, make(o)));
        return ops + (o.attribute(o.data.nodes.size() - 1, "is_causal") == 1 ? " causal" : "");
    };
    auto const compared = [](auto& o, char const* op, std::int64_t key_axis, std::int64_t shift) {
        value const keys = o.count(key_axis);
        value const queries = o.column(o.g.template op<"Add">(o.count(1), o.number(shift)));
        return op[4] == 'O' ? value(o.g.template op<"LessOrEqual">(keys, queries))
                            : value(o.g.template op<"Less">(keys, queries));
    };
    CHECK(optimized_mask([&](auto& o) { return compared(o, "LessOrEqual", 1, 0); }) == "Attention causal");
    CHECK(optimized_mask([&](auto& o) { return compared(o, "Less", 1, 1); }) == "Attention causal");
    CHECK(optimized_mask([&](auto& o) {
              return value(o.g.template op<"Not">(o.g.template op<"Greater">(o.count(1), o.column(o.count(1)))));
          }) == "Attention causal");
    // One position more or less, the other triangle, and keys that are not the queries.
    CHECK(optimized_mask([&](auto& o) { return compared(o, "Less", 1, 0); }).find("Less Attention") !=
          std::string::npos);
    CHECK(optimized_mask([&](auto& o) { return compared(o, "LessOrEqual", 1, 1); }).find("LessOrEqual Attention") !=
          std::string::npos);
    CHECK(optimized_mask([&](auto& o) {
              return value(o.g.template op<"GreaterOrEqual">(o.count(1), o.column(o.count(1))));
          }).find("GreaterOrEqual Attention") != std::string::npos);
    CHECK(optimized_mask([&](auto& o) { return compared(o, "LessOrEqual", 2, 0); }, "width")
              .find("LessOrEqual Attention") != std::string::npos);
    CHECK(optimized_mask([&](auto& o) {
              return value(
                  o.g.template op<"LessOrEqual">(o.column(o.count(1)), o.g.template op<"Add">(o.size(1), o.count(1))));
          }) == "Attention");
    // An expanded mask.
    CHECK(optimized_mask([&](auto& o) {
              value const m = o.input("mask", {1, 1, std::string("length"), std::string("length")}, dtype::bool_);
              aton::shape const wide{std::string("batch"), 3, std::string("length"), std::string("length")};
              value const to = o.g.template op<"Concat">(
                  o.g.template op<"Unsqueeze">(o.size(0), o.g.ints({0})), o.g.ints({3, 1, 1}), attr::axis_i(0));
              return o.typed(o.g.template op<"Expand">(m, to), wide);
          }) == "Attention");
}

TEST_CASE("a window of keys around each query hides no whole row") {
    for (std::int64_t window : {1, 0}) { // 0: not even the query itself
        optimized<18> o;
        value const x = o.input("x", {std::string("batch"), std::string("length"), std::string("length")});
        value const n = o.g.op<"Gather">(o.g.op<"Shape">(x), o.g.scalar(1, dtype::int64));
        value const k = o.g.op<"Range">(o.g.scalar(0, dtype::int64), n, o.g.scalar(1, dtype::int64));
        value const q = o.g.op<"Unsqueeze">(k, o.g.ints({1}));
        value const first = o.g.op<"Sub">(q, o.g.scalar(window, dtype::int64));
        value const mask = o.g.op<"And">(o.g.op<"LessOrEqual">(k, q), o.g.op<"Greater">(k, first));
        value const scores = o.g.op<"Where">(mask, x, o.g.scalar(-infinity, dtype::float32));
        value const weights = o.g.op<"Softmax">(scores, attr::axis_i(-1));
        value const hidden = o.g.op<"Equal">(scores, o.g.scalar(-infinity, dtype::float32));
        std::string const left = o(o.g.op<"Where">(hidden, o.g.scalar(0.0, dtype::float32), weights));
        CHECK((left.find(" Equal ") == std::string::npos) == (window == 1));
    }
}
