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
}

} // namespace aton::tests
