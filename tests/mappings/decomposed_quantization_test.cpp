// SPDX-License-Identifier: MIT
// Rows of the family decomposed_quantization: the product with the inverse of the scale, and the nodes that runtimes fuse.
#include <aton/ir/print.hpp>

#include "row_results.hpp"

namespace aton::tests {

namespace {

std::vector<runtime::aten_argument> parameters(double scale, dtype dtype) {
    return {number("scale", scale),
            number("zero_point", 0),
            number("quant_min", -128),
            number("quant_max", 127),
            type("dtype", dtype)};
}
std::vector<runtime::aten_argument> quantize(std::vector<double> const& x, double scale) {
    std::vector<runtime::aten_argument> out = parameters(scale, dtype::int8);
    out.insert(out.begin(), arg("input", row_of(dtype::float32, x)));
    return out;
}

bool has_node(char const* overload, std::vector<runtime::aten_argument> arguments, std::string const& node) {
    verify::sample s;
    s.overload = overload;
    s.arguments = std::move(arguments);
    return contains(to_string(translated(s).at(0).graph), "onnx::" + node + '(');
}

} // namespace

TEST_CASE("a number is multiplied by the inverse of the scale, which may round to another integer than the quotient") {
    // In float32, 1.5499999523162842 times 10 is 15.5, which rounds to 16; divided by 0.1, it is below 15.5.
    gives("quantized_decomposed::quantize_per_tensor",
          quantize({1.5499999523162842, -9.149999618530273, 300, -300, 2.5}, 0.1),
          row_of(dtype::int8, {16, -92, 127, -128, 25}));
    gives("quantized_decomposed::quantize_per_tensor",
          quantize({1.5, 2.5, -0.125}, 0.25),
          row_of(dtype::int8, {6, 10, 0}));
}

TEST_CASE("QuantizeLinear is used where dividing by the scale is exact, and DequantizeLinear always") {
    CHECK(has_node("quantized_decomposed::quantize_per_tensor", quantize({1}, 0.25), "QuantizeLinear"));
    CHECK(!has_node("quantized_decomposed::quantize_per_tensor", quantize({1}, 0.1), "QuantizeLinear"));
    std::vector<runtime::aten_argument> arguments = parameters(0.1, dtype::int8);
    arguments.insert(arguments.begin(), arg("input", row_of(dtype::int8, {1})));
    CHECK(has_node("quantized_decomposed::dequantize_per_tensor", std::move(arguments), "DequantizeLinear"));
}

TEST_CASE("ranges that the dtype does not have are refused") {
    std::vector<runtime::aten_argument> arguments = quantize({1}, 0.5);
    arguments.back() = type("dtype", dtype::uint8);
    CHECK(contains(refusal("quantized_decomposed::quantize_per_tensor", arguments), "out of the range of the dtype"));
    CHECK(contains(refusal("quantized_decomposed::quantize_per_tensor", quantize({1}, 0)), "a scale of 0"));
}

} // namespace aton::tests
