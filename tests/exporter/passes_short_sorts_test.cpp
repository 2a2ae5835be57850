// SPDX-License-Identifier: MIT
// Sorts of which only some elements are used.
#include <doctest/doctest.h>

#include "passes_fixture.hpp"

using namespace passes_tests;

namespace {

struct sorted_rows {
    optimized<> o;
    value values;
    value indices;

    explicit sorted_rows(std::int64_t k = 11) {
        value const x = o.input("x", {3, 11, 5});
        auto const both = o.g.op<"TopK">(x, o.g.ints({k}), attr::axis_i(1), attr::largest_i(0), outputs<2>);
        values = std::get<0>(both);
        indices = std::get<1>(both);
    }
    value slice(value x, std::int64_t start, std::int64_t end, std::int64_t axis = 1, std::int64_t step = 1) {
        return o.g.op<"Slice">(x, o.g.ints({start}), o.g.ints({end}), o.g.ints({axis}), o.g.ints({step}));
    }
    value gather(value x, std::vector<double> const& indices, std::int64_t axis = 1) {
        return o.g.op<"Gather">(
            x, o.constant(dtype::int64, {static_cast<std::int64_t>(indices.size())}, indices), attr::axis_i(axis));
    }
    std::int64_t k() { return o.integers(0, 1).at(0); }
};

} // namespace

TEST_CASE("a sort of which the first elements are read becomes a selection of them") {
    sorted_rows s;
    CHECK(s.o(s.slice(s.values, 0, 4)) == "TopK");
    CHECK(s.k() == 4);
    CHECK(s.o.data.nodes[0].outputs[0] == s.o.data.outputs[0]);
    CHECK(s.o.data.values[s.o.data.outputs[0]].producer == 0);
    CHECK(s.o.data.values[s.o.data.outputs[0]].type.shape == aton::shape{3, 4, 5});
}

TEST_CASE("both results of a sort are as long as the one of which more is read") {
    sorted_rows s;
    CHECK(s.o({s.slice(s.values, 0, 4), s.slice(s.indices, 0, 6, -2)}) == "TopK Slice");
    CHECK(s.k() == 6);
    CHECK(s.o.data.nodes[0].outputs[1] == s.o.data.outputs[1]);
    CHECK(s.o.data.values[s.o.data.nodes[0].outputs[0]].type.shape == aton::shape{3, 6, 5});
}

TEST_CASE("elements in the middle need those before them") {
    sorted_rows middle;
    CHECK(middle.o(middle.gather(middle.indices, {5, 2})) == "TopK Gather");
    CHECK(middle.k() == 6);
    sorted_rows part;
    CHECK(part.o(part.slice(part.values, 1, 8, 1, 3)) == "TopK Slice");
    CHECK(part.k() == 8);
    sorted_rows several;
    CHECK(several.o({several.slice(several.values, 0, 2), several.gather(several.values, {0, 3})}) ==
          "TopK Slice Gather");
    CHECK(several.k() == 4);
}

TEST_CASE("a sort stays if all elements may be read") {
    auto const k_after = [](auto const& use) {
        sorted_rows s;
        for (value const& v : use(s)) s.o.data.outputs.push_back(v.id());
        s.o.run();
        return s.k();
    };
    using values = std::vector<value>;
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, 0, 4), s.indices}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, 0, 4), s.values}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, 0, 4, 2)}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, 0, -4)}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, -4, 11)}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, 9, 2, 1, -1)}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.gather(s.values, {2, -1})}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.gather(s.values, {2, 1}, 2)}; }) == 11);
    CHECK(k_after([](sorted_rows& s) { return values{s.slice(s.values, 0, 4), s.o.g.op<"Neg">(s.values)}; }) == 11);
}

TEST_CASE("a selection that is not larger than what is read stays") {
    sorted_rows s(3);
    CHECK(s.o(s.slice(s.values, 0, 4)) == "TopK");
    CHECK(s.k() == 3);
}

TEST_CASE("a sort along a dynamic axis takes the smaller one of the two numbers") {
    auto const ops = [](int opset) {
        optimized<> o(opset);
        value const x = o.input("x", {3, dim("n")});
        value const k = o.g.op<"Gather">(o.g.op<"Shape">(x), o.g.ints({1}));
        value const y = std::get<0>(o.g.op<"TopK">(x, k, outputs<2>));
        return o(o.g.op<"Slice">(y, o.g.ints({0}), o.g.ints({4}), o.g.ints({1})));
    };
    CHECK(ops(20) == "Shape Min TopK");
}
