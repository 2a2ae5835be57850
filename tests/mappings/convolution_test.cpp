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

TEST_CASE("the gradients of conv_tbc, with and without padding") {
    auto const gradient = [](std::size_t which, tensor const& expected) {
        gives("aten::conv_tbc_backward",
              {arg("self", of(dtype::float32, {4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})),
               arg("input", of(dtype::float32, {3, 1, 1}, {1, 2, 3})),
               arg("weight", of(dtype::float32, {2, 1, 2}, {1, -1, 2, 3})),
               arg("bias", row_of(dtype::float64, {0, 0})),
               number("pad", 1)},
              expected,
              which);
    };
    gradient(0, of(dtype::float32, {3, 1, 1}, {7, 17, 27}));
    gradient(1, of(dtype::float32, {2, 1, 2}, {34, 40, 22, 28}));
    gradient(2, row_of(dtype::float64, {16, 20}));
    gives("aten::conv_tbc_backward",
          {arg("self", of(dtype::float32, {1, 2, 1}, {1, 2})),
           arg("input", of(dtype::float32, {1, 2, 2}, {1, 2, 3, 4})),
           arg("weight", of(dtype::float32, {1, 2, 1}, {1, -1})),
           arg("bias", row_of(dtype::float32, {0})),
           number("pad", 0)},
          of(dtype::float32, {1, 2, 2}, {1, -1, 2, -2}));
}

TEST_CASE("an infinite gradient does not meet the padding of conv_tbc") {
    auto const gradient = [](std::vector<double> const& self, std::vector<double> const& weight, long long pad) {
        auto const along = [](std::vector<double> const& all) {
            return of(dtype::float32, {static_cast<std::int64_t>(all.size()), 1, 1}, all);
        };
        return std::vector<runtime::aten_argument>{
            arg("self", along(self)),
            arg("input", along(weight.size() == 1 ? std::vector<double>{3} : std::vector<double>{1, 2, 3})),
            arg("weight", along(weight)),
            arg("bias", row_of(dtype::float32, {0})),
            number("pad", pad)};
    };
    auto const overlapping = gradient({infinity, 2, 3, 4}, {1, -1}, 1);
    gives("aten::conv_tbc_backward", overlapping, of(dtype::float32, {3, 1, 1}, {-infinity, 1, 1}));
    gives("aten::conv_tbc_backward", overlapping, of(dtype::float32, {2, 1, 1}, {20, infinity}), 1);
    gives("aten::conv_tbc_backward", gradient({1, 2, 4, 8, infinity}, {1}, 2), of(dtype::float32, {1, 1, 1}, {12}), 1);
}

TEST_CASE("a convolution without input channels has no output channels") {
    gives("aten::conv1d",
          {arg("input", of(dtype::float32, {2, 0, 5}, {})),
           arg("weight", of(dtype::float32, {3, 0, 3}, {})),
           arg("bias", row_of(dtype::float32, {1, 2, 3})),
           numbers("stride", {1}),
           numbers("padding", {0}),
           numbers("dilation", {1}),
           number("groups", 1)},
          of(dtype::float32, {2, 0, 3}, {}));
    // ATen calls the kernel of a dilated convolution itself, which adds the bias to sums over nothing.
    gives("aten::slow_conv_dilated2d",
          {arg("self", of(dtype::float32, {1, 0, 2, 4}, {})),
           arg("weight", of(dtype::float32, {2, 0, 1, 3}, {})),
           numbers("kernel_size", {1, 3}),
           arg("bias", row_of(dtype::float32, {1, -2})),
           numbers("stride", {2, 1}),
           numbers("padding", {0, 0}),
           numbers("dilation", {1, 1})},
          of(dtype::float32, {1, 2, 1, 2}, {1, 1, -2, -2}));
}

TEST_CASE("a fused convolution adds bias and alpha * z before Relu, and rounds once") {
    tensor const x = of(dtype::float32, {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
    tensor const weight = of(dtype::float32, {2, 1, 1, 2}, {1, -2, -1, 1});
    gives("aten::cudnn_convolution_relu",
          {arg("self", x),
           arg("weight", weight),
           none("bias"),
           numbers("stride", {1, 1}),
           numbers("padding", {0, 0}),
           numbers("dilation", {1, 1}),
           number("groups", 1)},
          of(dtype::float32, {1, 2, 2, 2}, {0, 0, 0, 0, 1, 1, 1, 1}));
    auto const sum =
        [](tensor input, tensor kernel, tensor z, runtime::aten_argument alpha, runtime::aten_argument bias) {
            return std::vector<runtime::aten_argument>{arg("self", std::move(input)),
                                                       arg("weight", std::move(kernel)),
                                                       arg("z", std::move(z)),
                                                       std::move(alpha),
                                                       std::move(bias),
                                                       numbers("stride", {1, 1}),
                                                       numbers("padding", {0, 0}),
                                                       numbers("dilation", {1, 1}),
                                                       number("groups", 1)};
        };
    tensor const z = of(dtype::float32, {1, 2, 2, 2}, {1, 2, 3, 4, -1, -2, -3, infinity});
    gives("aten::cudnn_convolution_add_relu",
          sum(x, weight, z, number("alpha", 0.5), arg("bias", row_of(dtype::float32, {10, 0.5}))),
          of(dtype::float32, {1, 2, 2, 2}, {7.5, 7, 5.5, 5, 1, 0.5, 0, infinity}));
    gives("aten::cudnn_convolution_add_relu",
          sum(x, weight, z, none("alpha"), none("bias")),
          of(dtype::float32, {1, 2, 2, 2}, {0, 0, 0, 0, 0, 0, 0, infinity}));
    tensor const one = of(dtype::float16, {1, 1, 1, 1}, {1});
    gives("aten::cudnn_convolution_add_relu",
          sum(of(dtype::float16, {1, 1, 1, 1}, {2048}),
              one,
              one,
              none("alpha"),
              arg("bias", row_of(dtype::float16, {1}))),
          of(dtype::float16, {1, 1, 1, 1}, {2050}));
    CHECK(contains(refusal("aten::cudnn_convolution_add_relu", sum(x, weight, one, none("alpha"), none("bias"))),
                   "a z whose sizes are not those of the result"));
}

} // namespace aton::tests
