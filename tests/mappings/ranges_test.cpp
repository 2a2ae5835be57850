// SPDX-License-Identifier: MIT
// Rows of the family ranges: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a number argument of linspace is not rounded to float32") {
    gives("aten::linspace.Tensor_Scalar",
          {arg("start", of(dtype::float64, {}, {0})),
           number("end", 0.1),
           number("steps", 2),
           type("dtype", dtype::float64)},
          row_of(dtype::float64, {0, 0.1}));
}

} // namespace aton::tests
