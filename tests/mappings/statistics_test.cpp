// SPDX-License-Identifier: MIT
// Rows of the family statistics: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a quantile next to an infinity equals ATen's") {
    gives("aten::quantile",
          {arg("self", row_of(dtype::float32, {-4, infinity, 1})), arg("q", row_of(dtype::float32, {0.5, 0.7, 1}))},
          row_of(dtype::float32, {1, infinity, nan}));
}

TEST_CASE("a variance over no degrees of freedom is infinite even if the squares underflow") {
    tensor const tiny = row_of(dtype::float32, {1e-30, -1e-30, 3e-30});
    gives("aten::var.correction", {arg("self", tiny), number("correction", 5)}, of(dtype::float32, {}, {infinity}));
    gives("aten::std.correction", {arg("self", tiny), number("correction", nan)}, of(dtype::float32, {}, {infinity}));
    gives("aten::var.correction",
          {arg("self", row_of(dtype::float32, {2, 2})), number("correction", 5)},
          of(dtype::float32, {}, {nan}));
}

} // namespace aton::tests
