// SPDX-License-Identifier: MIT
// Interpolation, gathered neighbor by neighbor.
#include "runtime/compute/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

scalar integer(std::int64_t i) { return static_cast<long long>(i); }

bool is_narrow(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }

/// Mirrors coordinates at the borders of an axis until they are in range.
tensor mirrored(tensor const& at, std::int64_t size, bool corners) {
    double const low = corners ? 0 : -0.5;
    double const width = static_cast<double>(corners ? size - 1 : size);
    if (width == 0) return full(low, at.dtype(), at.sizes(), at.where());
    tensor const far = abs(at - scalar(low));
    tensor const turns = floor(far / scalar(width));
    tensor const rest = far - turns * scalar(width);
    tensor const odd = equal(binary(binary_op::remainder, turns, scalar(2.0)), 1);
    return where(odd, width - rest, rest) + scalar(low);
}

/// Moves coordinates of points outside according to the padding.
tensor moved(tensor const& at, std::int64_t size, sampling const& how) {
    if (how.padding == outside::border) return clamp(at, 0, static_cast<double>(size - 1));
    return how.padding == outside::reflection ? mirrored(at, size, how.corners) : at;
}

/// One neighbor of all points along an axis.
struct neighbor {
    tensor index;  ///< int64, in range
    tensor weight; ///< empty: 1
    tensor inside; ///< bool; empty: all true
};

neighbor neighbor_of(tensor const& at, tensor const& weight, std::int64_t size, sampling const& how) {
    auto const last = static_cast<double>(size - 1);
    neighbor n;
    if (how.padding == outside::zeros) n.inside = logical_and(greater_equal(at, 0), less_equal(at, scalar(last)));
    tensor const kept = how.padding == outside::reflection ? round(mirrored(at, size, how.corners)) : at;
    n.index = cast(clamp(kept, 0, last), dtype::int64);
    n.weight = weight;
    return n;
}

/// Weights as polynomials of a point's distance from its neighbor 0.
std::vector<tensor> cubic_weights_of(tensor const& t, double a) {
    auto const near = [&](tensor const& x) { // |x| <= 1
        return (x * scalar(a + 2) - scalar(a + 3)) * x * x + scalar(1.0);
    };
    auto const far = [&](tensor const& x) { // 1 < |x| < 2
        return ((x * scalar(a) - scalar(5 * a)) * x + scalar(8 * a)) * x - scalar(4 * a);
    };
    return {far(t + scalar(1.0)), near(t), near(1.0 - t), far(2.0 - t)};
}

std::vector<neighbor> neighbors_of(tensor const& coordinate, std::int64_t size, sampling const& how) {
    bool const moves = how.mode != interpolation::cubic || how.moves_points;
    tensor const at = moves ? moved(coordinate, size, how) : coordinate;
    if (how.mode == interpolation::nearest) return {neighbor_of(round(at), {}, size, how)};
    tensor const first = floor(at);
    tensor const beyond = at - first;
    std::vector<neighbor> out;
    if (how.mode == interpolation::linear) {
        out.push_back(neighbor_of(first, 1.0 - beyond, size, how));
        out.push_back(neighbor_of(first + scalar(1.0), beyond, size, how));
        return out;
    }
    std::vector<tensor> const weights = cubic_weights_of(beyond, how.coefficient);
    for (int i = 0; i != 4; ++i)
        out.push_back(
            neighbor_of(first + scalar(static_cast<double>(i - 1)), weights[static_cast<std::size_t>(i)], size, how));
    return out;
}

/// Gathers all combinations of neighbors, the first axis outermost, and adds them up.
class gatherer {
public:
    gatherer(tensor const& x, std::vector<std::vector<neighbor>> const& all)
        : x_(flatten(x)),
          all_(all),
          spatial_(x.sizes().begin() + 2, x.sizes().end()) {
        std::int64_t const plane = count_of(spatial_);
        planes_ = reshape(range(x.size(0) * x.size(1), 0, plane, x.where()), {x.size(0), x.size(1), 1});
    }

    [[nodiscard]] tensor over(std::size_t axis, tensor const& index, tensor const& weight, tensor const& inside) const {
        if (axis == all_.size()) {
            tensor out = take(x_, index.unsqueezed(1) + planes_);
            if (inside) out = where(inside.unsqueezed(1), out, scalar(0));
            return weight ? out * weight.unsqueezed(1) : out;
        }
        tensor total;
        for (neighbor const& n : all_[axis]) {
            tensor const place = index ? index * integer(spatial_[axis]) + n.index : n.index;
            tensor const w = weight && n.weight ? weight * n.weight : n.weight;
            tensor const in = inside && n.inside ? logical_and(inside, n.inside) : n.inside;
            tensor const part = over(axis + 1, place, w, in);
            total = total ? total + part : part;
        }
        return total;
    }

private:
    tensor x_;
    std::vector<std::vector<neighbor>> const& all_;
    sizes spatial_;
    tensor planes_;
};

} // namespace

cubic_weights cubic_weights_at(double at, double a) {
    auto const near = [&](double x) { return ((a + 2) * x - (a + 3)) * x * x + 1; };
    auto const far = [&](double x) { return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a; };
    return {{far(at + 1), near(at), near(1 - at), far(2 - at)}};
}

