// SPDX-License-Identifier: MIT
// Rows of the family distances: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("powers in distances of float16 do not overflow") {
    gives("aten::pdist",
          {arg("self", of(dtype::float16, {2, 1}, {0, -100})), number("p", 2.5)},
          row_of(dtype::float16, {100}));
}

TEST_CASE("the largest difference is NaN for pdist, and of the other differences for cdist") {
    tensor const x = of(dtype::float32, {2, 2}, {nan, 2, 1, 7});
    gives("aten::pdist", {arg("self", x), number("p", infinity)}, row_of(dtype::float32, {nan}));
    gives("aten::cdist",
          {arg("x1", x), arg("x2", of(dtype::float32, {1, 2}, {1, nan})), number("p", infinity)},
          of(dtype::float32, {2, 1}, {0, 0}));
}

TEST_CASE("the compute_mode of cdist says whether an infinite element makes a product NaN") {
    auto const distances = [](int mode, double expected) {
        gives("aten::cdist",
              {arg("x1", of(dtype::float32, {2, 2}, {4, 2, -3, -infinity})),
               arg("x2", of(dtype::float32, {1, 2}, {1, -2})),
               number("p", 2),
               number("compute_mode", mode)},
              of(dtype::float32, {2, 1}, {5, expected}));
    };
    distances(0, infinity);
    distances(1, nan);
    distances(2, infinity);
}

} // namespace aton::tests
