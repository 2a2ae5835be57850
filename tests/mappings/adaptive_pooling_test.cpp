// SPDX-License-Identifier: MIT
// Rows of the family adaptive_pooling: regressions against torch's results.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the maximum of a plane with NaN is NaN, and its index that of the last") {
    std::vector<runtime::aten_argument> const whole = {arg("self", of(dtype::float32, {1, 1, 2, 2}, {3, nan, nan, 7})),
                                                       numbers("output_size", {1, 1})};
    gives("aten::adaptive_max_pool2d", whole, of(dtype::float32, {1, 1, 1, 1}, {nan}));
    gives("aten::adaptive_max_pool2d", whole, of(dtype::int64, {1, 1, 1, 1}, {2}), 1);
}

} // namespace aton::tests
