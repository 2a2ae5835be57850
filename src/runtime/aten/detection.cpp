// SPDX-License-Identifier: MIT
// Operators of torchvision: non-maximum suppression.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <aton/core/error.hpp>

#include "libraries.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

template <class T>
bool overlap(T const* a, T const* b, double threshold) {
    auto const area = [](T const* box) { return (box[2] - box[0]) * (box[3] - box[1]); };
    T const width = std::max(T{0}, std::min(a[2], b[2]) - std::max(a[0], b[0]));
    T const height = std::max(T{0}, std::min(a[3], b[3]) - std::max(a[1], b[1]));
    T const both = width * height;
    return static_cast<double>(both / (area(a) + area(b) - both)) > threshold;
}

template <class T>
tensor kept(tensor const& boxes, tensor const& scores, double threshold) {
    T const* const score = scores.data<T const>();
    std::vector<std::int64_t> order(static_cast<std::size_t>(scores.count()));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return score[a] > score[b] || (std::isnan(score[a]) && !std::isnan(score[b]));
    });
    std::vector<std::int64_t> out;
    for (std::int64_t const i : order) {
        bool const stays = std::none_of(out.begin(), out.end(), [&](std::int64_t other) {
            return overlap(boxes.data<T const>() + other * 4, boxes.data<T const>() + i * 4, threshold);
        });
        if (stays) out.push_back(i);
    }
    return tensor::of_integers(out);
}

results nms(call const& c) {
    tensor const boxes = contiguous(to_host(c.t("dets")));
    tensor const scores = contiguous(to_host(c.t("scores")));
    if (boxes.rank() != 2 || boxes.size(1) != 4 || scores.rank() != 1 || scores.size(0) != boxes.size(0))
        throw error("expected boxes [N, 4] and scores [N]");
    if (boxes.dtype() != scores.dtype()) throw error("boxes and scores differ in dtype");
    double const threshold = c.f("iou_threshold");
    if (boxes.dtype() == dtype::float32) return to_device(kept<float>(boxes, scores, threshold), c.where());
    if (boxes.dtype() == dtype::float64) return to_device(kept<double>(boxes, scores, threshold), c.where());
    throw error("boxes are float32 or float64");
}

} // namespace

rows detection() {
    static constexpr row all[] = {
        {"torchvision::nms", nms},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
