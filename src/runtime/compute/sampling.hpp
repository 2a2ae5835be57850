// SPDX-License-Identifier: MIT
// Interpolation: resizing along axes, and sampling at points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// How the elements of one axis of a result are computed: element i is the sum over t of weights[i * taps + t] times
/// the element at indices[i * taps + t].
struct axis_taps {
    std::int64_t taps = 1;
    std::vector<std::int64_t> indices;
    std::vector<double> weights; ///< empty: all 1
};

/// Resamples an axis of `x`; the dtype must be a float of at least 32 bits if there are weights.
[[nodiscard]] tensor resample(tensor const& x, std::int64_t axis, axis_taps const& from);

/// Weights of the neighbors -1, 0, 1 and 2 of a point at distance `at` from neighbor 0, by cubic convolution.
struct cubic_weights {
    double of[4];
};
[[nodiscard]] cubic_weights cubic_weights_at(double at, double coefficient);

enum class interpolation : std::uint8_t { nearest, linear, cubic };
/// Padding outside the image: 0, the nearest element, or elements mirrored at the border.
enum class outside : std::uint8_t { zeros, border, reflection };

struct sampling {
    interpolation mode = interpolation::linear;
    outside padding = outside::zeros;
    bool corners =
        false; ///< -1 and 1 are the centers of the outermost elements, otherwise their edges; mirrors are at the same place
    bool moves_points =
        true; ///< cubic: points outside are moved before their neighbors are determined; ATen moves only neighbors
    double coefficient = -0.75; ///< cubic
};

/// The values of `x` [B, C, D1, ..., Dn] at points, as [B, C, P]. `coordinates` has [B, P] for each of the n axes, in
/// units of elements. `nearest` rounds ties to even.
[[nodiscard]] tensor sample(tensor const& x, std::span<tensor const> coordinates, sampling const& how);

/// The values of `x` [N, C, D1, ..., Dn] on a grid [N, out..., n] of coordinates from -1 to 1, the last axis first.
/// Integers are computed as floats and truncated.
[[nodiscard]] tensor grid_sample(tensor const& x, tensor const& grid, sampling const& how);
/// The grid of the affine matrices `theta` [N, n, n + 1] for these spatial sizes.
[[nodiscard]] tensor affine_grid(tensor const& theta, sizes const& spatial, bool corners);

} // namespace ATON_NAMESPACE::runtime
