// SPDX-License-Identifier: MIT
// Object detection: torchvision's nms as NonMaxSuppression, or as a Loop over float64 boxes.
// Public header.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/sorting.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The largest float32 that is not above a number: torchvision compares overlaps in float32 with a threshold in float64.
inline double rounded_down_to_float(double number) {
    auto const nearest = static_cast<float>(number);
    bool const is_above = static_cast<double>(nearest) > number;
    return is_above ? std::nextafter(nearest, -std::numeric_limits<float>::infinity()) : nearest;
}

/// Positions of the boxes that NonMaxSuppression keeps, among float32 boxes in the order of their scores. Corners that
/// are not in order, or NaN, give torchvision an intersection of 0: they become boxes without area, because ONNX takes
/// corners in any order.
inline value kept_positions(graph<11> g, value boxes, double threshold) {
    auto const corner = split(g, boxes, std::array<std::int64_t, 2>{2, 2}, 1);
    value const low = corner[0];
    value const high = corner[1];
    value const in_order = g.op<"Less">(low, high);
    value const zero = g.scalar_like(0, boxes);
    value const corners = g.op<"Concat">(
        safe_vector<value>{choose(g, in_order, low, zero), choose(g, in_order, high, zero)}, attr::axis_i(1));
    sym_int const n = g.size(boxes, 0);
    value const ranks = g.cast(arithmetic_sequence(g, n, n, -1), dtype::float32); // the first box has the best score
    value const triples =
        g.op<"NonMaxSuppression">(unsqueeze(g, corners, 0),
                                  unsqueeze(g, ranks, safe_vector<std::int64_t>{0, 1}),
                                  g.ints({n}),
                                  g.constant({rounded_down_to_float(threshold)}, dtype::float32, {1}));
    return g.op<"Gather">(triples, g.scalar(2, dtype::int64), attr::axis_i(1));
}

/// Whether box i overlaps box j by more than the threshold, [N, N].
inline value overlaps(graph<11> g, value boxes, double threshold) {
    auto const column = split(g, boxes, std::array<std::int64_t, 4>{1, 1, 1, 1}, 1);
    auto const row = [](graph<11> h, value x) -> value { return h.op<"Transpose">(x); };
    value const zero = g.scalar_like(0, boxes);
    auto const extent = [&](value low, value high) -> value {
        value const shared = g.op<"Sub">(min_of(g, high, row(g, high)), max_of(g, low, row(g, low)));
        return max_of(g, shared, zero);
    };
    value const both = g.op<"Mul">(extent(column[0], column[2]), extent(column[1], column[3]));
    value const area = g.op<"Mul">(g.op<"Sub">(column[2], column[0]), g.op<"Sub">(column[3], column[1]));
    value const all = g.op<"Sub">(g.op<"Add">(area, row(g, area)), both);
    return g.op<"Greater">(g.op<"Div">(both, all), g.scalar(threshold, boxes.dtype()));
}

/// The same positions for boxes of float64: each box that is left removes those after it that it overlaps.
inline value kept_positions_by_loop(graph<11> g, value boxes, double threshold) {
    value const matrix = g.cast(overlaps(g, boxes, threshold), dtype::int32);
    sym_int const n = g.size(boxes, 0);
    value const places = arithmetic_sequence(g, 0, n);
    value const all = g.op<"Expand">(g.scalar(1, dtype::int32), g.ints({n}));
    value const kept =
        g.op<"Loop">(g.to_value(n), absent, all, attr::body_g([&](graph<11> h, value i, value on, value left) {
                         value const later = h.cast(h.op<"Greater">(places, i), dtype::int32);
                         value const removed =
                             h.op<"Mul">(h.op<"Mul">(h.op<"Gather">(matrix, i), later), h.op<"Gather">(left, i));
                         return std::tuple(on, h.op<"Mul">(left, h.op<"Sub">(h.scalar(1, dtype::int32), removed)));
                     }));
    return g.op<"Compress">(places, g.cast(kept, dtype::bool_));
}

/// The boxes that no box with a better score overlaps, from the best score to the worst; boxes with equal scores keep
/// their order, and NaN comes first.
inline constexpr auto nms = symbolic<"torchvision::nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor">(
    [](graph<11> g, value dets, value scores, double threshold) -> value {
        if (dets.dtype() != dtype::float32 && dets.dtype() != dtype::float64)
            return g.unsupported("boxes of " + std::string(name(dets.dtype())));
        if (dets.dtype() != scores.dtype()) return g.unsupported("boxes and scores of different dtypes");
        if (!(threshold >= 0 && threshold <= 1)) return g.unsupported("an iou_threshold that is not between 0 and 1");
        if (dets.rank() != 2 || scores.rank() != 1) return g.unsupported("boxes that are not [N, 4]");
        value const order = sorted_indices(g, scores, 0, true);
        value const boxes = g.op<"Gather">(dets, order);
        value const positions = dets.dtype() == dtype::float32 ? kept_positions(g, boxes, threshold)
                                                               : kept_positions_by_loop(g, boxes, threshold);
        return g.op<"Gather">(order, positions);
    });

} // namespace detail

inline constexpr auto detection = table(detail::nms);

} // namespace ATON_NAMESPACE::mappings
