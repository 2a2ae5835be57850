// SPDX-License-Identifier: MIT
// Rows of the family spectra: regressions against torch's results.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

tensor one(double n) { return of(dtype::float32, {}, {n}); }

} // namespace

TEST_CASE("condition numbers of singular matrices are infinite") {
    gives("aten::linalg_cond", {arg("self", square({1, 2, 2, 4})), number("p", 1)}, one(infinity));
    gives("aten::linalg_cond", {arg("self", square({2, 0, 0, -4})), number("p", -2)}, one(0.5));
    gives("aten::linalg_cond.p_str", {arg("self", square({1, 2, 3, 4})), word("p", "nuc")}, one(17));
    gives("aten::linalg_cond", {arg("self", of(dtype::float32, {0, 0}, {})), none("p")}, one(0));
}

TEST_CASE("the rank of each matrix without elements is 0, whatever the tolerances") {
    gives("aten::linalg_matrix_rank.atol_rtol_float",
          {arg("self", of(dtype::float32, {2, 0, 3}, {})), number("atol", 1), number("rtol", 1)},
          of(dtype::int64, {2}, {0, 0}));
    gives("aten::linalg_matrix_rank.tol_tensor",
          {arg("input", of(dtype::float32, {3, 0}, {})), arg("tol", of(dtype::float32, {4, 1}, {1, 2, 3, 4}))},
          of(dtype::int64, {}, {0}));
}

TEST_CASE("ranks and pseudoinverses of singular matrices, by one triangle of Hermitian ones") {
    tensor const ones = of(dtype::float32, {3, 3}, std::vector<double>(9, 1));
    gives("aten::linalg_matrix_rank.atol_rtol_float", {arg("self", ones)}, of(dtype::int64, {}, {1}));
    gives("aten::linalg_pinv.atol_rtol_float",
          {arg("self", of(dtype::float32, {2, 3}, {2, 0, 0, 0, 0, 0}))},
          of(dtype::float32, {3, 2}, {0.5, 0, 0, 0, 0, 0}));
    gives("aten::linalg_pinv.atol_rtol_float",
          {arg("self", square({2, 7, 0, 4})), none("atol"), none("rtol"), number("hermitian", true)},
          square({0.5, 0, 0, 0.25}));
}

} // namespace aton::tests
