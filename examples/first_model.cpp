// SPDX-License-Identifier: MIT
// A program that uses the DSL: a small image classifier with its weights as constants, printed and written as an ONNX file.
#include <cstdint>
#include <utility>
#include <vector>

#include "example.hpp"

using namespace aton::dsl;

namespace {

/// Numbers between -0.25 and 0.25 in a fixed pattern.
tensor weights(std::vector<std::int64_t> sizes) {
    tensor t{dtype::float32, std::move(sizes), {}};
    for (std::int64_t i = 0; i != t.element_count(); ++i) t.append(0.05 * static_cast<double>(i * 7 % 11 - 5));
    return t;
}

graph_data classifier() {
    graph_data data;
    data.opset = 20;
    graph<20> const g(data, data.opset);
    value const image(data, data.add_input("image", value_type{dtype::float32, {1, 3, 32, 32}}));

    value const kernel = g.constant(weights({8, 3, 3, 3}));
    value const bias = g.constant(weights({8}));
    value y = g.op<"Conv">(image, kernel, bias, attr::pads_i({1, 1, 1, 1}));
    y = g.op<"Relu">(y);
    y = g.op<"MaxPool">(y, attr::kernel_shape_i({4, 4}), attr::strides_i({4, 4}));
    y = g.op<"Flatten">(y);

    value const classes = g.constant(weights({10, 512}));
    value const offset = g.constant(weights({10}));
    y = g.op<"Gemm">(y, classes, offset, attr::transB_i(1));
    y = g.op<"Softmax">(y);

    data.outputs = {y.id()};
    return data;
}

} // namespace

int main(int argc, char** argv) { return example::show(classifier, argc, argv); }
