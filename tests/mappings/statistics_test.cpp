// SPDX-License-Identifier: MIT
// Rows of the family statistics: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a quantile next to an infinity equals ATen's") {
    gives("aten::quantile",
          {arg("self", row_of(dtype::float32, {-4, infinity, 1})), arg("q", row_of(dtype::float32, {0.5, 0.7, 1}))},
          row_of(dtype::float32, {1, infinity, nan}));
}

} // namespace aton::tests
