// SPDX-License-Identifier: MIT
// Rows of the family pooling: regressions against torch's results.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

using call = std::vector<runtime::aten_argument>;

} // namespace

TEST_CASE("indices of windows without elements are refused") {
    CHECK(contains(refusal("aten::max_pool1d_with_indices",
                           {arg("self", of(dtype::float32, {1, 1, 1}, {9})),
                            numbers("kernel_size", {2}),
                            numbers("stride", {1}),
                            numbers("padding", {1}),
                            numbers("dilation", {2})}),
                   "a window without elements"));
}

TEST_CASE("the largest element of a window at a random place is the last NaN") {
    gives("aten::fractional_max_pool3d",
          {arg("self", of(dtype::float32, {1, 1, 1, 5}, {1, nan, 3, nan, 2})),
           numbers("kernel_size", {1, 1, 5}),
           numbers("output_size", {1, 1, 1}),
           arg("random_samples", of(dtype::float32, {1, 1, 3}, {0, 0, 0}))},
          of(dtype::int64, {1, 1, 1, 1}, {3}),
          1);
}

TEST_CASE("a pool at random places of no images") {
    gives("aten::fractional_max_pool3d",
          {arg("self", of(dtype::float32, {0, 1, 4, 5, 4}, {})),
           numbers("kernel_size", {2, 2, 1}),
           numbers("output_size", {2, 3, 2}),
           arg("random_samples", of(dtype::float32, {0, 1, 3}, {}))},
          of(dtype::float32, {0, 1, 2, 3, 2}, {}));
}

TEST_CASE("of a window with NaN, the maximum is NaN and its index that of the last") {
    call const padded = {arg("self", of(dtype::float32, {1, 2, 3}, {nan, infinity, nan, -1, 2, 3})),
                         numbers("kernel_size", {1, 2}),
                         numbers("stride", {1, 1}),
                         numbers("padding", {0, 1})};
    gives("aten::max_pool2d_with_indices", padded, of(dtype::float32, {1, 2, 4}, {nan, nan, nan, nan, -1, 2, 3, 3}));
    gives("aten::max_pool2d_with_indices", padded, of(dtype::int64, {1, 2, 4}, {0, 0, 2, 2, 3, 4, 5, 5}), 1);
}

TEST_CASE("an element is preferred over equal padding as the maximum") {
    for (bool const lowest : {true, false})
        gives("aten::max_pool1d_with_indices",
              {arg("self", lowest ? of(dtype::uint8, {1, 1, 2}, {1, 0}) : of(dtype::int8, {1, 1, 2}, {5, -128})),
               numbers("kernel_size", {2}),
               numbers("padding", {1}),
               numbers("dilation", {2}),
               number("ceil_mode", true)},
              of(dtype::int64, {1, 1, 2}, {1, 1}),
              1);
}

} // namespace aton::tests
