// SPDX-License-Identifier: MIT
// Masks that add the lowest number to whole rows, for which ONNX Runtime's Attention gives zeros.
#include <doctest/doctest.h>

#include <limits>

#include "passes_fixture.hpp"

using namespace passes_tests;

namespace {

constexpr double lowest = std::numeric_limits<float>::lowest();
constexpr double next = -0x1.fffffcp127;
constexpr double hidden = -std::numeric_limits<double>::infinity();

struct attention : optimized<23> {
    attention() : optimized<23>(23) {}
    value q = input("q", {2, 3, 4, 8});
    value number(double n) { return constant(dtype::float32, {}, {n}); }
    std::string with(value mask) { return operator()(g.op<"Attention">(q, q, q, mask)); }
    /// The numbers of a constant input of a node.
    [[nodiscard]] std::vector<double> at(std::size_t node, std::size_t i) const {
        tensor const* const t = data.constant(data.nodes.at(node).inputs.at(i));
        return t == nullptr ? std::vector<double>{} : numbers_of(*t);
    }
};

} // namespace

TEST_CASE("a choice between 0 and the lowest number hides by the next one") {
    attention o;
    value const keep = o.input("keep", {4, 4}, dtype::bool_);
    CHECK(o.with(o.g.op<"Where">(keep, o.number(0), o.number(lowest))) == "Where Attention");
    CHECK(o.at(0, 2) == std::vector<double>{next});
    attention turned;
    value const hide = turned.input("hide", {4, 4}, dtype::bool_);
    CHECK(turned.with(turned.g.op<"Where">(hide, turned.number(lowest), turned.number(0))) == "Where Attention");
    CHECK(turned.at(0, 1) == std::vector<double>{next});
}

TEST_CASE("constants lose the lowest number; other masks do not change") {
    attention o;
    std::vector<double> numbers(16, 0.5);
    numbers[4] = numbers[5] = numbers[6] = numbers[7] = lowest;
    numbers[8] = hidden;
    CHECK(o.with(o.constant(dtype::float32, {4, 4}, numbers)) == "Attention");
    CHECK(o.at(0, 3)[4] == next);
    CHECK(o.at(0, 3)[3] == 0.5);
    CHECK(o.at(0, 3)[8] == hidden);
    attention infinite;
    value const keep = infinite.input("keep", {4, 4}, dtype::bool_);
    CHECK(infinite.with(infinite.g.op<"Where">(keep, infinite.number(0), infinite.number(hidden))) ==
          "Where Attention");
    CHECK(infinite.at(0, 2) == std::vector<double>{hidden});
    attention boolean;
    CHECK(boolean.with(boolean.input("keep", {4, 4}, dtype::bool_)) == "Attention");
}

TEST_CASE("a mask that is computed or given has its lowest numbers replaced, once for all uses") {
    attention o;
    value const mask = o.input("mask", {4, 4});
    value const first = o.g.op<"Attention">(o.q, o.q, o.q, mask);
    CHECK(o(o.g.op<"Attention">(first, o.q, o.q, mask)) == "Equal Where Attention Attention");
    CHECK(o.at(0, 1) == std::vector<double>{lowest});
    CHECK(o.at(1, 1) == std::vector<double>{next});
    CHECK(o.data.nodes[1].inputs[2] == mask.id());
}

TEST_CASE("a causal mask shows a key in every row, so that it stays") {
    attention o;
    value const x = o.input("x", {std::string("length")});
    value const k = o.g.op<"Range">(o.g.scalar(0, dtype::int64), o.g.op<"Size">(x), o.g.scalar(1, dtype::int64));
    value const keep = o.g.op<"LessOrEqual">(k, o.g.op<"Unsqueeze">(k, o.g.ints({1})));
    value const q = o.input("queries", {2, 3, std::string("length"), 8});
    value const mask = o.g.op<"Where">(keep, o.number(0), o.number(lowest));
    CHECK(o(o.g.op<"Attention">(q, q, q, mask)) == "Shape Squeeze Range Unsqueeze LessOrEqual Where Attention");
    CHECK(o.at(5, 2) == std::vector<double>{lowest});
}
