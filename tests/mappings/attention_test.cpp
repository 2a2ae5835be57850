// SPDX-License-Identifier: MIT
// Rows of the family attention: calls that once had other results than ATen's.
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

} // namespace aton::tests
