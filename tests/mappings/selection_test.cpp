// SPDX-License-Identifier: MIT
// Rows of the family selection: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a mask of no elements scatters nothing") {
    tensor const none = of(dtype::float32, {1, 0}, {});
    gives("aten::masked_scatter",
          {arg("self", none), arg("mask", runtime::cast(none, dtype::bool_)), arg("source", none)},
          none);
}

} // namespace aton::tests
