// SPDX-License-Identifier: MIT
// Sampling at grid points: aten's grid_sampler and affine_grid_generator.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/volume_sampling.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Padding mode "border" clamps each neighbor of a point in ATen, but the point itself in GridSample, so cubic samples
/// near the border read different elements. Pads x by two border elements on each side, and moves the points
/// accordingly.
inline std::pair<value, value> with_own_border(graph<16> g, value x, value grid, bool align_corners) {
    constexpr std::int64_t added = 4; // on both sides of an axis
    value const wide =
        g.op<"Pad">(x, g.ints({0, 0, added / 2, added / 2, 0, 0, added / 2, added / 2}), absent, attr::mode_s("edge"));
    std::int64_t const less = align_corners ? 1 : 0;
    sym_int const sizes[] = {g.size(x, 3), g.size(x, 2)}; // the grid names x first
    value share;
    if (all_constant(sizes)) {
        tensor shares{grid.dtype(), {2}, {}};
        for (sym_int const& n : sizes)
            shares.append(static_cast<double>(n.constant() - less) / static_cast<double>(n.constant() - less + added));
        share = g.constant(std::move(shares));
    } else {
        value const steps = g.cast(g.op<"Sub">(g.ints(sizes), less), grid.dtype());
        share = g.op<"Div">(steps, g.op<"Add">(steps, static_cast<double>(added)));
    }
    return {wide, g.op<"Mul">(grid, share)};
}

inline constexpr std::string_view grid_paddings[] = {"zeros", "border", "reflection"};

/// Opset 20 renamed the modes of GridSample, and added a third spatial dimension.
inline value sample_grid(graph<20> g, value x, value grid, std::int64_t mode, std::int64_t padding,
                         bool align_corners) {
    constexpr std::string_view modes[] = {"linear", "nearest", "cubic"};
    return g.op<"GridSample">(x,
                              grid,
                              attr::align_corners_i(align_corners),
                              attr::mode_s(modes[mode]),
                              attr::padding_mode_s(grid_paddings[padding]));
}
inline value sample_grid(graph<16, 19> g, value x, value grid, std::int64_t mode, std::int64_t padding,
                         bool align_corners) {
    constexpr std::string_view modes[] = {"bilinear", "nearest", "bicubic"};
    if (x.rank() == 5) return sample_volume(g, x, grid, mode, padding, align_corners);
    return g.op<"GridSample">(x,
                              grid,
                              attr::align_corners_i(align_corners),
                              attr::mode_s(modes[mode]),
                              attr::padding_mode_s(grid_paddings[padding]));
}

inline value sample_grid(graph<10, 15> g, value x, value grid, std::int64_t mode, std::int64_t padding,
                         bool align_corners) {
    if (mode == 2) refuse_below(16, "the interpolation mode bicubic");
    return sample_volume(g, x, grid, mode, padding, align_corners);
}

template <class Graph>
inline constexpr auto grid_sampler =
    [](Graph g, value input, value points, std::int64_t mode, std::int64_t padding, bool align_corners) -> value {
    // Positions are computed in float32, as GridSample does; below opset 16, that also takes casts of float16.
    constexpr bool is_composed = std::is_same_v<Graph, graph<10, 15>>;
    bool const narrow = input.dtype() == dtype::bfloat16 || (is_composed && input.dtype() == dtype::float16);
    value grid = narrow ? g.cast(points, dtype::float32) : points;
    value x = narrow ? g.cast(input, dtype::float32) : input;
    if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
        return g.unsupported("interpolation mode " + std::to_string(mode));
    if (x.rank() != 4 && (x.rank() != 5 || mode == 2))
        return g.unsupported("this interpolation mode for an input of rank " + std::to_string(x.rank()));
    if constexpr (!is_composed)
        if (mode == 2 && padding == 1) std::tie(x, grid) = with_own_border(g, x, grid, align_corners);
    return g.cast(sample_grid(g, x, grid, mode, padding, align_corners), input.dtype());
};

