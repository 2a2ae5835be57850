// SPDX-License-Identifier: MIT
// Rows of the family class_loss: calls that once had other results than ATen's.
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

} // namespace aton::tests
