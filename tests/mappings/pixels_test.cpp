// SPDX-License-Identifier: MIT
// Rows of the family pixels: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("pixel_unshuffle of an empty tensor keeps its sizes") {
    tensor const nothing = of(dtype::float32, {2, 5, 6, 0}, {});
    gives("aten::pixel_unshuffle", {arg("self", nothing), number("downscale_factor", 2)}, nothing);
}

} // namespace aton::tests