/// The coordinates of n pixels in [-1, 1]: their centers, or with align_corners evenly spaced from -1 to 1.
inline safe_vector<double> grid_coordinates(std::int64_t n, bool align_corners) {
    safe_vector<double> at;
    for (std::int64_t i = 0; i != n; ++i) {
        double const steps = static_cast<double>(align_corners ? n - 1 : n);
        at.push_back(n == 1 ? 0.0 : static_cast<double>(2 * i + 1 - n) / steps); // exactly 0 in the middle
    }
    return at;
}

/// The homogeneous coordinates that affine_grid_generator multiplies: (points, x, y, [z,] 1).
inline tensor base_grid(safe_span<std::int64_t const> plane, bool align_corners, dtype type) {
    checked_int points = 1;
    for (std::int64_t n : plane) {
        if (n < 0) throw unsupported_error("a grid of negative size");
        points = points * n;
    }
    auto const width = static_cast<std::int64_t>(plane.size()) + 1;
    budget::expect("a grid", points * width);
    safe_vector<safe_vector<double>> coordinates;
    for (std::int64_t n : plane)
        coordinates.push_back(points == 0 ? safe_vector<double>() : grid_coordinates(n, align_corners));
    tensor t{type, {points, width}, {}};
    for (std::int64_t p = 0; p != points; ++p) {
        std::int64_t rest = p;
        for (std::size_t i = plane.size(); i-- != 0; rest /= plane[i])
            t.append(coordinates[i][static_cast<std::size_t>(rest % plane[i])]);
        t.append(1.0);
    }
    return t;
}

inline void expect_grid_sizes(size_list sizes) {
    if (sizes.size() != 4 && sizes.size() != 5)
        throw unsupported_error("an affine grid for " + std::to_string(sizes.size()) + " dimensions");
}

/// affine_grid_generator of a constant size, except for the batch.
inline value constant_affine_grid(graph<7> g, value theta, size_list sizes, bool align_corners) {
    safe_vector<std::int64_t> const plane = constants(sizes.subspan(2));
    value const grid = g.constant(base_grid(plane, align_corners, theta.dtype()));
    value const points = g.op<"MatMul">(grid, g.op<"Transpose">(theta, attr::perm_i({0, 2, 1})));
    safe_vector<sym_int> out{g.size(theta, 0)};
    out.insert(out.end(), plane.begin(), plane.end());
    out.emplace_back(static_cast<std::int64_t>(plane.size()));
    return reshape(g, points, out);
}

/// AffineGrid was added in opset 20.
inline constexpr auto affine_grid = symbolic<"aten::affine_grid_generator(theta, size, align_corners)">(
    [](graph<20> g, value theta, size_list sizes, bool align_corners) -> value {
        expect_grid_sizes(sizes);
        if (all_constant(sizes.subspan(2))) return constant_affine_grid(g, theta, sizes, align_corners);
        return g.op<"AffineGrid">(theta, g.ints(sizes), attr::align_corners_i(align_corners));
    });
inline constexpr auto affine_grid_until_19 = symbolic<"aten::affine_grid_generator(theta, size, align_corners)">(
    [](graph<7, 19> g, value theta, size_list sizes, bool align_corners) -> value {
        expect_grid_sizes(sizes);
        if (all_constant(sizes.subspan(2))) return constant_affine_grid(g, theta, sizes, align_corners);
        return g.unsupported("an affine grid of dynamic size below opset 20");
    });

} // namespace detail

inline constexpr auto sampling = table(
    // GridSample was added in opset 16; before that, neighbors are gathered.
    symbolic<"aten::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<20>>),
    symbolic<"aten::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<16, 19>>),
    symbolic<"aten::grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<10, 15>>),
    symbolic<"aten::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<20>>),
    symbolic<"aten::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<16, 19>>),
    symbolic<"aten::grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<10, 15>>),
    symbolic<"aten::_grid_sampler_2d_cpu_fallback(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<20>>),
    symbolic<"aten::_grid_sampler_2d_cpu_fallback(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<16, 19>>),
    symbolic<"aten::_grid_sampler_2d_cpu_fallback(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<10, 15>>),
    symbolic<"aten::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<20>>),
    symbolic<"aten::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<16, 19>>),
    symbolic<"aten::grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)">(
        detail::grid_sampler<graph<10, 15>>),
    detail::affine_grid, detail::affine_grid_until_19);

} // namespace ATON_NAMESPACE::mappings
