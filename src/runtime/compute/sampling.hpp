// SPDX-License-Identifier: MIT
// Values between elements: resizing along axes, and sampling at points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// How the elements of one axis of a result are made: element i is the sum over t of weights[i * taps + t] times the element at
/// indices[i * taps + t].
struct axis_taps {
    std::int64_t taps = 1;
    std::vector<std::int64_t> indices;
    std::vector<double> weights; ///< empty: 1
};

/// `x` with an axis made of its elements; floats of at least 32 bits where there are weights.
[[nodiscard]] tensor resample(tensor const& x, std::int64_t axis, axis_taps const& from);

/// Weights of the neighbours -1, 0, 1 and 2 of a point that lies `at` beyond neighbour 0, as cubic convolution has them.
struct cubic_weights {
    double of[4];
};
[[nodiscard]] cubic_weights cubic_weights_at(double at, double coefficient);

enum class interpolation : std::uint8_t { nearest, linear, cubic };
/// What lies outside: 0, the nearest element, or the elements mirrored at the border.
enum class outside : std::uint8_t { zeros, border, reflection };

struct sampling {
    interpolation mode = interpolation::linear;
    outside padding = outside::zeros;
    bool corners =
        false; ///< -1 and 1 are the centres of the outermost elements, else their edges; mirrors stand there too
    bool moves_points =
        true; ///< of cubic: points outside move before their neighbours are looked for; ATen moves only neighbours
    double coefficient = -0.75; ///< of cubic
};

/// The values of `x` [B, C, D1, ..., Dn] at points: coordinates [B, P] for each of the n axes, counted in elements. [B, C, P]. nearest
/// rounds to even.
[[nodiscard]] tensor sample(tensor const& x, std::span<tensor const> coordinates, sampling const& how);

/// The values of `x` [N, C, D1, ..., Dn] on a grid [N, out..., n] of coordinates from -1 to 1, that of the last axis first. Integers are
/// computed as floats, and cut.
[[nodiscard]] tensor grid_sample(tensor const& x, tensor const& grid, sampling const& how);
/// The grid of affine maps `theta` [N, n, n + 1] for these spatial sizes.
[[nodiscard]] tensor affine_grid(tensor const& theta, sizes const& spatial, bool corners);

} // namespace ATON_NAMESPACE::runtime
