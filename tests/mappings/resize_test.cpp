// SPDX-License-Identifier: MIT
// Rows of the family resize: calls that once had other results than ATen's.
#include <cstdint>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("uint8 pixels at the border have one weight, which is rounded once") {
    gives("aten::upsample_bicubic2d",
          {arg("self", of(dtype::uint8, {1, 1, 5, 4}, {2, 2, 2, 2, 2, 3, 3, 1, 2, 2, 2, 2, 1, 2, 3, 1, 2, 1, 2, 3})),
           numbers("output_size", {7, 6}),
           number("align_corners", false),
           number("scales_h", 1.53125),
           number("scales_w", 1.65625)},
          of(dtype::uint8, {1, 1, 7, 6}, {2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 1, 2, 2, 3, 3, 3, 1, 2, 2, 2,
                                          2, 2, 2, 1, 1, 2, 2, 2, 2, 1, 1, 2, 3, 3, 1, 2, 2, 1, 2, 2, 3}));
}

TEST_CASE("nearest resizing along one axis follows the scale even if the size is equal or doubled") {
    auto const call = [](std::vector<double> const& x, double scale) {
        return std::vector{arg("input", of(dtype::float32, {1, 1, static_cast<std::int64_t>(x.size())}, x)),
                           none("output_size"),
                           numbers("scale_factors", {scale})};
    };
    gives("aten::upsample_nearest1d.vec", call({0, 1, 2, 3}, 1.09375), of(dtype::float32, {1, 1, 4}, {0, 0, 1, 2}));
    gives("aten::upsample_nearest1d.vec",
          call({0, 1, 2, 3, 4}, 2.015625),
          of(dtype::float32, {1, 1, 10}, {0, 0, 0, 1, 1, 2, 2, 3, 3, 4}));
}

TEST_CASE("an axis that keeps its size is not smoothed, whatever its scale") {
    tensor const x = of(dtype::float32, {1, 1, 2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
    gives("aten::_upsample_bilinear2d_aa",
          {arg("self", x),
           numbers("output_size", {2, 4}),
           number("align_corners", false),
           number("scales_h", 0.7),
           number("scales_w", 0.7)},
          x);
}

} // namespace aton::tests
