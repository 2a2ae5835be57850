// SPDX-License-Identifier: MIT
// Rows of the family detection: overlaps at the threshold, corners that are not in order, ties and NaN among scores.
#include "row_results.hpp"

namespace aton::tests {

namespace {

void keeps(dtype type, std::vector<double> const& boxes, std::vector<double> const& scores, double threshold,
           std::vector<double> const& kept) {
    auto const n = static_cast<std::int64_t>(scores.size());
    gives(
        "torchvision::nms",
        {arg("dets", of(type, {n, 4}, boxes)), arg("scores", row_of(type, scores)), number("iou_threshold", threshold)},
        row_of(dtype::int64, kept));
}

} // namespace

TEST_CASE("an overlap is compared with a threshold in float64, although it is float32") {
    std::vector<double> const boxes = {0, 0, 3, 10, 0, 0, 10, 10}; // an overlap of 0.3, as a float32 above 0.3
    keeps(dtype::float32, boxes, {0.5, 0.4}, 0.3, {0});
    keeps(dtype::float64, boxes, {0.5, 0.4}, 0.3, {0, 1});
}

TEST_CASE("boxes with corners that are not in order, or NaN, overlap nothing") {
    std::vector<double> const boxes = {0, 0, 4, 4, 4, 4, 0, 0, 4, 0, 0, 4, nan, 0, 4, 4, 0, 0, 4, 4};
    for (dtype const type : {dtype::float32, dtype::float64})
        keeps(type, boxes, {0.9, 0.8, 0.7, 0.6, 0.5}, 0.4, {0, 1, 2, 3});
}

TEST_CASE("equal scores keep their order, and NaN comes first") {
    std::vector<double> const boxes = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    for (dtype const type : {dtype::float32, dtype::float64})
        keeps(type, boxes, {0.5, infinity, nan, 0.5}, 0.5, {2, 1, 0, 3});
}

TEST_CASE("thresholds that NonMaxSuppression does not take are refused") {
    for (double const threshold : {-0.1, 1.5, nan})
        CHECK(contains(refusal("torchvision::nms",
                               {arg("dets", of(dtype::float32, {1, 4}, {0, 0, 1, 1})),
                                arg("scores", row_of(dtype::float32, {1})),
                                number("iou_threshold", threshold)}),
                       "between 0 and 1"));
}

} // namespace aton::tests
