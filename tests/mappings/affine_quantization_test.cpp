// SPDX-License-Identifier: MIT
// Rows of the family affine_quantization: regressions against torchao's results.
#include "row_results.hpp"

namespace aton::tests {

// 32895 steps rounded to bfloat16 are 32768, which gives a scale of 130 / 2^15.
TEST_CASE("the number of steps of a scale is not rounded to the dtype of the input") {
    std::vector<runtime::aten_argument> const call = {arg("input", of(dtype::bfloat16, {1, 2}, {2, -128})),
                                                      word("mapping_type", "ASYMMETRIC"),
                                                      numbers("block_size", {1, 2}),
                                                      type("target_dtype", dtype::int16),
                                                      number("quant_min", -128)};
    gives("torchao::choose_qparams_affine", call, row_of(dtype::bfloat16, {129.0 / 32768}));
    gives("torchao::choose_qparams_affine", call, row_of(dtype::int32, {32384}), 1);
}

} // namespace aton::tests
