// SPDX-License-Identifier: MIT
// Histograms: aten's histc and bincount.
// Public header.
#pragma once

#include <array>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Sums the amounts [N] by their indices [N] into a result of size [count].
inline value counted(graph<9> g, value index, value amount, sym_int count) {
    dtype const type = opmath_type(amount.dtype());
    value const shape = g.ints(safe_span(&count, 1));
    if (g.opset() >= 16) {
        value const zeros = expand_by(g, g.scalar(0, type), shape);
        return g.within<16>().op<"ScatterElements">(
            zeros, index, g.cast(amount, type), attr::axis_i(0), attr::reduction_s("add"));
    }
    value const position = range_to(g, [&] { return g.to_value(count); });
    value const hits = is_equal(g, unsqueeze(g, index, 1), position);
    value const amounts = g.op<"Where">(hits, unsqueeze(g, g.cast(amount, type), 1), g.scalar(0, type));
    return reduce_sum(g, amounts, std::array<std::int64_t, 1>{0}, false);
}

/// Counts the elements in [min, max]; elements outside and NaN are ignored. If min == max, the range is that of x, extended
/// by 1 on both sides if all elements are equal.
inline constexpr auto histc = symbolic<"aten::histc(self, bins, min, max)">(
    [](graph<9> g, value self, std::int64_t bins, number min, number max) -> value {
        if (is_empty(self)) return filled(g, std::array<sym_int, 1>{bins}, 0, self.dtype());
        value const flat = g.op<"Reshape">(self, g.ints({-1}));
        dtype const type = opmath_type(self.dtype());
        value const x = g.cast(flat, type);
        value low = g.scalar(min, type);
        value high = g.scalar(max, type);
        if (!min.is_constant() || !max.is_constant()) {
            value const none = is_equal(g, low, high);
            low = g.op<"Where">(none, reduce<"ReduceMin">(g, x, iota(1), false), low);
            high = g.op<"Where">(none, reduce<"ReduceMax">(g, x, iota(1), false), high);
            value const widening = g.cast(is_equal(g, low, high), type);
            low = g.op<"Sub">(low, widening);
            high = g.op<"Add">(high, widening);
        } else if (min == max) {
            low = reduce<"ReduceMin">(g, x, iota(1), false); // ATen refuses NaN here
            high = reduce<"ReduceMax">(g, x, iota(1), false);
            value const widening = g.cast(is_equal(g, low, high), type);
            low = g.op<"Sub">(low, widening);
            high = g.op<"Add">(high, widening);
        }
        auto const rounded = [&](value v) { return g.cast(g.cast(v, self.dtype()), type); }; // bfloat16 after each step
        value const scaled = rounded(g.op<"Mul">(rounded(g.op<"Sub">(x, low)), g.scalar_like(bins, x)));
        value const place = rounded(g.op<"Div">(scaled, rounded(g.op<"Sub">(high, low))));
        value const inside = g.op<"And">(is_at_least(g, x, low), is_at_most(g, x, high));
        value const bin = g.cast(g.op<"Where">(inside, place, g.scalar_like(0, x)), dtype::int64);
        value const closed = min_of(g, bin, g.scalar(bins - 1, dtype::int64));
        return g.cast(counted(g, closed, g.cast(inside, type), bins), self.dtype());
    });

inline constexpr auto bincount = symbolic<"aten::bincount(self, weights, minlength)">([](graph<9> g, value self,
                                                                                         optional_value weights,
                                                                                         sym_int minlength) -> value {
    bool const none = self.shape().element_count_or(-1) == 0;
    if (none) weights = absent; // for empty input, ATen returns int64 for every dtype of the weights
    value const index = g.cast(self, dtype::int64);
    dtype const type = !weights ? dtype::int64 : weights->dtype() == dtype::float32 ? dtype::float32 : dtype::float64;
    sym_int length = minlength;
    if (!none) {
        value const needed = g.op<"Add">(reduce<"ReduceMax">(g, index, iota(1), false), g.scalar(1, dtype::int64));
        length = value(max_of(g, needed, g.to_value(minlength)));
    }
    value const ones = expand_by(g, g.scalar(1, type), g.shape_of(self));
    return counted(g, index, weights ? g.cast(*weights, type) : ones, length);
});

struct histogram {
    value counts;
    safe_vector<value> edges;
};

/// The edges of bins of equal width between two 0-d float64 values, each computed from the nearer end.
inline value edges_between(graph<11> g, value low, value high, std::int64_t bins, dtype type) {
    auto const count = static_cast<double>(bins);
    value const n = g.cast(arithmetic_sequence(g, 0, bins + 1), dtype::float64);
    value const width = g.op<"Div">(g.op<"Sub">(high, low), count);
    value const first = g.op<"Add">(g.op<"Mul">(n, width), low);
    value const left = g.op<"Sub">(g.scalar(count, dtype::float64), n);
    value const second = g.op<"Sub">(high, g.op<"Mul">(left, width));
    value const is_first = g.op<"Less">(n, static_cast<double>((bins + 1) / 2));
    return g.cast(g.op<"Where">(is_first, first, second), type);
}

