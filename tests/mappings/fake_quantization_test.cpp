// SPDX-License-Identifier: MIT
// Rows of the family fake_quantization: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("floating zero points of channels are added before rounding") {
    gives("aten::fake_quantize_per_channel_affine",
          {arg("self", of(dtype::float32, {2, 2}, {0.3, 2.6, -0.7, 9})),
           arg("scale", row_of(dtype::float32, {0.5, 0.25})),
           arg("zero_point", row_of(dtype::float32, {2.7, -1.25})),
           number("axis", 1),
           number("quant_min", -4),
           number("quant_max", 10)},
          of(dtype::float32, {2, 2}, {0.15, 2.5625, -0.85, 2.8125}));
}

TEST_CASE("a floating zero point of the whole tensor is truncated") {
    gives("aten::fake_quantize_per_tensor_affine.tensor_qparams",
          {arg("self", row_of(dtype::float32, {0.3, 2.6, -0.7, 9})),
           arg("scale", of(dtype::float32, {}, {0.5})),
           arg("zero_point", of(dtype::float32, {}, {2.75})),
           number("quant_min", -4),
           number("quant_max", 10)},
          row_of(dtype::float32, {0.5, 2.5, -0.5, 4}));
}

} // namespace aton::tests
