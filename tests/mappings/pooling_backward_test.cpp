// SPDX-License-Identifier: MIT
// Rows of the family pooling_backward: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the maximum of two overlapping windows gets both gradients") {
    gives("aten::max_pool2d_with_indices_backward",
          {arg("grad_output", of(dtype::float32, {1, 1, 1, 2}, {2, 3})),
           arg("self", of(dtype::float32, {1, 1, 1, 4}, {0, 3, 2, 1})),
           numbers("kernel_size", {1, 3}),
           numbers("stride", {1, 1}),
           numbers("padding", {0, 0}),
           numbers("dilation", {1, 1}),
           number("ceil_mode", false),
           arg("indices", of(dtype::int64, {1, 1, 1, 2}, {1, 1}))},
          of(dtype::float32, {1, 1, 1, 4}, {0, 5, 0, 0}));
}

TEST_CASE("windows of an average pool with ceil_mode, padding and gaps between them") {
    for (bool const include : {true, false})
        gives("aten::avg_pool2d_backward",
              {arg("grad_output", of(dtype::float32, {1, 1, 1, 2}, {6, 12})),
               arg("self", of(dtype::float32, {1, 1, 1, 6}, {0, 0, 0, 0, 0, 0})),
               numbers("kernel_size", {1, 3}),
               numbers("stride", {1, 4}),
               numbers("padding", {0, 1}),
               number("ceil_mode", true),
               number("count_include_pad", include),
               none("divisor_override")},
              of(dtype::float32,
                 {1, 1, 1, 6},
                 include ? std::vector<double>{2, 2, 0, 4, 4, 4} : std::vector<double>{3, 3, 0, 4, 4, 4}));
}

TEST_CASE("an infinite gradient stays in its window of an adaptive pool") {
    gives("aten::_adaptive_avg_pool2d_backward",
          {arg("grad_output", of(dtype::float32, {1, 1, 1, 3}, {infinity, 6, 3})),
           arg("self", of(dtype::float32, {1, 1, 1, 5}, {0, 0, 0, 0, 0}))},
          of(dtype::float32, {1, 1, 1, 5}, {infinity, infinity, 2, 3.5, 1.5}));
}

TEST_CASE("overlapping windows of an adaptive pool add their gradients, where the pool enlarges too") {
    gives("aten::adaptive_max_pool2d_backward",
          {arg("grad_output", of(dtype::float32, {1, 2, 3}, {1, infinity, 4, 8, 16, 32})),
           arg("self", of(dtype::float32, {1, 2, 5}, {0, 1, 0, 1, 0, 0, 1, 0, 1, 0})),
           arg("indices", of(dtype::int64, {1, 2, 3}, {1, 3, 3, 6, 8, 8}))},
          of(dtype::float32, {1, 2, 5}, {0, 1, 0, infinity, 0, 0, 8, 0, 48, 0}));
    gives("aten::adaptive_max_pool2d_backward",
          {arg("grad_output", of(dtype::float32, {1, 1, 5}, {1, 2, 4, 8, 16})),
           arg("self", of(dtype::float32, {1, 1, 2}, {0, 0})),
           arg("indices", of(dtype::int64, {1, 1, 5}, {0, 0, 1, 1, 1}))},
          of(dtype::float32, {1, 1, 2}, {3, 28}));
    gives("aten::adaptive_max_pool3d_backward",
          {arg("grad_output", of(dtype::float32, {1, 2, 1, 2}, {1, 2, 4, 8})),
           arg("self", of(dtype::float32, {1, 3, 1, 3}, {0, 0, 0, 0, 1, 0, 0, 1, 0})),
           arg("indices", of(dtype::int64, {1, 2, 1, 2}, {4, 4, 4, 7}))},
          of(dtype::float32, {1, 3, 1, 3}, {0, 0, 0, 0, 7, 0, 0, 8, 0}));
}

} // namespace aton::tests
