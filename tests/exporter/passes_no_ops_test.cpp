// SPDX-License-Identifier: MIT
// Operands that change nothing: x + 0 where no result depends on the sign of a zero, limits of infinity, views beside a cast, and 0-d
// tensors of one element that broadcast anyway.
#include "passes_fixture.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string_view>

using namespace passes_tests;

namespace {

/// The operators left of f(x + 0, y).
template <class Make>
std::string left(Make f) {
    optimized<18> o;
    value const x = o.input("x", {2, 3});
    value const y = o.input("y", {2, 3});
    return o(f(o, o.g.op<"Add">(o.constant(dtype::float32, {}, {0}), x), y));
}

} // namespace

TEST_CASE("a sum that starts with 0 loses the 0 before operators that ignore the sign of zero") {
    CHECK(left([](auto& o, value x, value y) { return o.g.template op<"Exp">(o.g.template op<"Add">(x, y)); }) ==
          "Add Exp");
    CHECK(left([](auto& o, value x, value y) {
              return o.g.template op<"ReduceSum">(o.g.template op<"Relu">(o.g.template op<"Mul">(x, y)));
          }) == "Mul Relu ReduceSum");
    CHECK(left([](auto& o, value x, value y) {
              return o.g.template op<"Div">(y, o.g.template op<"Add">(x, o.constant(dtype::float32, {}, {1e-5})));
          }) == "Add Div");
}

TEST_CASE("x + 0 stays before divisions by it, unknown operators and outputs") {
    CHECK(left([](auto&, value x, value) { return x; }) == "Add");
    CHECK(left([](auto& o, value x, value y) { return o.g.template op<"Div">(y, x); }) == "Add Div");
    CHECK(left([](auto& o, value x, value) {
              return o.g.template op<"Reciprocal">(o.g.template op<"Transpose">(x));
          }) == "Add Transpose Reciprocal");
    CHECK(left([](auto& o, value x, value y) { return o.g.template op<"Pow">(x, y); }) == "Add Pow");
}

TEST_CASE("an exponent loses the sign of a zero: x to the power -0 is 1") {
    CHECK(left([](auto& o, value x, value y) { return o.g.template op<"Pow">(y, x); }) == "Pow");
}

TEST_CASE("x + -0 is x everywhere") {
    optimized<18> o;
    value const x = o.input("x", {2, 3});
    value const same = o.g.op<"Add">(x, o.constant(dtype::float32, {}, {-0.0}));
    CHECK(o(o.g.op<"Reciprocal">(same)) == "Reciprocal");
}

TEST_CASE("a maximum with -infinity and a minimum with infinity are the other operand") {
    optimized<18> o;
    value const x = o.input("x", {2, 3});
    auto const with = [&](char const* op, double bound) {
        std::vector<value> const both{x, o.constant(dtype::float32, {}, {bound})};
        return std::string_view(op) == "Max" ? o.g.op<"Max">(both) : o.g.op<"Min">(both);
    };
    CHECK(o({o.g.op<"Neg">(with("Max", -infinity)), o.g.op<"Abs">(with("Min", infinity))}) == "Neg Abs");
    optimized<18> p;
    value const y = p.input("y", {2, 3});
    std::vector<value> const all{y, p.constant(dtype::float32, {}, {infinity})};
    CHECK(p(p.g.op<"Max">(all)) == "Max");
}

TEST_CASE("views before and after a cast become one view after it") {
    optimized<18> o;
    value const x = o.input("x", {5, 4});
    value const cast = o.g.op<"Cast">(o.g.op<"Unsqueeze">(x, o.g.ints({-1})), attr::to_i(dtype::float64));
    CHECK(o(o.g.op<"Reshape">(cast, o.g.ints({2, 10}))) == "Cast Reshape");
    CHECK(o.data.values[o.data.nodes[0].outputs[0]].type.shape == aton::shape{5, 4});

    optimized<18> p; // the cast has another use
    value const y = p.input("y", {5, 4});
    value const wide = p.g.op<"Cast">(p.g.op<"Unsqueeze">(y, p.g.ints({-1})), attr::to_i(dtype::float64));
    CHECK(p({p.g.op<"Reshape">(wide, p.g.ints({2, 10})), p.g.op<"Exp">(wide)}) == "Unsqueeze Cast Reshape Exp");
}

namespace {

/// The operators of f(x, n), where n is the first dimension of x as a 0-d integer.
template <class Make>
std::string with_size(Make f) {
    optimized<18> o;
    value const x = o.input("x", {dim("batch"), 3});
    value const size = o.g.op<"Shape">(x, attr::start_i(0), attr::end_i(1));
    return o(f(o, x, o.g.op<"Squeeze">(size)));
}
constexpr auto to_floats = [](auto& o, value n) -> value {
    return o.g.template op<"Cast">(n, attr::to_i(dtype::float32));
};

} // namespace

TEST_CASE("a size does not become 0-d before an operator that broadcasts it") {
    CHECK(with_size([](auto& o, value x, value n) { return o.g.template op<"Div">(x, to_floats(o, n)); }) ==
          "Shape Cast Div");
    CHECK(with_size([](auto& o, value x, value n) {
              value const root = o.g.template op<"Sqrt">(o.g.template op<"Mul">(to_floats(o, n), 0.5));
              return o.g.template op<"Where">(o.g.template op<"Greater">(x, root), x, root);
          }) == "Shape Cast Mul Sqrt Greater Where");
    CHECK(with_size([](auto& o, value x, value n) {
              return o.g.template op<"Less">(o.g.template op<"Cast">(x, attr::to_i(dtype::int64)), n);
          }) == "Shape Cast Less");
}

TEST_CASE("a size that is an output, or the operand of another 0-d tensor, stays 0-d") {
    CHECK(with_size([](auto& o, value, value n) { return to_floats(o, n); }) == "Shape Cast Squeeze");
    CHECK(with_size([](auto& o, value, value n) {
              value const other = o.input("other", aton::shape(sizes{}));
              return o.g.template op<"Mul">(to_floats(o, n), other);
          }) == "Shape Cast Mul Squeeze");
    CHECK(with_size([](auto& o, value, value n) {
              return o.g.template op<"Range">(o.g.scalar(0, dtype::int64), n, o.g.scalar(1, dtype::int64));
          }) == "Shape Squeeze Range");
}
