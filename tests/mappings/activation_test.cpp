// SPDX-License-Identifier: MIT
// Rows of the family activation: calls that once had other results than ATen's.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("infinities and NaN as arguments of activations") {
    auto const x = [](std::vector<double> const& values) { return arg("self", row_of(dtype::float32, values)); };
    gives("aten::elu", {x({0, -1, 2}), number("alpha", infinity)}, row_of(dtype::float32, {0, -infinity, 2}));
    gives("aten::leaky_relu",
          {x({0, -1, 2}), number("negative_slope", infinity)},
          row_of(dtype::float32, {nan, -infinity, 2}));
    gives("aten::threshold",
          {x({0.5, nan}), number("threshold", nan), number("value", -1)},
          row_of(dtype::float32, {0.5, nan}));
    gives("aten::hardtanh", {x({1, 9}), number("min_val", 5), number("max_val", 2)}, row_of(dtype::float32, {2, 2}));
    gives("aten::softplus",
          {arg("self", row_of(dtype::float16, {0})), number("beta", -(1LL << 40))},
          row_of(dtype::float16, {0}));
}

TEST_CASE("softplus keeps numbers whose product with beta overflows") {
    gives("aten::softplus",
          {arg("self", row_of(dtype::float32, {-3e38})), number("beta", -3)},
          row_of(dtype::float32, {-3e38}));
}

} // namespace aton::tests
