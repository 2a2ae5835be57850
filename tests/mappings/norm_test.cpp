// SPDX-License-Identifier: MIT
// Rows of the family norm: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the norm of matrices without elements is 0") {
    gives("aten::linalg_matrix_norm",
          {arg("self", of(dtype::float32, {6, 2, 0}, {})), number("ord", 1), numbers("dim", {0, -1})},
          row_of(dtype::float32, {0, 0}));
}

} // namespace aton::tests
