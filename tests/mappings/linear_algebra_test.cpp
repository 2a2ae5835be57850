// SPDX-License-Identifier: MIT
// Rows of the family linear_algebra: regressions against torch's results.
#include <string>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("inverses of more than 8 rows, with exchanges") {
    std::vector<double> shifted(100);
    std::vector<double> back(100);
    for (std::size_t i = 0; i != 10; ++i) {
        shifted[10 * i + (i + 1) % 10] = 2;
        back[10 * ((i + 1) % 10) + i] = 0.5;
    }
    gives("aten::linalg_inv", {arg("A", of(dtype::float64, {10, 10}, shifted))}, of(dtype::float64, {10, 10}, back));
    CHECK(contains(refusal("aten::linalg_inv", {arg("A", square({1, 0, 0, 1}).sliced(0, 0, 1))}), "not square"));
}

TEST_CASE("info is the first diagonal element that is 0, counted from 1") {
    std::vector<runtime::aten_argument> const singular = {arg("A", square({1, 2, 2, 4}))};
    gives("aten::linalg_inv_ex", singular, square({-infinity, infinity, infinity, -infinity}), 0);
    gives("aten::linalg_inv_ex", singular, info(2), 1);
    gives("aten::linalg_inv_ex", {arg("A", square({0, 0, 0, 0}))}, info(1), 1);
    gives("aten::linalg_inv_ex", {arg("A", square({0, 1, 1, 0}))}, info(0), 1);
}

TEST_CASE("systems with unknowns on either side, and with vectors") {
    tensor const a = square({0, 2, 1, 3});
    gives(
        "aten::linalg_solve", {arg("A", a), arg("B", row_of(dtype::float32, {2, 5}))}, row_of(dtype::float32, {2, 1}));
    tensor const row = of(dtype::float32, {1, 2}, {2, 5});
    gives("aten::linalg_solve",
          {arg("A", a), arg("B", row), number("left", false)},
          of(dtype::float32, {1, 2}, {-0.5, 2}));
    CHECK(contains(
        refusal("aten::linalg_solve", {arg("A", a), arg("B", row_of(dtype::float32, {2, 5})), number("left", false)}),
        "left=False with vectors"));
}

TEST_CASE("a solution of two equal equations is NaN to the last bit, not infinite by rounding") {
    tensor const a = of(dtype::float64, {3, 3}, {3, 1.1, 0.7, 1.9, 0.3, -0.9, 1.9, 0.3, -0.9});
    gives("aten::linalg_solve_ex",
          {arg("A", a), arg("B", of(dtype::float64, {3, 1}, {0.1, -0.7, -0.7}))},
          of(dtype::float64, {3, 1}, {nan, nan, nan}));
}

TEST_CASE("determinants with the factors of the transpose") {
    std::vector<runtime::aten_argument> const a = {arg("A", square({0, 2, 1, 3}))};
    gives("aten::_linalg_det", a, of(dtype::float32, {}, {-2}), 0);
    gives("aten::_linalg_det", a, square({2, 3, 0, 1}), 1);
    gives("aten::_linalg_det", a, row_of(dtype::int32, {2, 2}), 2);
    gives("aten::_linalg_slogdet", a, of(dtype::float32, {}, {-1}), 0);
    gives("aten::_linalg_slogdet", {arg("A", square({0, 0, 0, 0}))}, of(dtype::float32, {}, {-infinity}), 1);
}

TEST_CASE("exponentials of large, zero and infinite matrices") {
    gives("aten::matrix_exp", {arg("self", square({0, 1000, 0, 0}))}, square({1, 1000, 0, 1}));
    gives("aten::matrix_exp", {arg("self", square({-800, 0, 0, 0}))}, square({0, 0, 0, 1}));
    gives("aten::matrix_exp", {arg("self", square({0, 0, 0, 0}))}, square({1, 0, 0, 1}));
    gives("aten::matrix_exp", {arg("self", square({-3e38, 0, 0, 1}))}, square({0, 0, 0, 1}));
    gives("aten::matrix_exp", {arg("self", square({-infinity, 0, 0, 0}))}, square({nan, nan, nan, nan}));
    gives("aten::matrix_exp", {arg("self", square({nan, 0, 0, 0}))}, square({nan, nan, nan, nan}));
}

} // namespace aton::tests
