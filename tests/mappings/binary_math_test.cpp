// SPDX-License-Identifier: MIT
// Rows of the family binary_math: regressions against torch's results.
#include <limits>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("nextafter at zeros, powers of two, the largest numbers, infinities and NaN") {
    double const least = 0x1p-149;
    double const largest = 3.4028234663852886e38;
    gives("aten::nextafter",
          {arg("self",
               row_of(dtype::float32, {1, 1, 0, 0, infinity, -infinity, largest, 1, nan, 1, least, 0x1p-126, -least})),
           arg("other", row_of(dtype::float32, {2, 0, 1, -1, 0, 0, infinity, nan, 1, 1, 0, 0, 0}))},
          row_of(dtype::float32,
                 {0x1.000002p0,
                  0x1.fffffep-1,
                  least,
                  -least,
                  largest,
                  -largest,
                  infinity,
                  nan,
                  nan,
                  1,
                  0,
                  0x1.fffffcp-127,
                  0}));
    gives("aten::nextafter",
          {arg("self", row_of(dtype::float64, {1, 1, 0, 0x1p-1022, infinity, 0x1.fffffffffffffp1023, 1e300})),
           arg("other", row_of(dtype::float64, {2, 0, -1, 0, 0, infinity, 0}))},
          row_of(dtype::float64,
                 {0x1.0000000000001p0,
                  0x1.fffffffffffffp-1,
                  -0x1p-1074,
                  0x0.fffffffffffffp-1022,
                  0x1.fffffffffffffp1023,
                  infinity,
                  9.999999999999999e299}));
}

TEST_CASE("the number after an infinity in the direction of the other is the largest finite one") {
    constexpr double inf = std::numeric_limits<double>::infinity();
    gives("aten::nextafter",
          {arg("self", row_of(dtype::float32, {inf, -inf})), arg("other", row_of(dtype::float32, {-inf, inf}))},
          row_of(dtype::float32, {0x1.fffffep127, -0x1.fffffep127}));
}

} // namespace aton::tests
