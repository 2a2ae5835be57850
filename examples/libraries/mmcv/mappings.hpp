// SPDX-License-Identifier: MIT
// mmcv: sizes that are the elements of a tensor, a built-in mapping that a row calls as ATen is called, a result that an argument holds.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include <aton/aton.hpp>
#include <aton/dsl/call_aten.hpp>
#include <aton/mappings/sampling.hpp>

namespace mmcv {

using namespace aton::dsl;

// An element of a tensor of sizes: a constant if the tensor is one, otherwise computed.
inline size element(graph<16> g, value sizes, std::int64_t place) {
    if (sizes.is_constant()) return sizes.constant().at(static_cast<std::size_t>(place)).to<std::int64_t>();
    return size(g.op<"Gather">(g.op<"Reshape">(sizes, g.ints({-1})), g.scalar(place, dtype::int64)));
}

// Puts the heads into the batch: from (batch, queries, heads, points, 2) to (batch * heads, queries, points, 2).
inline value by_head(graph<16> g, value x, std::vector<size> const& shape) {
    std::array<std::int64_t, 5> const order = {0, 2, 1, 3, 4};
    return g.op<"Reshape">(g.op<"Transpose">(x, attr::perm_i(order)), g.ints(shape));
}

// One of the levels in dimension 3.
inline value of_level(graph<16> g, value x, std::int64_t level) {
    return g.op<"Gather">(x, g.scalar(level, dtype::int64), attr::axis_i(3));
}

inline constexpr auto ms_deform_attn_forward =
    symbolic<"mmcv::ms_deform_attn_forward(Tensor value, Tensor value_spatial_shapes, Tensor value_level_start_index, "
             "Tensor sampling_locations, Tensor attention_weights, int im2col_step) -> Tensor">(
        [](graph<16> g, value features, value spatial_shapes, value level_starts, value locations, value weights,
           std::int64_t /*im2col_step*/) -> value {
            size const heads = g.size(features, 2), channels = g.size(features, 3), queries = g.size(locations, 1);
            size const points = g.size(locations, 4), images = g.size(features, 0) * heads;
            value const grid = g.op<"Sub">(g.op<"Mul">(locations, 2), 1);
            optional_value sum;
            std::int64_t const levels = g.size(level_starts, 0).constant(); // refuses an unknown number of levels
            for (std::int64_t level = 0; level < levels; ++level) {
                size const height = element(g, spatial_shapes, 2 * level),
                           width = element(g, spatial_shapes, 2 * level + 1);
                size const begin = element(g, level_starts, level);
                value const places =
                    g.op<"Slice">(features, g.ints({begin}), g.ints({begin + height * width}), g.ints({1}));
                value const image = g.op<"Reshape">(g.op<"Transpose">(places, attr::perm_i({0, 2, 3, 1})),
                                                    g.ints({images, channels, height, width}));
                value const at = by_head(g, of_level(g, grid, level), {images, queries, points, 2});
                // bilinear, zeros outside, corners not aligned
                value const seen = call_aten<"aten::grid_sampler">(aton::mappings::sampling, g, image, at, 0, 0, false);
                value const weight = by_head(
                    g, g.op<"Unsqueeze">(of_level(g, weights, level), g.ints({4})), {images, 1, queries, points});
                value const part = g.op<"ReduceSum">(g.op<"Mul">(seen, weight), g.ints({3}), attr::keepdims_i(0));
                sum = sum ? value(g.op<"Add">(*sum, part)) : part;
            }
            if (!sum) return g.unsupported("no levels");
            value const joined = g.op<"Reshape">(*sum, g.ints({g.size(features, 0), heads * channels, queries}));
            return g.op<"Transpose">(joined, attr::perm_i({0, 2, 1}));
        });

inline constexpr auto sigmoid_focal_loss_forward =
    symbolic<"mmcv::sigmoid_focal_loss_forward(Tensor input, Tensor target, Tensor weight, "
             "Tensor(a!) output, float gamma, float alpha) -> ()">([](graph<13> g, value input, value target,
                                                                      value weight, value /*output*/, double gamma,
                                                                      double alpha) -> value {
        value const p = g.op<"Sigmoid">(input);
        value const q = g.op<"Sub">(1, p);
        auto const side = [&](value likely, value unlikely, double factor) -> value {
            value const log = g.op<"Log">(g.op<"Clip">(likely, std::numeric_limits<float>::min()));
            value const focus = g.op<"Pow">(unlikely, g.scalar_like(gamma, unlikely));
            return g.op<"Mul">(g.op<"Mul">(focus, log), -factor);
        };
        value const classes = g.op<"Range">(0, g.size(input, 1), 1);
        value const is_target = g.op<"Equal">(g.op<"Unsqueeze">(target, g.ints({1})), classes);
        value const y = g.op<"Where">(is_target, side(p, q, alpha), side(q, p, 1 - alpha));
        if (g.size(weight, 0).constant() == 0) return y; // no weights; whether there are any must be known
        return g.op<"Mul">(y, g.op<"Unsqueeze">(g.op<"Gather">(weight, target), g.ints({1})));
    });

inline constexpr auto mappings = table(ms_deform_attn_forward, sigmoid_focal_loss_forward);

} // namespace mmcv
