// SPDX-License-Identifier: MIT
// Rows of the family decompositions: regressions against torch's results.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

using call = std::vector<runtime::aten_argument>;

tensor wide(std::vector<double> const& values) { return square(values, dtype::float64); }

} // namespace

TEST_CASE("the first of equal pivots is chosen") {
    call const a = {arg("A", square({1, 2, -1, 3}))};
    gives("aten::linalg_lu_factor", a, square({1, 2, -1, 5}), 0);
    gives("aten::linalg_lu_factor", a, row_of(dtype::int32, {1, 2}), 1);
}

TEST_CASE("LU goes on after a column of zeros, and has as many pivots as the smaller size") {
    call const zero = {arg("A", of(dtype::float32, {3, 3}, {0, 2, 1, 0, 1, 3, 0, 4, 5}))};
    gives("aten::linalg_lu_factor_ex", zero, of(dtype::float32, {3, 3}, {0, 2, 1, 0, 4, 5, 0, 0.25, 1.75}), 0);
    gives("aten::linalg_lu_factor_ex", zero, row_of(dtype::int32, {1, 3, 3}), 1);
    gives("aten::linalg_lu_factor_ex", zero, info(1), 2);
    call const flat = {arg("A", of(dtype::float32, {2, 3}, {1, 2, 3, 4, 5, 6}))};
    gives("aten::linalg_lu_factor", flat, of(dtype::float32, {2, 3}, {4, 5, 6, 0.25, 0.75, 1.5}), 0);
    gives("aten::linalg_lu_factor", flat, row_of(dtype::int32, {2, 2}), 1);
    CHECK(
        contains(refusal("aten::linalg_lu", {arg("A", square({1, 0, 0, 1})), number("pivot", false)}), "pivot=False"));
}

TEST_CASE("pivots are exchanges one after the other") {
    tensor const data = of(dtype::float32, {3, 3}, std::vector<double>(9));
    tensor const pivots = row_of(dtype::int32, {3, 3, 3});
    gives("aten::lu_unpack",
          {arg("LU_data", data), arg("LU_pivots", pivots)},
          of(dtype::float32, {3, 3}, {0, 1, 0, 0, 0, 1, 1, 0, 0}));
    gives("aten::linalg_lu_solve",
          {arg("LU", square({2, 1, 0.5, 3})),
           arg("pivots", row_of(dtype::int32, {2, 2})),
           arg("B", of(dtype::float32, {2, 1}, {1, 2})),
           number("left", true),
           number("adjoint", true)},
          of(dtype::float32, {2, 1}, {0.5, 0.25}));
}

TEST_CASE("the factor of a matrix that is not positive definite ends before the minor that is not") {
    call const a = {arg("self", of(dtype::float32, {3, 3}, {4, 2, 1, 2, 1, 3, 1, 3, 5}))};
    gives("aten::linalg_cholesky_ex", a, of(dtype::float32, {3, 3}, {2, 0, 0, 1, 0, 0, 0.5, 3, 5}), 0);
    gives("aten::linalg_cholesky_ex", a, info(2), 1);
    gives("aten::linalg_cholesky_ex",
          {arg("self", square({4, 2, 9, 5})), number("upper", true)},
          square({2, 1, 0, 2}),
          0);
}

TEST_CASE("only the triangle of a triangular matrix is read") {
    gives("aten::linalg_solve_triangular",
          {arg("self", square({2, 9, 1, 4})), arg("B", of(dtype::float32, {2, 1}, {2, 6})), number("upper", false)},
          of(dtype::float32, {2, 1}, {1, 1.25}));
}

TEST_CASE("reflections of columns without elements below the diagonal") {
    gives("aten::linalg_qr", {arg("A", wide({0, 1, 0, 2}))}, wide({1, 0, 0, 1}), 0);
    gives("aten::linalg_qr", {arg("A", wide({2, 1, 0, -3}))}, wide({2, 1, 0, -3}), 1);
    gives("aten::geqrf", {arg("self", wide({3, 1, 4, 2}))}, wide({-5, -2.2, 0.5, 0.4}), 0);
    gives("aten::geqrf", {arg("self", wide({3, 1, 4, 2}))}, row_of(dtype::float64, {1.6, 0}), 1);
}

TEST_CASE("eigenvalues and singular values of huge and tiny matrices") {
    gives("aten::linalg_eigvalsh",
          {arg("self", wide({1e200, 2e200, 2e200, 1e200}))},
          row_of(dtype::float64, {-1e200, 3e200}));
    gives("aten::linalg_svdvals", {arg("A", wide({3e200, 0, 4e200, 0}))}, row_of(dtype::float64, {5e200, 0}));
    gives("aten::linalg_svdvals", {arg("A", wide({3e-200, 0, 4e-200, 0}))}, row_of(dtype::float64, {5e-200, 0}));
    gives("aten::linalg_svdvals", {arg("A", wide({0, 0, 0, 0}))}, row_of(dtype::float64, {0, 0}));
    gives("aten::linalg_eigvalsh",
          {arg("self", square({1, 5, 2, 1})), word("UPLO", "U")},
          row_of(dtype::float32, {-4, 6}));
}

TEST_CASE("a repeated eigenvalue is found twice: both rows of a pair are rotated by the same angle") {
    tensor const a = of(dtype::float32, {3, 3}, {2.5, 0.5, -3.5, 2, 2.5, -0.5, -1, -1, 1}); // the lower triangle counts
    gives("aten::linalg_eigvalsh", {arg("self", a)}, row_of(dtype::float32, {0.5, 0.5, 5}));
}

TEST_CASE("least squares with residuals, without those of drivers that decide by the rank") {
    tensor const a = of(dtype::float32, {3, 2}, {1, 0, 1, 1, 1, 2});
    tensor const b = of(dtype::float32, {3, 1}, {1, 3, 4});
    call const solved = {arg("self", a), arg("b", b), none("rcond"), word("driver", "gels")};
    gives("aten::linalg_lstsq", solved, of(dtype::float32, {2, 1}, {7.0 / 6, 1.5}), 0);
    gives("aten::linalg_lstsq", solved, row_of(dtype::float32, {1.0 / 6}), 1);
    CHECK(contains(refusal("aten::linalg_lstsq", {arg("self", a), arg("b", b), none("rcond"), word("driver", "gelsd")}),
                   "residuals only if the rank is full"));
    CHECK(contains(refusal("aten::linalg_lstsq", {arg("self", a), arg("b", b), number("rcond", 0.1)}), "driver=gelsy"));
}

} // namespace aton::tests
