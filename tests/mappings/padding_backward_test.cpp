// SPDX-License-Identifier: MIT
// Rows of the family padding_backward: regressions against torch's results.
#include <limits>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the gradients of borders are added to those of the elements that they copy") {
    tensor const grad = of(dtype::float32, {1, 8}, {1, 2, 4, 8, 16, 32, 64, 128});
    tensor const self = of(dtype::float32, {1, 4}, {0, 0, 0, 0});
    gives("aten::reflection_pad1d_backward",
          {arg("grad_output", grad), arg("self", self), numbers("padding", {1, 3})},
          of(dtype::float32, {1, 4}, {130, 69, 40, 16}));
    gives("aten::replication_pad1d_backward",
          {arg("grad_output", grad), arg("self", self), numbers("padding", {1, 3})},
          of(dtype::float32, {1, 4}, {3, 4, 8, 240}));
}

TEST_CASE("NaN in the gradient of one element does not reach another one's") {
    gives("aten::replication_pad1d_backward",
          {arg("grad_output", of(dtype::float32, {1, 5}, {nan, 1, 2, std::numeric_limits<double>::infinity(), 4})),
           arg("self", of(dtype::float32, {1, 2}, {0, 0})),
           numbers("padding", {2, 1})},
          of(dtype::float32, {1, 2}, {nan, std::numeric_limits<double>::infinity()}));
}

} // namespace aton::tests
