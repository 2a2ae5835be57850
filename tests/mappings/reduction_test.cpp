// SPDX-License-Identifier: MIT
// Rows of the family reduction: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("sum_to_size adds all dimensions at once") {
    gives("aten::sum_to_size",
          {arg("self", of(dtype::float16, {3, 1, 2}, {2048, 1, 1, 1, -2048, 1})), numbers("size", {1, 1})},
          of(dtype::float16, {1, 1}, {4}));
}

TEST_CASE("a mean of integers in float16 is rounded once") {
    gives("aten::mean",
          {arg("self", row_of(dtype::int64, {70000, -70000, 6})), type("dtype", dtype::float16)},
          of(dtype::float16, {}, {2}));
}

} // namespace aton::tests
