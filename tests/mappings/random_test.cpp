// SPDX-License-Identifier: MIT
// Rows of the family random: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the dropout mask of an empty tensor has the dtype of the input") {
    tensor const nothing = of(dtype::float32, {0, 2}, {});
    gives("aten::native_dropout", {arg("input", nothing), number("p", 0.5), number("train", true)}, nothing, 1);
}

} // namespace aton::tests
