// SPDX-License-Identifier: MIT
// Rows of the family convolution: calls that once had other results than ATen's.
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("an integer convolution whose windows would exhaust memory is refused") {
    std::vector<runtime::aten_argument> call = {arg("input", of(dtype::int64, {1, 1, 5}, {1, 2, 3, 4, 5})),
                                                arg("weight", of(dtype::int64, {1, 1, 3}, {1, 2, 3})),
                                                none("bias"),
                                                numbers("stride", {3}),
                                                numbers("padding", {1LL << 40}),
                                                numbers("dilation", {1}),
                                                number("groups", 1)};
    CHECK(contains(refusal("aten::conv1d", call), "a table of windows of 2199023255556 elements"));
    call[3] = numbers("stride", {1LL << 40});
    call[4] = numbers("padding", {0});
    call.push_back(numbers("output_padding", {0}));
    CHECK(contains(refusal("aten::conv_transpose1d", call), "a table of windows of 13194139533321 elements"));
}

} // namespace aton::tests