/// The edges of bins between the bounds of a range, or the extremes of x, which are 1 apart if they are equal.
inline value edges_of(graph<11> g, value x, std::int64_t bins, safe_span<double const> range) {
    if (bins < 1) throw unsupported_error("a histogram of " + std::to_string(bins) + " bins");
    budget::expect("bins", bins);
    auto const number = [&](double n) { return g.scalar(n, dtype::float64); };
    if (range.empty() && is_empty(x)) return edges_between(g, number(0), number(1), bins, x.dtype());
    if (!range.empty()) {
        double const apart = exactly_equal(range[0], range[1]) ? 0.5 : 0;
        if (!std::isfinite(range[0]) || !std::isfinite(range[1]) || range[0] > range[1])
            throw unsupported_error("a range that is not finite or not in order");
        return edges_between(g, number(range[0] - apart), number(range[1] + apart), bins, x.dtype());
    }
    value const wide = g.cast(x, dtype::float64);
    value const low = reduce<"ReduceMin">(g, wide, iota(1), false);
    value const high = reduce<"ReduceMax">(g, wide, iota(1), false);
    value const apart = g.op<"Mul">(g.cast(g.op<"Equal">(low, high), dtype::float64), 0.5);
    return edges_between(g, g.op<"Sub">(low, apart), g.op<"Add">(high, apart), bins, x.dtype());
}

/// One coordinate of points (n, d).
inline value coordinate(graph<11> g, value points, std::size_t i) {
    return select(g, points, 1, static_cast<std::int64_t>(i));
}

/// Points as (n, d), whose last axis has the coordinates.
inline value points_of(graph<11> g, value self, std::size_t coordinates) {
    if (self.rank() < 2) throw unsupported_error("points with fewer than 2 dimensions");
    auto const d = static_cast<std::int64_t>(coordinates);
    if (d == 0 || (self.size(-1).is_static() && self.size(-1).size() != d))
        throw unsupported_error("a number of bins or edges that is not that of the coordinates");
    safe_vector<sym_int> const sizes = g.sizes(self);
    return reshape(g, self, {product(safe_span<sym_int const>(sizes).first(sizes.size() - 1)), d});
}

/// Counts, or sums of weights, of points (n, d) between the edges of each coordinate. The last bin contains its upper edge.
inline value count_points(graph<11> g, value points, safe_span<value const> edges, optional_value weight,
                          bool density) {
    if (points.dtype() != dtype::float32 && points.dtype() != dtype::float64)
        throw unsupported_error("a histogram of " + std::string(name(points.dtype())));
    value place;
    value inside;
    sym_int total = 1;
    safe_vector<sym_int> bins;
    for (std::size_t i = 0; i != edges.size(); ++i) {
        value const edge = g.cast(edges[i], points.dtype());
        sym_int const count = g.size(edge, 0) - 1;
        value const x = unsqueeze(g, coordinate(g, points, i), 1);
        value const passed = g.cast(is_at_least(g, x, edge), dtype::int64); // (n, bins + 1)
        value const bin = g.op<"Sub">(reduce_sum(g, passed, std::array<std::int64_t, 1>{1}, false), 1);
        value const highest = g.to_value(count - 1);
        value const held = min_of(g, max_of(g, bin, 0), highest);
        value const below = is_at_most(g, x, slice(g, edge, 0, -1, to_the_end));
        value const here = g.op<"And">(is_at_least(g, bin, 0), squeeze(g, below, 1));
        place = i == 0 ? held : value(g.op<"Add">(g.op<"Mul">(place, g.to_value(count)), held));
        inside = i == 0 ? here : value(g.op<"And">(inside, here));
        total = total * count;
        bins.push_back(count);
    }
    value amount = g.cast(inside, points.dtype());
    if (weight) {
        value const each = reshape(g, g.cast(*weight, points.dtype()), {-1});
        amount = choose(g, inside, each, g.scalar(0, points.dtype()));
    }
    value counts = reshape(g, counted(g, place, amount, total), bins);
    if (!density) return counts;
    counts = g.op<"Div">(counts, reduce_sum(g, counts, iota(counts.rank()), false));
    for (std::size_t i = 0; i != edges.size(); ++i) {
        value const edge = g.cast(edges[i], points.dtype());
        value width = g.op<"Sub">(slice(g, edge, 0, 1, to_the_end), slice(g, edge, 0, 0, -1));
        for (std::size_t k = i + 1; k != edges.size(); ++k) width = unsqueeze(g, width, width.rank());
        counts = g.op<"Div">(counts, width);
    }
    return counts;
}

