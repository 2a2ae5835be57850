// SPDX-License-Identifier: MIT
// Rows of the family loss_backward: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("gradients of losses in pieces keep NaN, and their bounds belong to the outer pieces") {
    tensor const grad = row_of(dtype::float32, {2, 3, 4, 5, 7});
    tensor const self = row_of(dtype::float32, {0.5, -3, nan, 2, -0.25});
    tensor const target = row_of(dtype::float32, {0, 0, 0, 1, 0.5});
    gives("aten::smooth_l1_loss_backward",
          {arg("grad_output", grad),
           arg("self", self),
           arg("target", target),
           number("reduction", 0),
           number("beta", 0.75)},
          row_of(dtype::float32, {2 / 1.5, -3, nan, 5, -7}));
    gives("aten::huber_loss_backward",
          {arg("grad_output", grad),
           arg("self", self),
           arg("target", target),
           number("reduction", 0),
           number("delta", 0.75)},
          row_of(dtype::float32, {1, -2.25, nan, 3.75, -5.25}));
    gives("aten::smooth_l1_loss_backward",
          {arg("grad_output", grad), arg("self", self), arg("target", self), number("reduction", 0), number("beta", 0)},
          row_of(dtype::float32, {-2, -3, nan, -5, -7}));
}

TEST_CASE("the gradient of a cross entropy is bounded where a probability is 0 or 1") {
    gives("aten::binary_cross_entropy_backward",
          {arg("grad_output", row_of(dtype::float32, {2, 3, 4, 5})),
           arg("self", row_of(dtype::float32, {0, 1, 0.25, nan})),
           arg("target", row_of(dtype::float32, {0, 0, 0, 1})),
           number("reduction", 1)},
          row_of(dtype::float32, {0, 7.5e11, 4 / 3.0, nan}));
}

} // namespace aton::tests
