// SPDX-License-Identifier: MIT
// Rows of the family resize_backward: regressions against torch's results.
#include <utility>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

using arguments = std::vector<runtime::aten_argument>;

/// The arguments of a gradient along the last axis of a row of numbers; `more` are those after input_size.
arguments along_row(std::vector<double> const& gradient, long long in, arguments more) {
    auto const out = static_cast<long long>(gradient.size());
    arguments all{arg("grad_output", of(dtype::float32, {1, 1, 1, out}, gradient)),
                  numbers("output_size", {1, out}),
                  numbers("input_size", {1, 1, 1, in})};
    for (auto& each : more) all.push_back(std::move(each));
    return all;
}

/// The same without a height.
arguments along_line(std::vector<double> const& gradient, long long in, arguments more) {
    arguments all = along_row(gradient, in, std::move(more));
    auto const out = static_cast<long long>(gradient.size());
    all[0] = arg("grad_output", of(dtype::float32, {1, 1, out}, gradient));
    all[1] = numbers("output_size", {out});
    all[2] = numbers("input_size", {1, 1, in});
    return all;
}

} // namespace

TEST_CASE("the gradient of nearest ignores the factor of an axis that doubles, with one axis too") {
    std::vector<double> const gradient{1, 2, 4, 8, 16, 32};
    gives("aten::upsample_nearest1d_backward",
          along_line(gradient, 3, {number("scales", 1.3)}),
          of(dtype::float32, {1, 1, 3}, {3, 12, 48}));
    gives("aten::upsample_nearest1d_backward",
          along_line(gradient, 6, {number("scales", 1.3)}),
          of(dtype::float32, {1, 1, 6}, gradient));
    gives("aten::upsample_nearest2d_backward",
          along_row(gradient, 4, {none("scales_h"), number("scales_w", 1.3)}),
          of(dtype::float32, {1, 1, 1, 4}, {3, 4, 8, 48}));
    gives("aten::_upsample_nearest_exact1d_backward",
          along_line(gradient, 3, {number("scales", 1.3)}),
          of(dtype::float32, {1, 1, 3}, {1, 6, 56}));
}

TEST_CASE("elements that no output reads have the gradient 0") {
    gives("aten::upsample_nearest1d_backward",
          along_line({1, 2}, 5, {none("scales")}),
          of(dtype::float32, {1, 1, 5}, {1, 0, 2, 0, 0}));
}

TEST_CASE("infinite gradients and NaN reach only the elements that were read") {
    gives("aten::upsample_nearest2d_backward",
          {arg("grad_output", of(dtype::float32, {1, 1, 2, 3}, {1, infinity, 4, 8, 16, nan})),
           numbers("output_size", {2, 3}),
           numbers("input_size", {1, 1, 1, 4}),
           none("scales_h"),
           none("scales_w")},
          of(dtype::float32, {1, 1, 1, 4}, {9, infinity, nan, 0}));
    gives("aten::_upsample_nearest_exact2d_backward",
          {arg("grad_output", of(dtype::float32, {1, 1, 2, 3}, {1, infinity, 4, 8, 16, 32})),
           numbers("output_size", {2, 3}),
           numbers("input_size", {1, 1, 3, 2}),
           none("scales_h"),
           number("scales_w", 0.75)},
          of(dtype::float32, {1, 1, 3, 2}, {1, infinity, 0, 0, 8, 48}));
    gives("aten::upsample_linear1d_backward",
          along_line({infinity, 2, 3}, 6, {number("align_corners", false), none("scales")}),
          of(dtype::float32, {1, 1, 6}, {infinity, infinity, 1, 1, 1.5, 1.5}));
    gives("aten::upsample_bicubic2d_backward",
          along_row({1, infinity}, 2, {number("align_corners", false), none("scales_h"), number("scales_w", 1.5)}),
          of(dtype::float32, {1, 1, 1, 2}, {1, infinity}));
}

TEST_CASE("gradients of bilinear interpolation: corners, factors, and an axis that grows while the other shrinks") {
    auto const call = [](long long height, long long width, bool align_corners) {
        return arguments{arg("grad_output", of(dtype::float32, {1, 1, 2, 3}, {1, 2, 4, 8, 16, 32})),
                         numbers("output_size", {2, 3}),
                         numbers("input_size", {1, 1, height, width}),
                         number("align_corners", align_corners),
                         none("scales_h"),
                         none("scales_w")};
    };
    gives("aten::upsample_bilinear2d_backward",
          call(4, 2, false),
          of(dtype::float32, {1, 1, 4, 2}, {1, 2.5, 1, 2.5, 8, 20, 8, 20}));
    gives("aten::upsample_bilinear2d_backward",
          call(4, 5, true),
          of(dtype::float32, {1, 1, 4, 5}, {1, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 16, 0, 32}));
    auto const with_factor = [](double factor) {
        return along_row(
            {1, 2, 4, 8}, 2, {number("align_corners", false), none("scales_h"), number("scales_w", factor)});
    };
    gives("aten::upsample_bilinear2d_backward", with_factor(1.6), of(dtype::float32, {1, 1, 1, 2}, {2.125, 12.875}));
    gives("aten::upsample_bilinear2d_backward", with_factor(2), of(dtype::float32, {1, 1, 1, 2}, {3.5, 11.5}));
    gives("aten::upsample_bicubic2d_backward",
          {arg("grad_output", of(dtype::float64, {1, 1, 1, 3}, {1, 2, 4})),
           numbers("output_size", {1, 3}),
           numbers("input_size", {1, 1, 1, 2}),
           number("align_corners", false),
           none("scales_h"),
           none("scales_w")},
          of(dtype::float64, {1, 1, 1, 2}, {1.7395833333333313, 5.260416666666669}));
}

TEST_CASE("gradients of half precision are added in float32") {
    gives("aten::upsample_nearest1d_backward",
          {arg("grad_output", of(dtype::float16, {1, 1, 3}, {2048, 1, 1})),
           numbers("output_size", {3}),
           numbers("input_size", {1, 1, 1}),
           none("scales")},
          of(dtype::float16, {1, 1, 1}, {2050}));
}

TEST_CASE("a gradient that is not that of the result is refused") {
    arguments call = along_line({1, 2, 3}, 2, {none("scales")});
    call[1] = numbers("output_size", {4});
    CHECK(contains(refusal("aten::upsample_nearest1d_backward", call), "not those of the result"));
    call = along_line({1, 2, 3}, 2, {none("scales")});
    call[2] = numbers("input_size", {2, 1, 2});
    CHECK(contains(refusal("aten::upsample_nearest1d_backward", call), "not those of the result"));
}

} // namespace aton::tests
