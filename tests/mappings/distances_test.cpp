// SPDX-License-Identifier: MIT
// Rows of the family distances: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("powers in distances of float16 do not overflow") {
    gives("aten::pdist",
          {arg("self", of(dtype::float16, {2, 1}, {0, -100})), number("p", 2.5)},
          row_of(dtype::float16, {100}));
}

} // namespace aton::tests
