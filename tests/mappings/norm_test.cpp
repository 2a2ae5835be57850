// SPDX-License-Identifier: MIT
// Rows of the family norm: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the norm of matrices without elements is 0") {
    gives("aten::linalg_matrix_norm",
          {arg("self", of(dtype::float32, {6, 2, 0}, {})), number("ord", 1), numbers("dim", {0, -1})},
          row_of(dtype::float32, {0, 0}));
}

TEST_CASE("matrix norms by singular values, which magnitudes of complex numbers do not determine") {
    tensor const x = of(dtype::float32, {2, 2}, {3, 0, 4, 0});
    gives("aten::linalg_matrix_norm.str_ord", {arg("self", x), word("ord", "nuc")}, of(dtype::float32, {}, {5}));
    gives("aten::linalg_matrix_norm", {arg("self", x), number("ord", -2)}, of(dtype::float32, {}, {0}));
    gives("aten::linalg_norm", {arg("self", x), number("ord", 2)}, of(dtype::float32, {}, {5}));
    tensor const z = runtime::cast(x, dtype::complex64);
    CHECK(contains(refusal("aten::linalg_matrix_norm", {arg("self", z), number("ord", 2)}), "of complex numbers"));
    CHECK(contains(refusal("aten::linalg_matrix_norm.str_ord", {arg("self", z), word("ord", "nuc")}),
                   "of complex numbers"));
}

} // namespace aton::tests