tensor resample(tensor const& x, std::int64_t axis, axis_taps const& from) {
    std::size_t const at = axis_at(axis, x.rank());
    auto const count = static_cast<std::int64_t>(from.indices.size()) / from.taps;
    tensor const indices =
        to_device(tensor::of_integers(from.indices), x.where()).viewed({count, from.taps}, {from.taps, 1});
    tensor weights;
    if (!from.weights.empty()) {
        weights = tensor::empty(dtype::float64, {count, from.taps});
        std::copy(from.weights.begin(), from.weights.end(), weights.data<double>());
        weights = cast(to_device(weights, x.where()), x.dtype());
    }
    sizes along(x.rank(), 1);
    along[at] = count;
    tensor out;
    for (std::int64_t t = 0; t != from.taps; ++t) {
        tensor part = index_select(x, axis, indices.sliced(1, t, 1).squeezed(1));
        if (weights) part = part * reshape(weights.sliced(1, t, 1), along);
        out = out ? out + part : part;
    }
    return out;
}

tensor sample(tensor const& x, std::span<tensor const> coordinates, sampling const& how) {
    std::size_t const axes = coordinates.size();
    if (axes == 0 || x.rank() != axes + 2)
        throw error("points with " + std::to_string(axes) + " coordinates do not fit " + to_string(x.sizes()));
    for (tensor const& c : coordinates)
        if (c.rank() != 2 || c.size(0) != x.size(0)) throw error("coordinates must be [B, P] for [B, C, ...]");
    sizes const to = {x.size(0), x.size(1), coordinates[0].size(1)};
    if (count_of(to) == 0) return tensor::empty(x.dtype(), to, kernels_of(x.where()).memory());
    for (std::size_t i = 0; i != axes; ++i)
        if (x.size(i + 2) == 0) throw error("cannot sample an empty tensor of shape " + to_string(x.sizes()));
    bool const exact = how.mode == interpolation::nearest;
    bool const wide = x.dtype() == dtype::float32 || x.dtype() == dtype::float64;
    dtype const computed = is_narrow(x.dtype()) ? dtype::float32 : wide ? x.dtype() : dtype::float64;
    std::vector<std::vector<neighbor>> all;
    for (std::size_t i = 0; i != axes; ++i) {
        tensor const& c = coordinates[i];
        all.push_back(neighbors_of(is_narrow(c.dtype()) ? cast(c, dtype::float32) : c, x.size(i + 2), how));
        if (!exact)
            for (neighbor& n : all.back()) n.weight = cast(n.weight, computed);
    }
    tensor const from = contiguous(exact ? x : cast(x, computed));
    return cast(gatherer(from, all).over(0, {}, {}, {}), x.dtype());
}

tensor grid_sample(tensor const& x, tensor const& grid, sampling const& how) {
    std::size_t const axes = x.rank() < 3 ? 0 : x.rank() - 2;
    if (axes == 0 || grid.rank() != axes + 2 || grid.size(0) != x.size(0) ||
        grid.size(axes + 1) != static_cast<std::int64_t>(axes))
        throw error("a grid of shape " + to_string(grid.sizes()) + " does not fit " + to_string(x.sizes()));
    if (!is_floating(grid.dtype())) throw error("a grid must be floating-point");
    sizes to = {x.size(0), x.size(1)};
    to.insert(to.end(), grid.sizes().begin() + 1, grid.sizes().end() - 1);
    std::int64_t const points = count_of(std::span(to).subspan(2));
    tensor const wide = is_narrow(grid.dtype()) ? cast(grid, dtype::float32) : grid;
    tensor const flat = reshape(wide, {x.size(0), points, grid.size(axes + 1)});
    std::vector<tensor> coordinates;
    for (std::size_t i = 0; i != axes; ++i) {
        auto const size = static_cast<double>(x.size(i + 2));
        tensor const at = flat.sliced(2, static_cast<std::int64_t>(axes - 1 - i), 1).squeezed(2) + scalar(1.0);
        coordinates.push_back(how.corners ? at * scalar((size - 1) / 2)
                                          : (at * scalar(size) - scalar(1.0)) / scalar(2.0));
    }
    return reshape(sample(x, coordinates, how), to);
}

tensor affine_grid(tensor const& theta, sizes const& spatial, bool corners) {
    auto const axes = static_cast<std::int64_t>(spatial.size());
    if (axes == 0 || theta.rank() != 3 || theta.size(1) != axes || theta.size(2) != axes + 1)
        throw error("affine matrices of shape " + to_string(theta.sizes()) + " do not fit " + std::to_string(axes) +
                    " axes");
    if (is_narrow(theta.dtype()))
        return cast(affine_grid(cast(theta, dtype::float32), spatial, corners), theta.dtype());
    std::int64_t const points = count_of(spatial);
    std::vector<tensor> rows; // x, y, z, 1
    for (std::size_t k = spatial.size(); k-- != 0;) {
        auto const size = static_cast<double>(spatial[k]);
        tensor const steps = cast(range(spatial[k], 0, 1, theta.where()), dtype::float64);
        tensor const at = corners ? (spatial[k] == 1 ? steps : steps * scalar(2 / (size - 1)) - scalar(1.0))
                                  : (steps * scalar(2.0) + scalar(1.0)) / scalar(size) - scalar(1.0);
        sizes along(spatial.size(), 1);
        along[k] = spatial[k];
        rows.push_back(reshape(reshape(at, along).expanded(spatial), {points}));
    }
    rows.push_back(full(1.0, dtype::float64, {points}, theta.where()));
    tensor const base = cast(stack(rows, 1), theta.dtype()); // [points, axes + 1]
    tensor const grid = matmul(base, transpose(theta, 1, 2));
    sizes to = {theta.size(0)};
    to.insert(to.end(), spatial.begin(), spatial.end());
    to.push_back(axes);
    return reshape(grid, to);
}

} // namespace ATON_NAMESPACE::runtime
