// SPDX-License-Identifier: MIT
// Finds weights that a graph dequantizes by arithmetic.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// A weight as (numbers - zero_points) * scales, all of the same sizes.
struct affine_weight {
    tensor numbers; ///< integers of 8 to 64 bits
    std::vector<float> scales;
    std::vector<float> zero_points;
    bool is_scaled = false;      ///< whether a product was taken, after which nothing can be subtracted
    dtype type = dtype::float32; ///< in which it is computed: float16 rounds the products
};

/// Where scales and zero points change: by index of an axis, or by blocks along it.
struct scale_layout {
    std::optional<std::int64_t> axis; ///< nothing: they are all the same
    std::int64_t block = 0;           ///< 0: one for each index of the axis
};

/// The layout with the fewest scales of DequantizeLinear; nothing if it has none of at least 8 elements to a block.
[[nodiscard]] std::optional<scale_layout> layout_of(affine_weight const& w);

/// Puts a Dequantize node (ir/quantized.hpp) in the place of constants of integers that become reals: Cast, Sub and Mul with constants, also
/// of several numbers in one integer, and of a Dequantize whose result is moved. Integers become int8 or uint8, in the order in which they are
/// read. Numbers whose scales have no layout stay. Nested graphs stay. Throws only if memory runs out.
void recognize_quantized_weights(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
