// SPDX-License-Identifier: MIT
// Rows of the family attention: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a fully masked query gives NaN if a value is infinite, otherwise 0") {
    for (double const last : {-infinity, 2.0})
        gives("aten::_scaled_dot_product_flash_attention_for_cpu",
              {arg("query", of(dtype::float32, {1, 1, 1, 1}, {1})),
               arg("key", of(dtype::float32, {1, 1, 2, 1}, {0, -1})),
               arg("value", of(dtype::float32, {1, 1, 2, 1}, {0, last})),
               arg("attn_mask", of(dtype::float32, {1, 2}, {-infinity, -infinity}))},
              of(dtype::float32, {1, 1, 1, 1}, {last == 2 ? 0 : nan}));
}

TEST_CASE("masks of multi-head attention hide keys, as matrices, paddings and numbers other than 0") {
    auto const call = [](tensor mask, std::int64_t mask_type) {
        return std::vector<runtime::aten_argument>{arg("query", of(dtype::float32, {1, 2, 1}, {1, 2})),
                                                   arg("key", of(dtype::float32, {1, 2, 1}, {1, 2})),
                                                   arg("value", of(dtype::float32, {1, 2, 1}, {1, 2})),
                                                   number("embed_dim", 1),
                                                   number("num_head", 1),
                                                   arg("qkv_weight", of(dtype::float32, {3, 1}, {0, 1, 1})),
                                                   arg("qkv_bias", row_of(dtype::float32, {0, 0, 0})),
                                                   arg("proj_weight", of(dtype::float32, {1, 1}, {2})),
                                                   arg("proj_bias", row_of(dtype::float32, {1})),
                                                   arg("mask", std::move(mask)),
                                                   number("mask_type", static_cast<long long>(mask_type))};
    };
    tensor const upper = of(dtype::float32, {2, 2}, {0, -0.5, 0, 0}); // hides the second key of the first query
    gives("aten::_native_multi_head_attention", call(upper, 0), of(dtype::float32, {1, 2, 1}, {3, 4}));
    tensor const padding = runtime::cast(of(dtype::float32, {1, 2}, {1, 0}), dtype::bool_);
    gives("aten::_native_multi_head_attention", call(padding, 1), of(dtype::float32, {1, 2, 1}, {5, 5}));
    tensor const all = runtime::cast(of(dtype::float32, {1, 1, 2, 2}, {1, 1, 0, 0}), dtype::bool_);
    gives("aten::_native_multi_head_attention", call(all, 2), of(dtype::float32, {1, 2, 1}, {nan, 4}));
    for (long long const heads : {0LL, -1LL}) {
        auto without_heads = call(all, 2);
        without_heads[4] = number("num_head", heads);
        CHECK(contains(refusal("aten::_native_multi_head_attention", without_heads),
                       "num_heads=" + std::to_string(heads)));
    }
}

TEST_CASE("causal attention of CUDA's kernels") {
    auto const call = [](tensor query, runtime::aten_argument scale) {
        return std::vector<runtime::aten_argument>{arg("query", std::move(query)),
                                                   arg("key", of(dtype::float32, {1, 1, 2, 2}, {1, 1, 0, 2})),
                                                   arg("value", of(dtype::float32, {1, 1, 2, 2}, {1, 2, 3, 5})),
                                                   number("is_causal", true),
                                                   std::move(scale)};
    };
    tensor const two = of(dtype::float32, {1, 1, 2, 2}, {1, 0, 0, 1});
    tensor const one = of(dtype::float32, {1, 1, 1, 2}, {1, 0});
    gives("aten::_scaled_dot_product_flash_attention",
          call(two, number("scale", 0.5)),
          of(dtype::float32, {1, 1, 2, 2}, {1, 2, 2.2449188232421875, 3.8673782348632812}));
    CHECK(contains(refusal("aten::_scaled_dot_product_flash_attention", call(one, none("scale"))),
                   "queries and keys may have different lengths"));
    auto cudnn = call(one, none("scale"));
    cudnn.push_back(none("attn_bias"));
    cudnn.push_back(number("compute_log_sumexp", false));
    gives("aten::_scaled_dot_product_cudnn_attention", cudnn, of(dtype::float32, {1, 1, 1, 2}, {1, 2}));
}

TEST_CASE("a bias of cuDNN's attention hides keys, and the lengths are results") {
    std::vector<runtime::aten_argument> const call{
        arg("query", of(dtype::float32, {1, 1, 2, 2}, {1, 0, 0, 1})),
        arg("key", of(dtype::float32, {1, 1, 3, 2}, {1, 1, 0, 2, 0, 0})),
        arg("value", of(dtype::float32, {1, 1, 3, 2}, {1, 2, 3, 5, 7, 9})),
        arg("attn_bias", of(dtype::float32, {1, 1, 2, 3}, {0, -infinity, -infinity, -infinity, -infinity, -infinity})),
        number("compute_log_sumexp", false)};
    gives("aten::_scaled_dot_product_cudnn_attention", call, of(dtype::float32, {1, 1, 2, 2}, {1, 2, 0, 0}));
    gives("aten::_scaled_dot_product_cudnn_attention", call, of(dtype::int64, {}, {2}), 4);
    gives("aten::_scaled_dot_product_cudnn_attention", call, of(dtype::int64, {}, {3}), 5);
}

} // namespace aton::tests
