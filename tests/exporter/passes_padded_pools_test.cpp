// SPDX-License-Identifier: MIT
// Pools of padded images: ONNX Runtime merges the two wrongly, unless a Reshape is between them.
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

TEST_CASE("a Pad with another number or mode, and a Pad before a convolution, are not separated") {
    optimized<> number;
    CHECK(number(number.g.op<"MaxPool">(padded(number, -1), attr::kernel_shape_i({3, 2}))) == "Pad MaxPool");
    optimized<> reflected;
    value const x = reflected.input("x", {2, 3, 5, 7});
    value const y = reflected.g.op<"Pad">(x, reflected.g.ints({0, 0, 1, 0, 0, 0, 0, 2}), attr::mode_s("reflect"));
    CHECK(reflected(reflected.g.op<"MaxPool">(y, attr::kernel_shape_i({3, 2}))) == "Pad MaxPool");
    optimized<> convolution;
    value const w = convolution.weight("w", {4, 3, 3, 2});
    CHECK(convolution(convolution.g.op<"Conv">(padded(convolution, 0), w)) == "Pad Conv");
}
