// SPDX-License-Identifier: MIT
// Rows of the family regions: regions without area, pixels that are not finite, and what is refused.
#include "row_results.hpp"

namespace aton::tests {

namespace {

std::vector<runtime::aten_argument> region(tensor const& input, std::vector<double> const& corners) {
    std::vector<double> roi = {0};
    roi.insert(roi.end(), corners.begin(), corners.end());
    return {arg("input", input),
            arg("rois", of(input.dtype(), {1, 5}, roi)),
            number("spatial_scale", 1.0),
            number("pooled_height", 1),
            number("pooled_width", 1)};
}

tensor pixels(std::vector<double> const& all) { return of(dtype::float32, {1, 1, 2, 2}, all); }

} // namespace

TEST_CASE("roi_pool never finds NaN, and nothing below the lowest number") {
    double const lowest = -3.4028234663852886e38;
    gives(
        "torchvision::roi_pool", region(pixels({nan, 2, 1, nan}), {0, 0, 1, 1}), of(dtype::float32, {1, 1, 1, 1}, {2}));
    gives("torchvision::roi_pool",
          region(pixels({nan, 2, 1, nan}), {0, 0, 1, 1}),
          of(dtype::int32, {1, 1, 1, 1}, {1}),
          1);
    gives("torchvision::roi_pool",
          region(pixels({nan, -infinity, nan, nan}), {0, 0, 1, 1}),
          of(dtype::float32, {1, 1, 1, 1}, {lowest}));
    gives("torchvision::roi_pool",
          region(pixels({nan, -infinity, nan, nan}), {0, 0, 1, 1}),
          of(dtype::int32, {1, 1, 1, 1}, {-1}),
          1);
}

TEST_CASE("coordinates are rounded half away from zero") {
    // The largest float32 below 1/2 is 0, although their sum with 1/2 is 1.
    gives("torchvision::roi_pool",
          region(pixels({1, 2, 3, 4}), {0, 0, 0.49999997, 0.49999997}),
          of(dtype::float32, {1, 1, 1, 1}, {1}));
    gives(
        "torchvision::roi_pool", region(pixels({1, 2, 3, 4}), {0, 0, 0.5, 0.5}), of(dtype::float32, {1, 1, 1, 1}, {4}));
}

TEST_CASE("the mean of no samples is NaN in ps_roi_align and 0 in roi_align") {
    std::vector<runtime::aten_argument> arguments = region(pixels({1, 2, 3, 4}), {1, 1, 1, 1});
    arguments.push_back(number("sampling_ratio", -1));
    gives("torchvision::ps_roi_align", arguments, of(dtype::float32, {1, 1, 1, 1}, {nan}));
    arguments.push_back(number("aligned", true));
    gives("torchvision::roi_align", arguments, of(dtype::float32, {1, 1, 1, 1}, {0}));
}

TEST_CASE("half precision, in which torchvision computes positions, is refused") {
    tensor const input = runtime::cast(pixels({1, 2, 3, 4}), dtype::float16);
    CHECK(contains(refusal("torchvision::roi_pool", region(input, {0, 0, 1, 1})), "float16"));
}

} // namespace aton::tests
