// SPDX-License-Identifier: MIT
// Examples of the rewrites of targets, like those of examples.hpp.
#pragma once

#include <vector>

#include "examples.hpp"

namespace fusion_tests {

// clang-format off: one example per line
inline std::vector<example> target_examples() {
    return {
        {"onnxruntime.gelu", {batch({5})}}, {"onnxruntime.gelu", {tensor({3, 5}, dtype::float64)}, false},
        {"onnxruntime.fast_gelu", {tensor({3, 5})}}, {"onnxruntime.fast_gelu", {tensor({3, 5}, dtype::float16)}, false},
        {"onnxruntime.fast_gelu_factored", {tensor({3, 5})}}, {"onnxruntime.fast_gelu_factored", {tensor({3, 5}, dtype::float64)}, false},
        {"onnxruntime.bias_gelu", {batch({4, 5}), tensor({5})}}, {"onnxruntime.bias_gelu", {tensor({3, 5}), tensor({3, 5})}, false}, {"onnxruntime.bias_gelu", {tensor({3, 5}), tensor({1})}, false},
        {"onnxruntime.fast_gelu_bias", {tensor({3, 5}), tensor({5}), text("tanh")}}, {"onnxruntime.fast_gelu_bias", {tensor({3, 5}), tensor({3, 1}), text("tanh")}, false}, {"onnxruntime.fast_gelu_bias", {tensor({3, 5}), tensor({5}), text("none")}, false},
        {"onnxruntime.quick_gelu", {tensor({3, 5}), number(1.702)}}, {"onnxruntime.quick_gelu", {tensor({3, 5}, dtype::float64), number(1.702)}, false},
        {"onnxruntime.swish", {batch({5})}}, {"onnxruntime.swish", {tensor({3, 5}, dtype::float16)}, false},
        {"onnxruntime.skip_layer_normalization", {tensor({2, 3, 5}), tensor({2, 3, 5}), tensor({5}), tensor({5}), number(1e-3)}},
        {"onnxruntime.skip_layer_normalization", {batch({3, 5}), batch({3, 5}), tensor({5}), tensor({5}), number(1e-5)}},
        {"onnxruntime.skip_layer_normalization", {tensor({2, 3, 5}), tensor({1, 3, 5}), tensor({5}), tensor({5}), number(1e-3)}, false},
        {"onnxruntime.skip_layer_normalization", {tensor({3, 5}), tensor({3, 5}), tensor({5}), tensor({5}), number(1e-3)}, false},
        {"onnxruntime.skip_layer_normalization", {tensor({2, 3, 5}), tensor({2, 3, 5}), tensor({1}), tensor({5}), number(1e-3)}, false},
        {"onnxruntime.skip_simplified_layer_normalization", {tensor({2, 3, 5}), tensor({2, 3, 5}), tensor({5}), number(1e-3)}},
        {"onnxruntime.skip_simplified_layer_normalization", {tensor({2, 3, 5}), tensor({2, 1, 5}), tensor({5}), number(1e-3)}, false},
        {"onnxruntime.attention_capped", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({2, 1, 5, 7}), number(1.5)}},
        {"onnxruntime.attention_capped", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({2, 1, 1, 7}), number(1.5)}, false},
        {"onnxruntime.attention_capped", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({2, 1, 5, 7}), number(-1.5)}, false},
        {"onnxruntime.attention_both", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 8}), number(0.6), integer(-1)}},
        {"onnxruntime.attention_both", {batch({3, 5, 8}), batch({3, 7, 8}), batch({3, 7, 8}), number(0.6), integer(3)}},
        {"onnxruntime.attention_both", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1)}, false},
        {"onnxruntime.attention_both", {tensor({2, 3, 5, 8}), tensor({2, 1, 7, 8}), tensor({2, 3, 7, 8}), number(0.6), integer(-1)}, false},
        {"onnxruntime.attention_queries", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 8}), number(0.6), integer(-1)}},
        {"onnxruntime.attention_product", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 8}), number(0.6), integer(-1)}},
        {"onnxruntime.attention_divided", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 8}), number(1.6), integer(-1)}},
        {"onnxruntime.scaled_product_of_transposed", {tensor({2, 3, 5}), tensor({2, 4, 5}), list({0, 2, 1}), number(0.3)}},
        {"onnxruntime.scaled_product_of_transposed", {tensor({4, 3, 5}), tensor({2, 4, 5}), list({1, 2, 0}), number(0.3)}, false},
        {"onnxruntime.scaled_product", {tensor({2, 3, 5}), tensor({5, 4}), number(-1.5)}}, {"onnxruntime.scaled_product", {tensor({5}), tensor({5, 4}), number(-1.5)}, false},
        {"onnxruntime.product_of_transposed", {tensor({2, 6, 3, 5}), tensor({2, 6, 4, 5}), list({0, 1, 3, 2})}},
        {"onnxruntime.product_of_transposed", {tensor({3, 5}, dtype::float64), tensor({4, 5}, dtype::float64), list({1, 0})}, false},
        {"onnxruntime.transposed_product", {tensor({2, 5, 3}), tensor({2, 5, 4}), list({0, 2, 1})}}, {"onnxruntime.transposed_product", {tensor({5, 2, 3}), tensor({2, 5, 4}), list({1, 2, 0})}, false},
        {"tensorrt.compress", {tensor({3, 5, 2}), elements({5}, {1, 0, 0, 1, 1}, dtype::bool_), integer(1)}},
        {"tensorrt.compress_all", {tensor({3, 2}), elements({6}, {1, 0, 0, 1, 1, 0}, dtype::bool_)}},
        {"tensorrt.max_pool_of_lines", {tensor({2, 3, 9}), list({3}), list({2}), list({1, 0}), integer(1)}},
        {"tensorrt.max_pool_of_lines", {tensor({2, 3, 9, 7}), list({3, 2}), list({2, 1}), list({1, 0, 0, 1}), integer(0)}, false},
        {"tensorrt.average_pool_of_lines", {tensor({2, 3, 9}), list({3}), list({2}), list({1, 1}), integer(0), integer(1)}},
        {"tensorrt.average_pool_of_lines", {tensor({2, 3, 9}), list({3}), list({2}), list({1, 0}), integer(0), integer(0)}},
        {"tensorrt.average_pool_of_lines", {tensor({2, 3, 9, 7}), list({3, 2}), list({2, 1}), list({1, 0, 0, 1}), integer(0), integer(0)}, false},
        {"tensorrt.non_zero", {tensor({3, 5}, dtype::bool_)}}, {"tensorrt.non_zero", {tensor({7}, dtype::int64)}}, {"tensorrt.non_zero", {tensor({3, 5})}, false},
    };
}
// clang-format on

} // namespace fusion_tests
