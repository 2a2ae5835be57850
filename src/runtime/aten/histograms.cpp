// SPDX-License-Identifier: MIT
// ATen operators: histograms.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "bucketing.hpp"
#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The minimum and maximum; if they are equal, `apart` is subtracted and added.
std::pair<double, double> outer_edges(double low, double high, double apart) {
    if (!std::isfinite(low) || !std::isfinite(high) || low > high)
        throw error("the range " + std::to_string(low) + " to " + std::to_string(high) + " is not finite");
    return low == high ? std::pair(low - apart, high + apart) : std::pair(low, high);
}
std::pair<double, double> outer_edges_of(tensor const& x, double apart) {
    return outer_edges(number_of(min(x, all_axes(x))), number_of(max(x, all_axes(x))), apart);
}

constexpr std::int64_t max_bins = std::int64_t{1} << 28U;

void require_bins(std::int64_t bins) {
    if (bins <= 0 || bins > max_bins) throw error("a histogram cannot have " + std::to_string(bins) + " bins");
}

/// Counts in bins of equal width; numbers out of range are ignored, and the maximum is in the last bin.
results histogram_counts(call const& c) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype())) throw error("a histogram requires a floating-point dtype");
    std::int64_t const bins = c.i("bins");
    require_bins(bins);
    double const min_value = c.f("min");
    double const max_value = c.f("max");
    auto const [low, high] =
        min_value == max_value && x.count() != 0 ? outer_edges_of(x, 1) : outer_edges(min_value, max_value, 1);
    tensor const v = flatten(cast(x, compute_type(to_real(x.dtype()))));
    auto const rounded = [&](tensor const& t) {
        return cast(cast(t, x.dtype()), t.dtype());
    }; // bfloat16 after each step
    scalar const width = cast(full(high - low, dtype::float64, {}), x.dtype()).item();
    tensor const scaled = rounded(rounded(v - scalar(low)) * scalar(static_cast<double>(bins)));
    tensor const place = cast(floor(rounded(scaled / width)), dtype::int64); // NaN is out of range
    tensor const inside = logical_and(greater_equal(v, low), less_equal(v, high));
    tensor const bin = minimum(place, scalar(static_cast<long long>(bins - 1)));
    tensor const counts = counted(where(inside, bin, scalar(0)), bins, cast(inside, dtype::float64));
    return cast(counts, x.dtype());
}

results count_integers(call const& c) {
    tensor const x = c.t("self");
    std::int64_t const min_length = c.i("minlength");
    if (x.rank() != 1 || !is_integral(x.dtype())) throw error("bincount requires a 1-d tensor of integers");
    if (min_length < 0 || min_length > max_bins) throw error("minlength is " + std::to_string(min_length));
    tensor const numbers = cast(x, dtype::int64);
    std::int64_t length = 0;
    if (x.count() != 0) {
        if (number_of(min(numbers, {0})) < 0) throw error("bincount does not support negative integers");
        auto const highest = to_host(max(numbers, {0})).item().to<std::int64_t>();
        if (highest >= max_bins) throw error("an integer is too large for bincount");
        length = highest + 1;
    }
    length = std::max(length, min_length);
    tensor const weights = c.maybe("weights");
    if (!weights || x.count() == 0) return counted(numbers, length);
    if (weights.sizes() != x.sizes()) throw error("weights must have the shape of self");
    dtype const type = weights.dtype() == dtype::float32 ? dtype::float32 : dtype::float64;
    return counted(numbers, length, cast(weights, type));
}

/// Equally spaced edges, computed from the nearer end.
tensor edges_between(double low, double high, std::int64_t bins, tensor const& like) {
    auto const count = static_cast<double>(bins);
    tensor const n = cast(range(bins + 1, 0, 1, like.where()), dtype::float64);
    scalar const width((high - low) / count);
    tensor const first = n * width + scalar(low);
    tensor const second = scalar(high) - (scalar(count) - n) * width;
    return cast(where(less(n, std::floor((count + 1) / 2)), first, second), like.dtype());
}

struct histogram {
    tensor counts;
    std::vector<tensor> edges;
};

