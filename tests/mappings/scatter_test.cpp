// SPDX-License-Identifier: MIT
// Rows of the family scatter: calls that once had other results than ATen's.
#include <cstdint>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("scattered elements are added in float32") {
    gives("aten::scatter_add",
          {arg("self", row_of(dtype::float16, {0})),
           number("dim", 0),
           arg("index", row_of(dtype::int64, std::vector<double>(4000, 0))),
           arg("src", row_of(dtype::float16, std::vector<double>(4000, 1)))},
          row_of(dtype::float16, {4000}));
}

TEST_CASE("the mean of large integers does not overflow") {
    gives("aten::scatter_reduce.two",
          {arg("self", row_of(dtype::int64, {-0x1p63})),
           number("dim", 0),
           arg("index", row_of(dtype::int64, {0, 0})),
           arg("src", row_of(dtype::int64, {1, 0})),
           word("reduce", "mean")},
          tensor::of_integers(std::vector<std::int64_t>{-3074457345618258603}));
}

} // namespace aton::tests
