// SPDX-License-Identifier: MIT
// Bilinear samples in the bins of regions, from pixels that are gathered.
// Internal header.
#pragma once

#include <cstdint>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings::detail {

inline value column_of(graph<11> g, value rois, std::int64_t i) {
    return g.op<"Gather">(rois, g.scalar(i, dtype::int64), attr::axis_i(1));
}

/// x [K] with dimensions of size 1 behind.
inline value with_ones(graph<11> g, value x, std::int64_t count) {
    safe_vector<std::int64_t> axes;
    for (std::int64_t i = 1; i <= count; ++i) axes.push_back(i);
    return unsqueeze(g, x, axes);
}

/// Bilinear samples along one axis of a region: its start, its size, both [K], and how it is divided.
struct region_axis {
    value start;
    value size;
    std::int64_t bins;
    std::int64_t ratio; ///< samples per bin; below 1: as many as a bin has pixels
};
struct axis_samples {
    value low;    ///< int64 [K, bins, samples], as all but `number`
    value high;   ///< int64
    value weight; ///< of `high`; that of `low` is the rest
    value inside; ///< bool: whether the sample counts
    value number; ///< of samples per bin, [K], or 0-d
    bool is_adaptive;
};

inline axis_samples samples_along(graph<11> g, region_axis const& a, sym_int extent) {
    dtype const type = a.start.dtype();
    value const bin = g.op<"Div">(a.size, g.scalar(a.bins, type));
    bool const adaptive = a.ratio < 1;
    value const number = adaptive ? value(g.op<"Ceil">(bin)) : g.scalar(a.ratio, type);
    sym_int count = a.ratio;
    if (adaptive) {
        // A first region of 0 samples keeps the maximum defined if there is no region.
        value const all = g.op<"Concat">(safe_vector<value>{g.constant({0.0}, type, {1}), number}, attr::axis_i(0));
        std::int64_t const first[] = {0};
        count = g.cast(reduce<"ReduceMax">(g, all, first, false), dtype::int64);
    }
    value const places = g.cast(arithmetic_sequence(g, 0, count), type);
    value const steps = g.op<"Mul">(g.op<"Add">(places, 0.5), with_ones(g, bin, 2));
    value const within = g.op<"Div">(steps, adaptive ? with_ones(g, number, 2) : number);
    value const bins = g.cast(unsqueeze(g, arithmetic_sequence(g, 0, a.bins), 1), type);
    value const first = g.op<"Add">(with_ones(g, a.start, 2), g.op<"Mul">(bins, with_ones(g, bin, 2)));
    value const at = g.op<"Add">(first, within);
    value const size = g.cast(g.to_value(extent), type);
    value const last = g.op<"Sub">(size, 1);
    value const zero = g.scalar(0, type);
    value inside = g.op<"And">(is_at_least(g, at, g.scalar(-1, type)), is_at_most(g, at, size));
    if (adaptive) inside = g.op<"And">(inside, g.op<"Less">(places, with_ones(g, number, 2)));
    value const bounded = max_of(g, min_of(g, g.op<"Where">(inside, at, zero), last), zero);
    value const low = g.op<"Floor">(bounded);
    value const high = min_of(g, g.op<"Add">(low, 1), last);
    return {g.cast(low, dtype::int64), g.cast(high, dtype::int64), g.op<"Sub">(bounded, low), inside, number, adaptive};
}

/// The number of samples of a bin, [K], or 0-d.
inline value sample_count(graph<11> g, axis_samples const& y, axis_samples const& x) {
    return g.op<"Mul">(y.number, x.number);
}

/// The sums of the samples of each bin, [K, bins, bins, C]. `batch` is [K].
inline value sums_of_samples(graph<11> g, value input, value batch, axis_samples const& y, axis_samples const& x) {
    safe_vector<sym_int> const sizes = g.sizes(input);
    safe_vector<std::int64_t> const channels_last = {0, 2, 3, 1};
    value const pixels = reshape(g, permute(g, input, channels_last), {sizes[0] * sizes[2] * sizes[3], sizes[1]});
    value const first = g.op<"Mul">(batch, g.to_value(sizes[2] * sizes[3]));
    value const width = g.to_value(sizes[3]);
    // Dimensions: K, bins down, samples down, bins across, samples across, and channels behind.
    safe_vector<std::int64_t> const across = {1, 2};
    safe_vector<std::int64_t> const down = {3, 4};
    auto const by_row = [&](value v) { return unsqueeze(g, v, down); };
    auto const by_column = [&](value v) { return unsqueeze(g, v, across); };
    auto const taken = [&](value row, value column, value weight) -> value {
        value const place =
            g.op<"Add">(g.op<"Add">(with_ones(g, first, 4), by_row(g.op<"Mul">(row, width))), by_column(column));
        return g.op<"Mul">(g.op<"Gather">(pixels, place), unsqueeze(g, weight, 5));
    };
    auto const rest = [&](value w) -> value { return g.op<"Sub">(g.scalar(1, w.dtype()), w); };
    auto const weight = [&](value down_weight, value across_weight) -> value {
        return g.op<"Mul">(by_row(down_weight), by_column(across_weight));
    };
    value const low_row = g.op<"Add">(taken(y.low, x.low, weight(rest(y.weight), rest(x.weight))),
                                      taken(y.low, x.high, weight(rest(y.weight), x.weight)));
    value const high_row = g.op<"Add">(taken(y.high, x.low, weight(y.weight, rest(x.weight))),
                                       taken(y.high, x.high, weight(y.weight, x.weight)));
    value const inside = unsqueeze(g, g.op<"And">(by_row(y.inside), by_column(x.inside)), 5);
    value const counted = g.op<"Where">(inside, g.op<"Add">(low_row, high_row), g.scalar_like(0, input));
    safe_vector<std::int64_t> const samples = {2, 4};
    return reduce_sum(g, counted, samples, false);
}

struct region_samples {
    axis_samples y;
    axis_samples x;
};
/// Samples in regions [K, 5] of an index and two corners. `min_size` is the smallest size of a region, if it has one.
inline region_samples samples_in(graph<11> g, value input, value rois, double scale, double shift, bool clamps,
                                 std::int64_t height, std::int64_t width, std::int64_t ratio) {
    auto const corner = [&](std::int64_t i) -> value {
        value const at = g.op<"Mul">(column_of(g, rois, i), scale);
        return exactly_equal(shift, 0) ? at : value(g.op<"Sub">(at, shift));
    };
    auto const along = [&](std::int64_t i, std::int64_t bins, sym_int extent) {
        value const start = corner(i);
        value const size = g.op<"Sub">(corner(i + 2), start);
        value const bounded = clamps ? value(max_of(g, size, g.scalar(1, size.dtype()))) : size;
        return samples_along(g, {start, bounded, bins, ratio}, extent);
    };
    return {along(2, height, g.size(input, 2)), along(1, width, g.size(input, 3))};
}

} // namespace ATON_NAMESPACE::mappings::detail