/// Counts, or sums of weights, of points [n, d] between the edges of each coordinate.
histogram count_points(tensor const& points, std::vector<tensor> const& edges, tensor const& weight, bool density) {
    std::int64_t const n = points.size(0);
    sizes bins;
    tensor place;
    tensor inside;
    for (std::size_t d = 0; d != edges.size(); ++d) {
        tensor const& edge = edges[d];
        if (edge.rank() != 1 || edge.count() < 2) throw error("a list of bin edges needs at least two numbers");
        std::int64_t const count = edge.count() - 1;
        tensor const v = contiguous(points.sliced(1, static_cast<std::int64_t>(d), 1).squeezed(1));
        tensor const last = edge.sliced(0, count, 1);
        tensor const here = logical_and(greater_equal(v, edge.sliced(0, 0, 1)), less_equal(v, last));
        tensor const bin = search_sorted(contiguous(edge), v, true) - scalar(1);
        tensor const held = minimum(maximum(bin, scalar(0)), scalar(static_cast<long long>(count - 1)));
        place = place ? place * scalar(static_cast<long long>(count)) + held : held;
        inside = inside ? logical_and(inside, here) : here;
        bins.push_back(count);
    }
    if (count_of(bins) > max_bins) throw error("the histogram has too many bins");
    tensor const each =
        weight ? reshape(cast(weight, points.dtype()), {n}) : full(1, points.dtype(), {n}, points.where());
    tensor counts = reshape(counted(place, count_of(bins), where(inside, each, scalar(0))), bins);
    if (density) {
        counts = counts / sum(counts, all_axes(counts));
        for (std::size_t d = 0; d != edges.size(); ++d) {
            sizes along(edges.size(), 1);
            along[d] = bins[d];
            counts = counts / reshape(edges[d].sliced(0, 1, bins[d]) - edges[d].sliced(0, 0, bins[d]), along);
        }
    }
    return {counts, edges};
}

/// The edges of each coordinate of points [n, d], between the bounds of `range` or the minimum and maximum.
std::vector<tensor> edges_of(tensor const& points, std::vector<std::int64_t> const& bins,
                             std::vector<double> const& outer) {
    if (!outer.empty() && outer.size() != 2 * bins.size()) throw error("range must have two numbers per coordinate");
    std::vector<tensor> edges;
    for (std::size_t d = 0; d != bins.size(); ++d) {
        require_bins(bins[d]);
        tensor const v = points.sliced(1, static_cast<std::int64_t>(d), 1);
        auto const [low, high] = !outer.empty()   ? outer_edges(outer[2 * d], outer[2 * d + 1], 0.5)
                                 : v.count() == 0 ? std::pair(0.0, 1.0)
                                                  : outer_edges_of(v, 0.5);
        edges.push_back(edges_between(low, high, bins[d], points));
    }
    return edges;
}

/// Points as [n, d]: the last axis has the coordinates; with one coordinate, all axes are points.
tensor points_of(call const& c, bool one_coordinate) {
    tensor const x = c.t("self");
    if (x.dtype() != dtype::float32 && x.dtype() != dtype::float64)
        throw error("a histogram requires float32 or float64");
    if (one_coordinate) return reshape(x, {x.count(), 1});
    if (x.rank() < 2) throw error("points with several coordinates must have at least two dimensions");
    std::int64_t const d = x.size(x.rank() - 1);
    return reshape(x, {d == 0 ? 0 : x.count() / d, d});
}

/// With the given edges per coordinate, or the given numbers of bins.
histogram histogram_of(call const& c, bool one_coordinate) {
    tensor const points = points_of(c, one_coordinate);
    constexpr std::int64_t max_coordinates = std::int64_t{1} << 20; // each has edges, even if there are no points
    if (points.size(1) > max_coordinates) throw error("the points have too many coordinates");
    auto const coordinates = static_cast<std::size_t>(points.size(1));
    std::vector<tensor> edges;
    aten_argument const& bins = c.argument("bins");
    if (bins.kind == aten::argument_kind::tensor) edges = {bins.tensor};
    else if (bins.kind == aten::argument_kind::tensors) edges = bins.tensors;
    else {
        std::vector<std::int64_t> counts = c.ints("bins");
        if (counts.size() == 1) counts.assign(coordinates, counts[0]);
        edges = edges_of(points, counts, c.has_argument("range") ? c.floats("range") : std::vector<double>());
    }
    if (edges.size() != coordinates) throw error("bins must have one entry per coordinate");
    return count_points(points, edges, c.maybe("weight"), c.b("density"));
}

results one_dimensional(call const& c) {
    histogram const h = histogram_of(c, true);
    return {h.counts, h.edges[0]};
}
results many_dimensional(call const& c) {
    histogram const h = histogram_of(c, false);
    return {h.counts, h.edges};
}
results only_counts(call const& c) { return histogram_of(c, false).counts; }
results only_edges(call const& c) { return value(histogram_of(c, false).edges); }

} // namespace

rows histograms() {
    static constexpr row all[] = {
        {"_histogramdd_bin_edges", only_edges},
        {"_histogramdd_from_bin_cts", only_counts},
        {"_histogramdd_from_bin_tensors", only_counts},
        {"bincount", count_integers},
        {"histc", histogram_counts},
        {"histogram.bin_ct", one_dimensional},
        {"histogram.bins_tensor", one_dimensional},
        {"histogramdd", many_dimensional},
        {"histogramdd.TensorList_bins", many_dimensional},
        {"histogramdd.int_bins", many_dimensional},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
