// SPDX-License-Identifier: MIT
// Pools of padded images, which ONNX Runtime merges wrongly unless a Reshape is between them, and convolutions, which pad themselves.
#include <doctest/doctest.h>

#include "passes_fixture.hpp"

using namespace passes_tests;

namespace {

value padded(optimized<>& o, double number) {
    value const x = o.input("x", {2, 3, dim("height"), 7});
    return o.g.op<"Pad">(x, o.g.ints({0, 0, 1, 0, 0, 0, 0, 2}), o.constant(dtype::float32, {}, {number}));
}

} // namespace

TEST_CASE("BiT: a MaxPool after a Pad with zeros reads a Reshape, so that ONNX Runtime does not pad it with -inf") {
    optimized<> o;
    CHECK(o(o.g.op<"MaxPool">(padded(o, 0), attr::kernel_shape_i({3, 2}), attr::strides_i({2, 1}))) ==
          "Pad Reshape MaxPool");
    auto const& reshape = o.data.nodes[1];
    CHECK(o.numbers_of(*o.data.constant(reshape.inputs[1])) == std::vector<double>{0, 0, 0, 0});
    CHECK(o.data.values[reshape.outputs[0]].type.shape == o.data.values[reshape.inputs[0]].type.shape);
    CHECK(o.data.values[reshape.outputs[0]].producer == 1);
    CHECK(o.data.values[o.data.outputs[0]].producer == 2);
}

TEST_CASE("an AveragePool after a Pad with zeros reads a Reshape, so that its pads do not reach its kernel") {
    optimized<> o;
    CHECK(o(o.g.op<"AveragePool">(padded(o, 0), attr::kernel_shape_i({3, 2}))) == "Pad Reshape AveragePool");
}

TEST_CASE("a Pad with another number or mode is not separated") {
    optimized<> number;
    CHECK(number(number.g.op<"MaxPool">(padded(number, -1), attr::kernel_shape_i({3, 2}))) == "Pad MaxPool");
    optimized<> reflected;
    value const x = reflected.input("x", {2, 3, 5, 7});
    value const y = reflected.g.op<"Pad">(x, reflected.g.ints({0, 0, 1, 0, 0, 0, 0, 2}), attr::mode_s("reflect"));
    CHECK(reflected(reflected.g.op<"MaxPool">(y, attr::kernel_shape_i({3, 2}))) == "Pad MaxPool");
}

TEST_CASE("a Pad with zeros before a convolution becomes its pads") {
    optimized<> o;
    value const w = o.weight("w", {4, 3, 3, 2});
    CHECK(o(o.g.op<"Conv">(padded(o, 0), w, attr::pads_i({4, 5, 6, 7}))) == "Conv");
    auto const* const pads = o.data.nodes[0].attribute("pads");
    REQUIRE(pads != nullptr);
    CHECK(pads->ints == sizes{5, 5, 6, 9});
    optimized<> none;
    CHECK(none(none.g.op<"Conv">(padded(none, 0), none.weight("w", {4, 3, 3, 2}))) == "Conv");
    REQUIRE(none.data.nodes[0].attribute("pads") != nullptr);
    CHECK(none.data.nodes[0].attribute("pads")->ints == sizes{1, 0, 0, 2});
}

TEST_CASE("a Pad that a convolution cannot do stays") {
    auto const left = [](std::initializer_list<std::int64_t> pads, double number, bool used_twice, char const* mode) {
        optimized<> o;
        value const x = o.input("x", {2, 3, 5, 7});
        value const y = o.g.op<"Pad">(x, o.g.ints(pads), o.constant(dtype::float32, {}, {number}), attr::mode_s(mode));
        value const z = o.g.op<"Conv">(y, o.weight("w", {4, y.shape()[1].size(), 2, 2}));
        return used_twice ? o({y, z}) : o(z);
    };
    CHECK(left({0, 0, 1, 0, 0, 0, 0, 2}, 0, false, "constant") == "Conv");
    CHECK(left({0, 0, 1, 0, 0, 0, 0, 2}, 0.5, false, "constant") == "Pad Conv");
    CHECK(left({0, 0, -1, 0, 0, 0, 0, 2}, 0, false, "constant") == "Pad Conv");
    CHECK(left({0, 1, 1, 0, 0, 0, 0, 2}, 0, false, "constant") == "Pad Conv"); // a channel more
    CHECK(left({0, 0, 1, 0, 1, 0, 0, 2}, 0, false, "constant") == "Pad Conv"); // an image more
    CHECK(left({0, 0, 1, 0, 0, 0, 0, 2}, 0, true, "constant") == "Pad Conv");
    CHECK(left({0, 0, 1, 0, 0, 0, 0, 2}, 0, false, "edge") == "Pad Conv");
}
