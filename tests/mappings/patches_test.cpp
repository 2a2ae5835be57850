// SPDX-License-Identifier: MIT
// Rows of the family patches: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("col2im adds patches that overlap, with another stride, dilation and padding along each axis") {
    gives("aten::col2im",
          {arg("self", of(dtype::float32, {1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
           numbers("output_size", {2, 4}),
           numbers("kernel_size", {2, 2}),
           numbers("dilation", {1, 2}),
           numbers("padding", {0, 1}),
           numbers("stride", {1, 3})},
          of(dtype::float32, {1, 1, 2, 4}, {0, 3, 2, 0, 0, 7, 6, 0}));
}

TEST_CASE("col2im of an image that the last patches do not reach") {
    gives("aten::col2im",
          {arg("self", of(dtype::float32, {1, 1, 2}, {1, 2})),
           numbers("output_size", {1, 5}),
           numbers("kernel_size", {1, 1}),
           numbers("dilation", {1, 1}),
           numbers("padding", {0, 0}),
           numbers("stride", {1, 3})},
          of(dtype::float32, {1, 1, 1, 5}, {1, 0, 0, 2, 0}));
}

} // namespace aton::tests
