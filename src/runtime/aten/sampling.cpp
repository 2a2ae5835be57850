// SPDX-License-Identifier: MIT
// ATen operators: sampling on grids. Coordinates are computed in float32 for all dtypes except float64, as in ATen.
#include <initializer_list>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "products.hpp"
#include "runtime/compute/sampling.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

template <class T>
T one_of(std::int64_t number, std::initializer_list<T> choices, char const* what) {
    if (number < 0 || number >= static_cast<std::int64_t>(choices.size()))
        throw error("unknown " + std::string(what) + ' ' + std::to_string(number));
    return choices.begin()[number];
}

results grid_sampler(call const& c) {
    using enum interpolation;
    using enum outside;
    runtime::sampling how;
    how.mode = one_of(c.i("interpolation_mode"),
                      {interpolation::linear, interpolation::nearest, interpolation::cubic},
                      "interpolation mode");
    how.padding = one_of(c.i("padding_mode"), {zeros, border, reflection}, "padding mode");
    how.corners = c.b("align_corners");
    how.moves_points = false;
    return grid_sample(c.t("input"), c.t("grid"), how);
}

/// Coordinates from -1 to 1, at the centers of the outermost elements or at their edges.
tensor places_between(tensor const& like, std::int64_t count, bool corners) {
    if (count <= 1) return full(0, like.dtype(), {count}, like.where());
    dtype const in = compute_type(like.dtype());
    auto const n = static_cast<double>(count);
    tensor const at = cast(range(count, 0, 1, like.where()), in);
    tensor const step = cast(full(2 / (n - 1), like.dtype(), {}, like.where()), in);
    std::int64_t const middle = count / 2; // from here on counted from the end
    auto const times_step = [&](tensor const& steps) -> term { return cast(steps * step, like.dtype()); };
    term const from_start = times_step(at) - 1.0;
    term const from_end = 1.0 - times_step(scalar(n - 1) - at);
    term const all = where(less(at, scalar(static_cast<double>(middle))), *from_start, *from_end);
    return corners ? *all : *(all * (n - 1) / n);
}

results affine_grid_generator(call const& c) {
    sizes const to = c.ints("size");
    if (to.size() < 3) throw error("size must have at least 3 elements");
    tensor const theta = c.t("theta");
    if (theta.rank() != 3 || theta.size(0) != to[0]) throw error("theta must have one matrix per image");
    // Each step is in the dtype of theta, which rounds float16.
    bool const corners = c.b("align_corners");
    sizes const spatial(to.begin() + 2, to.end());
    std::int64_t const points = count_of(spatial);
    std::vector<tensor> columns;
    for (std::size_t k = spatial.size(); k-- != 0;) { // x, y, z
        sizes along(spatial.size(), 1);
        along[k] = spatial[k];
        columns.push_back(flatten(reshape(places_between(theta, spatial[k], corners), along).expanded(spatial)));
    }
    columns.push_back(full(1, theta.dtype(), {points}, theta.where()));
    auto const axes = static_cast<std::int64_t>(spatial.size());
    if (theta.size(1) != axes || theta.size(2) != axes + 1)
        throw error("theta does not have the shape of affine matrices");
    sizes out = {theta.size(0)};
    out.insert(out.end(), spatial.begin(), spatial.end());
    out.push_back(axes);
    return reshape(product(stack(columns, 1), transpose(theta, 1, 2)), out);
}

} // namespace

rows sampling() {
    static constexpr row all[] = {
        {"grid_sampler", grid_sampler},
        {"grid_sampler_2d", grid_sampler},
        {"_grid_sampler_2d_cpu_fallback", grid_sampler},
        {"grid_sampler_3d", grid_sampler},
        {"affine_grid_generator", affine_grid_generator},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
