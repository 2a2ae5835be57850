// SPDX-License-Identifier: MIT
// Rows of the family orthogonal_polynomials: regressions against torch's results.
#include <limits>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("degrees of polynomials are truncated; negative ones and NaN give 0") {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    auto const x = row_of(dtype::float32, {0.25, 1.5, -0.5, 2});
    gives("aten::special_laguerre_polynomial_l.n_scalar",
          {arg("x", x), number("n", 3.9)},
          row_of(dtype::float32, {0.3411458432674408, -0.6875, 2.8958332538604736, -0.3333333432674408}));
    gives("aten::special_hermite_polynomial_he.n_scalar",
          {arg("x", x), number("n", 3.9)},
          row_of(dtype::float32, {-0.734375, -1.125, 1.375, 2}));
    for (double const n : {nan, -2.0, -1.5})
        gives("aten::special_chebyshev_polynomial_u.n_scalar",
              {arg("x", x), number("n", n)},
              row_of(dtype::float32, {0, 0, 0, 0}));
    gives("aten::special_chebyshev_polynomial_u",
          {arg("x", x), arg("n", row_of(dtype::float32, {nan, 3.9, -2, 3.9}))},
          row_of(dtype::float32, {0, 21, 0, 56}));
}

TEST_CASE("Chebyshev polynomials of a high degree are computed by the angle inside -1..1") {
    gives("aten::special_chebyshev_polynomial_u.n_scalar",
          {arg("x", row_of(dtype::float32, {0.25, 1.5, -0.5})), number("n", 40)},
          row_of(dtype::float32, {-0.6131995320320129, 6.130577906755174e+16, -1.000001072883606}));
}

} // namespace aton::tests
