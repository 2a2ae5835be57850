// SPDX-License-Identifier: MIT
// Rows of the family softmax: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("softmax of integers masks nothing") {
    tensor const x = of(dtype::int64, {1, 1}, {-0x1p63});
    gives("aten::_safe_softmax",
          {arg("self", x), number("dim", 1), type("dtype", dtype::float16)},
          of(dtype::float16, {1, 1}, {nan}));
}

} // namespace aton::tests
