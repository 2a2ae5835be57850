// SPDX-License-Identifier: MIT
// Rows of the family incomplete_gamma: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("at an edge, the other operand may be NaN, but beside 0 as the first") {
    runtime::aten_argument const first = arg("self", row_of(dtype::float32, {infinity, nan, nan, 0, 0, nan}));
    runtime::aten_argument const second = arg("other", row_of(dtype::float32, {nan, infinity, 0, nan, infinity, 2}));
    gives("aten::igamma", {first, second}, row_of(dtype::float32, {0, 1, 0, nan, 1, nan}));
    gives("aten::igammac", {first, second}, row_of(dtype::float32, {1, 0, 1, nan, 0, nan}));
}

} // namespace aton::tests