using optional_range = std::optional<safe_span<double const>>;

inline safe_vector<value> edges_of_points(graph<11> g, value points, int_list bins, optional_range range) {
    safe_span<double const> const bounds = range ? *range : safe_span<double const>();
    if (!bounds.empty() && bounds.size() != 2 * bins.size())
        throw unsupported_error("a range that does not have two numbers for each coordinate");
    safe_vector<value> edges;
    for (std::size_t i = 0; i != bins.size(); ++i)
        edges.push_back(
            edges_of(g, coordinate(g, points, i), bins[i], bounds.empty() ? bounds : bounds.subspan(2 * i, 2)));
    return edges;
}

inline histogram histogram_of_bins(graph<11> g, value self, int_list bins, optional_range range, optional_value weight,
                                   bool density) {
    value const points = points_of(g, self, bins.size());
    safe_vector<value> const edges = edges_of_points(g, points, bins, range);
    return {count_points(g, points, edges, weight, density), edges};
}

inline constexpr auto histogram_bins = symbolic<"aten::histogram.bin_ct(self, bins, range, weight, density)">(
    [](graph<11> g, value self, std::int64_t bins, optional_range range, optional_value weight, bool density) {
        value const points = reshape(g, self, {element_count(g, self), 1});
        safe_vector<value> const edges = edges_of_points(g, points, {&bins, 1}, range);
        return std::tuple(count_points(g, points, edges, weight, density), edges[0]);
    });
inline constexpr auto histogram_edges = symbolic<"aten::histogram.bins_tensor(self, bins, weight, density)">(
    [](graph<11> g, value self, value bins, optional_value weight, bool density) {
        value const points = reshape(g, self, {element_count(g, self), 1});
        return std::tuple(count_points(g, points, {&bins, 1}, weight, density), bins);
    });
inline constexpr auto histogramdd_bins = symbolic<"aten::histogramdd(self, bins, range, weight, density)">(
    [](graph<11> g, value self, int_list bins, optional_range range, optional_value weight, bool density) {
        histogram const h = histogram_of_bins(g, self, bins, range, weight, density);
        return std::tuple(h.counts, h.edges);
    });
inline constexpr auto histogramdd_int = symbolic<"aten::histogramdd.int_bins(self, bins, range, weight, density)">(
    [](graph<11> g, value self, std::int64_t bins, optional_range range, optional_value weight, bool density) {
        if (self.rank() < 2 || !self.size(-1).is_static())
            throw unsupported_error("a number of coordinates that is not static");
        budget::expect("coordinates", self.size(-1).size());
        safe_vector<std::int64_t> const all(static_cast<std::size_t>(self.size(-1).size()), bins);
        return histogramdd_bins(g, self, all, range, weight, density);
    });
inline constexpr auto histogramdd_edges =
    symbolic<"aten::histogramdd.TensorList_bins(self, bins, range, weight, density)">(
        [](graph<11> g, value self, safe_span<value const> bins, optional_range, optional_value weight, bool density) {
            value const points = points_of(g, self, bins.size());
            return std::tuple(count_points(g, points, bins, weight, density),
                              safe_vector<value>(bins.begin(), bins.end()));
        });
inline constexpr auto histogramdd_bin_edges =
    symbolic<"aten::_histogramdd_bin_edges(self, bins, range, weight, density)">(
        [](graph<11> g, value self, int_list bins, optional_range range, optional_value, bool) -> safe_vector<value> {
            return edges_of_points(g, points_of(g, self, bins.size()), bins, range);
        });
inline constexpr auto histogramdd_from_bins =
    symbolic<"aten::_histogramdd_from_bin_cts(self, bins, range, weight, density)">(
        [](graph<11> g, value self, int_list bins, optional_range range, optional_value weight, bool density) -> value {
            return histogram_of_bins(g, self, bins, range, weight, density).counts;
        });
inline constexpr auto histogramdd_from_edges =
    symbolic<"aten::_histogramdd_from_bin_tensors(self, bins, weight, density)">(
        [](graph<11> g, value self, safe_span<value const> bins, optional_value weight, bool density) -> value {
            return count_points(g, points_of(g, self, bins.size()), bins, weight, density);
        });

} // namespace detail

inline constexpr auto histograms =
    table(detail::histc, detail::histogram_bins, detail::histogram_edges, detail::histogramdd_bins,
          detail::histogramdd_int, detail::histogramdd_edges, detail::histogramdd_bin_edges,
          detail::histogramdd_from_bins, detail::histogramdd_from_edges, detail::bincount);

} // namespace ATON_NAMESPACE::mappings
