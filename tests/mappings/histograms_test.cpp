// SPDX-License-Identifier: MIT
// Rows of the family histograms: calls that once had other results than ATen's.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("bincount of an empty tensor is int64, whatever the weights are") {
    gives("aten::bincount",
          {arg("self", row_of(dtype::int64, {})), arg("weights", row_of(dtype::float32, {})), number("minlength", 2)},
          row_of(dtype::int64, {0, 0}));
}

TEST_CASE("histc rounds bfloat16 after each step") {
    std::vector<double> counts(100, 0);
    counts[91] = 1;
    gives("aten::histc",
          {arg("self", row_of(dtype::bfloat16, {2.5})), number("bins", 100), number("min", -2.5), number("max", 3)},
          row_of(dtype::bfloat16, counts));
}

} // namespace aton::tests
