// SPDX-License-Identifier: MIT
// Rows of the family convolution: regressions against torch's results.
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

TEST_CASE("the gradients of a transposed convolution whose output padding is not below the stride") {
    auto const gradient = [](std::size_t which, tensor const& expected) {
        gives("aten::convolution_backward",
              {arg("grad_output", of(dtype::float32, {1, 1, 6}, {1, 2, 3, 4, 5, 6})),
               arg("input", of(dtype::float32, {1, 1, 3}, {1, 2, 3})),
               arg("weight", of(dtype::float32, {1, 1, 2}, {1, 10})),
               numbers("bias_sizes", {1}),
               numbers("stride", {1}),
               numbers("padding", {0}),
               numbers("dilation", {2}),
               number("transposed", true),
               numbers("output_padding", {1}),
               number("groups", 1),
               numbers("output_mask", {true, true, true})},
              expected,
              which);
    };
    gradient(0, of(dtype::float32, {1, 1, 3}, {31, 42, 53}));
    gradient(1, of(dtype::float32, {1, 1, 2}, {14, 26}));
    gradient(2, row_of(dtype::float32, {21}));
}

} // namespace aton::tests
