// SPDX-License-Identifier: MIT
// Rows of the family cumulative: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a trapezoid of a large step does not overflow on the way") {
    gives("aten::cumulative_trapezoid.dx",
          {arg("y", row_of(dtype::float64, {1, 1, 1})), number("dx", 6e307)},
          row_of(dtype::float64, {6e307, 1.2e308}));
}

TEST_CASE("the trapezoid rule with equal steps weights the ends by one half") {
    gives("aten::trapezoid.dx",
          {arg("y", row_of(dtype::float32, {infinity, 1, 2})), number("dx", 1)},
          of(dtype::float32, {}, {nan}));
    gives("aten::trapezoid.dx",
          {arg("y", row_of(dtype::int64, {1, 3, 7})), number("dx", 0.5)},
          of(dtype::float32, {}, {3.5}));
}

TEST_CASE("a step beyond the range of float16 is not rounded to infinity") {
    gives("aten::trapezoid.dx",
          {arg("y", row_of(dtype::float16, {0, 0})), number("dx", 1e5)},
          of(dtype::float16, {}, {0}));
    gives("aten::cumulative_trapezoid.dx",
          {arg("y", row_of(dtype::float16, {1e-4, 2e-4})), number("dx", 4e5)},
          row_of(dtype::float16, {60}));
}

TEST_CASE("sums of complex numbers are added one after another, as those of reals") {
    gives(
        "aten::cumsum",
        {arg("self", of(dtype::float32, {4, 2}, {2.75, 0, -3e38, 1, 3e38, 2, 0.5, 4}).from_pairs()), number("dim", -1)},
        of(dtype::float32, {4, 2}, {2.75, 0, -3e38, 1, 0, 3, 0.5, 7}).from_pairs());
}

TEST_CASE("areas under complex points with an infinite dx are infinite, and with an infinite x NaN") {
    tensor const y = of(dtype::float32, {2, 2}, {3, 2, -4, -3}).from_pairs();
    gives("aten::trapz.dx",
          {arg("y", y), number("dx", infinity)},
          of(dtype::float32, {2}, {-infinity, -infinity}).from_pairs());
    gives("aten::cumulative_trapezoid.dx",
          {arg("y", y), number("dx", infinity)},
          of(dtype::float32, {1, 2}, {-infinity, -infinity}).from_pairs());
    gives("aten::trapz.x",
          {arg("y", y), arg("x", row_of(dtype::float32, {0, infinity}))},
          of(dtype::float32, {2}, {nan, nan}).from_pairs());
}

} // namespace aton::tests
