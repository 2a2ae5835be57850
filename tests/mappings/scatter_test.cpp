// SPDX-License-Identifier: MIT
// Rows of the family scatter: regressions against torch's results.
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

TEST_CASE("elements of one place are combined at every opset, in the order of the index") {
    auto const self = of(dtype::float32, {2, 3}, {1, 2, 3, 4, 5, 6});
    auto const index = of(dtype::int64, {3, 2}, {0, 1, 0, 0, 0, 1});
    auto const src = of(dtype::float32, {3, 2}, {10, 20, 30, 40, 50, 60});
    gives("aten::scatter_add",
          {arg("self", self), number("dim", 0), arg("index", index), arg("src", src)},
          of(dtype::float32, {2, 3}, {91, 42, 3, 4, 85, 6}));
    gives("aten::scatter_reduce.two",
          {arg("self", self), number("dim", -2), arg("index", index), arg("src", src), word("reduce", "amax")},
          of(dtype::float32, {2, 3}, {50, 40, 3, 4, 60, 6}));
    gives("aten::scatter_reduce.two",
          {arg("self", self), number("dim", 0), arg("index", index), arg("src", src), word("reduce", "prod")},
          of(dtype::float32, {2, 3}, {15000, 80, 3, 4, 6000, 6}));
}

TEST_CASE("int8 wraps around when elements of one place are added") {
    gives("aten::index_add",
          {arg("self", row_of(dtype::int8, {100, -100})),
           number("dim", 0),
           arg("index", row_of(dtype::int64, {0, 1, 0, 1})),
           arg("source", row_of(dtype::int8, {20, -20, 20, -20}))},
          row_of(dtype::int8, {-116, 116}));
}

TEST_CASE("put accumulates at positions that are given twice, from the front and from the end") {
    gives("aten::put",
          {arg("self", of(dtype::float32, {2, 2}, {1, 2, 3, 4})),
           arg("index", of(dtype::int64, {3}, {3, -1, 0})),
           arg("source", of(dtype::float32, {3}, {10, 20, 30})),
           number("accumulate", true)},
          of(dtype::float32, {2, 2}, {31, 2, 3, 34}));
}

} // namespace aton::tests
