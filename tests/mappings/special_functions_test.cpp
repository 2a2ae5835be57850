// SPDX-License-Identifier: MIT
// Rows of the family special_functions: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("mvlgamma rounds each of its terms") {
    gives("aten::mvlgamma",
          {arg("self", row_of(dtype::float16, {-1.5693359375, -0.77685546875})), number("p", 4)},
          row_of(dtype::float16, {6.84375, 7.90234375}));
}

} // namespace aton::tests
