// SPDX-License-Identifier: MIT
// pytorch3d: a Loop that collects one value in each iteration and runs as often as the data says.
#pragma once

#include <cstdint>
#include <limits>
#include <tuple>

#include <aton/aton.hpp>

namespace pytorch3d {

using namespace aton::dsl;

inline value unsqueezed(graph<13> g, value x, std::int64_t axis) { return g.op<"Unsqueeze">(x, g.ints({axis})); }

// [n, i]: whether place i of cloud n holds a point.
inline value holds_point(graph<13> g, value points, value lengths) {
    return g.op<"Less">(g.op<"Range">(0, g.size(points, 1), 1), unsqueezed(g, lengths, 1));
}

inline value squared_distances(graph<13> g, value a, value b) {
    value const offsets = g.op<"Sub">(a, b);
    return g.op<"ReduceSum">(g.op<"Mul">(offsets, offsets), g.ints({-1}), attr::keepdims_i(0));
}

inline constexpr auto ball_query =
    symbolic<"pytorch3d::ball_query(Tensor p1, Tensor p2, Tensor lengths1, Tensor lengths2, int K, float radius) "
             "-> (Tensor, Tensor)">([](graph<13> g, value p1, value p2, value lengths1, value lengths2, std::int64_t k,
                                       double radius) -> std::tuple<value, value> {
        // Squared distances, [n, i, j], and which of them count.
        value const squares = squared_distances(g, unsqueezed(g, p1, 2), unsqueezed(g, p2, 1));
        value const exists =
            g.op<"And">(unsqueezed(g, holds_point(g, p1, lengths1), 2), unsqueezed(g, holds_point(g, p2, lengths2), 1));
        value const is_near = g.op<"And">(exists, g.op<"Less">(squares, radius * radius));
        // Those that count come first, in their order; at the end are K places without a point.
        size const count = g.size(p2, 1);
        value const place = g.op<"Range">(0, count, 1);
        value const order = g.op<"Where">(is_near, place, count);
        value const pads = g.ints({0, 0, 0, 0, 0, k});
        value const padded = g.op<"Pad">(order, pads, g.to_value(count));
        auto const [first, at] = g.op<"TopK">(padded, g.ints({k}), attr::axis_i(-1), attr::largest_i(0), outputs<2>);
        value const is_found = g.op<"Less">(first, count);
        value const distance = g.op<"GatherElements">(g.op<"Pad">(squares, pads), at, attr::axis_i(-1));
        return {g.op<"Where">(is_found, first, -1), g.op<"Where">(is_found, distance, 0)};
    });

inline constexpr auto sample_farthest_points =
    symbolic<"pytorch3d::sample_farthest_points(Tensor points, Tensor lengths, Tensor K, Tensor start_idxs) -> Tensor">(
        [](graph<13> g, value points, value lengths, value k, value start) -> value {
            value const least = g.scalar_like(-1, points);
            value const far = g.scalar_like(std::numeric_limits<double>::infinity(), points);
            // Places without a point are never the farthest.
            value const nearest = g.op<"Where">(holds_point(g, points, lengths), far, least);
            value const steps = g.op<"ReduceMax">(k, attr::keepdims_i(0));
            auto const [distances, last, picked] =
                g.op<"Loop">(steps,
                             absent,
                             nearest,
                             g.cast<dtype::int64>(start),
                             outputs<3>,
                             attr::body_g([&](graph<13> b, value, value go_on, value before, value at) {
                                 value const point =
                                     b.op<"GatherND">(points, unsqueezed(b, at, 1), attr::batch_dims_i(1));
                                 value const distance = squared_distances(b, points, unsqueezed(b, point, 1));
                                 value const now = b.op<"Min">(before, distance);
                                 value const next = b.op<"ArgMax">(now, attr::axis_i(1), attr::keepdims_i(0));
                                 return std::tuple(go_on, now, next, at);
                             }));
            value const by_cloud = g.op<"Transpose">(picked, attr::perm_i({1, 0}));
            value const wanted = unsqueezed(g, g.op<"Min">(k, lengths), 1);
            value const step = g.op<"Range">(g.scalar(0, dtype::int64), steps, g.scalar(1, dtype::int64));
            return g.op<"Where">(g.op<"Less">(step, wanted), by_cloud, -1);
        });

inline constexpr auto mappings = table(ball_query, sample_farthest_points);

} // namespace pytorch3d
