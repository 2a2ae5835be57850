// SPDX-License-Identifier: MIT
// Rows of the family class_loss: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("margin losses ignore NaN") {
    gives("aten::multi_margin_loss",
          {arg("self", of(dtype::float32, {1, 3}, {0.5, nan, 2})),
           arg("target", row_of(dtype::int64, {0})),
           number("reduction", 0)},
          row_of(dtype::float32, {2.5 / 3}));
    gives("aten::multilabel_margin_loss",
          {arg("self", of(dtype::float32, {1, 3}, {0.5, nan, 2})),
           arg("target", of(dtype::int64, {1, 3}, {0, -1, 0})),
           number("reduction", 0)},
          row_of(dtype::float32, {2.5 / 3}));
}

TEST_CASE("the gradient of the loss of a single sample") {
    gives("aten::nll_loss_backward",
          {arg("grad_output", of(dtype::float32, {}, {6})),
           arg("self", row_of(dtype::float32, {0, 0, 0})),
           arg("target", of(dtype::int64, {}, {1})),
           arg("weight", row_of(dtype::float32, {1, 2, 3})),
           number("reduction", 1),
           number("ignore_index", -100),
           arg("total_weight", of(dtype::float32, {}, {2}))},
          row_of(dtype::float32, {0, -6, 0}));
}

} // namespace aton::tests
