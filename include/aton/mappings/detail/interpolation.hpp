// SPDX-License-Identifier: MIT
// ATen's interpolation (ATen/native/UpSample.h) along one axis as a table of indices and weights, applied with Gather,
// Mul and ReduceSum where ONNX's Resize samples differently.
// Internal header.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings::detail {

enum class filter : std::uint8_t { nearest, nearest_exact, linear, cubic, lanczos };

struct interpolation {
    filter kind = filter::nearest;
    bool align_corners = false;
    bool antialias = false;

    [[nodiscard]] bool is_nearest() const { return kind == filter::nearest || kind == filter::nearest_exact; }
};

/// The sizes of one axis, and the scale factor of the call, if any.
struct resized_axis {
    std::int64_t in;
    std::int64_t out;
    std::optional<double> scale;
    /// One of two spatial axes: for nearest, ATen then ignores the scale if the size stays the same or doubles.
    bool is_of_image = false;

    /// The distance between two samples in input elements (compute_scales_value).
    [[nodiscard]] double step() const {
        return scale && *scale > 0 ? 1.0 / *scale : static_cast<double>(in) / static_cast<double>(out);
    }
    /// The same with align_corners (area_pixel_compute_scale).
    [[nodiscard]] double step(bool align_corners) const {
        if (!align_corners) return step();
        return out > 1 ? static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0.0;
    }
};

/// Output o is the sum over t of the input at `index[o * taps + t]` times `weight[o * taps + t]`.
struct tap_table {
    std::int64_t out = 0;
    std::int64_t taps = 1;
    safe_vector<std::int64_t> index;
    safe_vector<double> weight;
};

/// The input index of a nearest mode, computed in float32 as in ATen.
inline std::int64_t nearest_index(resized_axis const& a, std::int64_t o, filter kind) {
    auto const step = a.scale && *a.scale > 0 ? static_cast<float>(1.0 / *a.scale)
                                              : static_cast<float>(a.in) / static_cast<float>(a.out);
    if (kind == filter::nearest) {
        if (a.is_of_image && a.out == a.in) return o;
        if (a.is_of_image && a.out == 2 * a.in) return o / 2;
        return std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(o) * step)), a.in - 1);
    }
    double const at = (static_cast<double>(o) + 0.5) * static_cast<double>(step);
    return std::min(static_cast<std::int64_t>(std::floor(static_cast<float>(at))), a.in - 1);
}

inline tap_table nearest_taps(resized_axis const& a, filter kind) {
    tap_table t{a.out, 1, {}, {}};
    for (std::int64_t o = 0; o != a.out; ++o) t.index.push_back(nearest_index(a, o, kind));
    return t;
}

/// The cubic convolution kernel at distance x; `sharpness` is -0.75, or -0.5 with antialiasing.
inline double cubic_kernel(double x, double sharpness) {
    x = std::abs(x);
    if (x < 1) return ((sharpness + 2) * x - (sharpness + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * sharpness : 0;
}

inline double lanczos_kernel(double x) {
    constexpr double pi = 3.14159265358979323846;
    if (x <= -3 || x >= 3) return 0;
    return exactly_equal(x, 0) ? 1 : std::sin(pi * x) / (pi * x) * std::sin(pi * x / 3) / (pi * x / 3);
}

inline tap_table linear_taps(resized_axis const& a, bool align_corners) {
    tap_table t{a.out, 2, {}, {}};
    double const step = a.step(align_corners);
    for (std::int64_t o = 0; o != a.out; ++o) {
        double at =
            align_corners ? step * static_cast<double>(o) : std::max(step * (static_cast<double>(o) + 0.5) - 0.5, 0.0);
        if (a.in == a.out) at = static_cast<double>(o);
        std::int64_t const first = std::min(static_cast<std::int64_t>(at), a.in - 1);
        double const rest = std::clamp(at - static_cast<double>(first), 0.0, 1.0);
        t.index.insert(t.index.end(), {first, std::min(first + 1, a.in - 1)});
        t.weight.insert(t.weight.end(), {1 - rest, rest});
    }
    return t;
}

/// Positions outside the input read its edge.
inline tap_table cubic_taps(resized_axis const& a, bool align_corners) {
    tap_table t{a.out, 4, {}, {}};
    double const step = a.step(align_corners);
    for (std::int64_t o = 0; o != a.out; ++o) {
        double const at = align_corners ? step * static_cast<double>(o) : step * (static_cast<double>(o) + 0.5) - 0.5;
        auto const first = static_cast<std::int64_t>(std::floor(at));
        for (std::int64_t k = -1; k != 3; ++k) {
            t.index.push_back(std::clamp<std::int64_t>(first + k, 0, a.in - 1));
            t.weight.push_back(cubic_kernel(at - static_cast<double>(first + k), -0.75));
        }
    }
    return t;
}

/// Rounds like ATen, by truncating x + 0.5. std::lround differs for negative numbers and for the largest double below 0.5.
inline std::int64_t cut_after_half(double x) {
    return static_cast<std::int64_t>(x + 0.5); // NOLINT(bugprone-incorrect-roundings): bit-exact results
}

/// Antialiasing: windows that grow with the step and end at the edges, with weights that sum to 1 (_compute_weights_aa).
inline tap_table antialias_taps(resized_axis const& a, filter kind, bool align_corners) {
    double const step = a.step(align_corners);
    double const stretch = std::max(step, 1.0);
    double const support = (kind == filter::linear ? 1.0 : kind == filter::cubic ? 2.0 : 3.0) * stretch;
    auto const weight_at = [&](double x) {
        if (kind == filter::linear) return std::max(0.0, 1 - std::abs(x));
        return kind == filter::cubic ? cubic_kernel(x, -0.5) : lanczos_kernel(x);
    };
    safe_vector<safe_vector<std::pair<std::int64_t, double>>> rows;
    std::size_t longest = 1;
    checked_int all = 0;
    for (std::int64_t o = 0; o != a.out; ++o) {
        double const center = step * (static_cast<double>(o) + 0.5);
        auto const first = std::max<std::int64_t>(cut_after_half(center - support), 0);
        auto const last = std::min<std::int64_t>(cut_after_half(center + support), a.in);
        auto& row = rows.emplace_back();
        all = all + std::max<std::int64_t>(last - first, 0);
        budget::expect("a table of weights", all);
        double total = 0;
        for (std::int64_t i = first; i < last; ++i) {
            row.emplace_back(i, weight_at((static_cast<double>(i) - center + 0.5) / stretch));
            total += row.back().second;
        }
        for (auto& tap : row) tap.second = !exactly_equal(total, 0) ? tap.second / total : tap.second;
        longest = std::max(longest, row.size());
    }
    tap_table t{a.out, static_cast<std::int64_t>(longest), {}, {}};
    budget::expect("a table of weights", checked_int(t.out) * t.taps);
    for (auto& row : rows) {
        row.resize(longest, {row.empty() ? 0 : row.back().first, 0.0}); // padded with weight 0
        for (auto const& [index, weight] : row) {
            t.index.push_back(index);
            t.weight.push_back(weight);
        }
    }
    return t;
}

/// The sizes below which floor(size * factor) is the multiple of the size, although the factor is larger; 0 if there
/// are none.
inline std::int64_t sizes_before_growth(double factor, int multiple) {
    double const more = factor - multiple;
    if (!(more > 0 && more < 1)) return 0;
    if (more < 1e-9) return std::numeric_limits<std::int64_t>::max();
    auto const grows = [&](std::int64_t n) {
        return std::floor(static_cast<double>(n) * factor) > multiple * static_cast<double>(n);
    };
    auto n = static_cast<std::int64_t>(1 / more);
    while (!grows(n)) ++n;
    while (n > 1 && grows(n - 1)) --n;
    return n;
}

inline tap_table taps_of(resized_axis const& a, interpolation const& mode) {
    if (a.in < 1 || a.out < 0) throw unsupported_error("an interpolation of an empty dimension, or to a negative size");
    budget::expect("an interpolated dimension", checked_int(4) * a.out);
    if (mode.is_nearest()) return nearest_taps(a, mode.kind);
    if (mode.antialias) return antialias_taps(a, mode.kind, mode.align_corners);
    return mode.kind == filter::linear ? linear_taps(a, mode.align_corners) : cubic_taps(a, mode.align_corners);
}

/// x with `axis` replaced by (out, taps), or by (out) if there are no weights.
inline value gather_taps(graph<7> g, value x, std::int64_t axis, tap_table const& t) {
    tensor index = int64_tensor(t.index);
    if (!t.weight.empty()) index.sizes = {t.out, t.taps};
    return gather_of(g, x, g.constant(std::move(index)), axis);
}

/// The weights with a dimension of size 1 for each dimension after `axis`.
inline tensor tap_weights(value x, std::int64_t axis, tap_table const& t, dtype type) {
    tensor weights{type, {t.out, t.taps}, {}};
    weights.sizes.resize(static_cast<std::size_t>(x.rank() - axis) + 1, 1);
    for (double w : t.weight) weights.append(w);
    return weights;
}

inline value apply_taps(graph<7> g, value x, std::int64_t axis, tap_table const& t) {
    value const read = gather_taps(g, x, axis, t);
    if (t.weight.empty()) return read;
    value const weighted = g.op<"Mul">(read, g.constant(tap_weights(x, axis, t, x.dtype())));
    return reduce_sum(g, weighted, safe_vector<std::int64_t>{axis + 1}, false);
}

/// The same along an axis of dynamic size, for a call with a factor. The table is for an axis without an end: indices
/// stop at the last element. For linear filters and for nearest elements of images, ATen ignores the factor if the size
/// stays the same, and for the latter also if it doubles.
inline value apply_unlimited_taps(graph<7> g, value x, std::int64_t axis, resized_axis const& a,
                                  interpolation const& mode) {
    tap_table const t = taps_of(a, mode);
    safe_vector<std::int64_t> sizes{t.out};
    if (!t.weight.empty()) sizes.push_back(t.taps);
    auto const table = [&](auto index_at) {
        tensor all{dtype::int64, {sizes.begin(), sizes.end()}, {}};
        for (std::int64_t o = 0; o != t.out; ++o)
            for (std::int64_t k = 0; k != t.taps; ++k) all.append(index_at(o, k));
        return g.constant(std::move(all));
    };
    value const size = g.to_value(g.size(x, axis));
    value index =
        table([&](std::int64_t o, std::int64_t k) { return t.index[static_cast<std::size_t>(o * t.taps + k)]; });
    tensor given = tap_weights(x, axis, t, x.dtype());
    value weights = t.weight.empty() ? index : g.constant(given);
    bool const image = mode.kind == filter::nearest && a.is_of_image;
    if (image)
        index = choose(g.within<9>(),
                       is_equal(g, g.op<"Mul">(size, 2), t.out),
                       table([](std::int64_t o, std::int64_t) { return o / 2; }),
                       index);
    if (image || mode.kind == filter::linear) {
        value const same = is_equal(g, size, t.out);
        index = choose(g.within<9>(), same, table([](std::int64_t o, std::int64_t k) { return o + k; }), index);
        if (!t.weight.empty()) {
            tensor first{given.type, given.sizes, {}};
            for (std::int64_t i = 0; i != t.out * t.taps; ++i) first.append(i % t.taps == 0 ? 1 : 0);
            weights = choose(g.within<9>(), same, g.constant(std::move(first)), weights);
        }
    }
    index = max_of(g, min_of(g, index, g.op<"Sub">(size, 1)), 0);
    value const read = gather_of(g, x, index, axis);
    if (t.weight.empty()) return read;
    return reduce_sum(g, g.op<"Mul">(read, weights), safe_vector<std::int64_t>{axis + 1}, false);
}

/// Adds up the weights of an element that an output reads more than once, as happens at the edges.
inline void join_repeated_taps(tap_table& t) {
    auto const taps = static_cast<std::size_t>(t.taps);
    for (std::size_t i = 0; i != t.weight.size(); ++i)
        for (std::size_t k = i / taps * taps; k != i; ++k)
            if (t.index[k] == t.index[i]) {
                t.weight[k] += std::exchange(t.weight[i], 0.0);
                break;
            }
}

/// ATen's interpolation of uint8 (_compute_index_ranges_int16_weights): weights are 16-bit integers of maximum
/// precision, and every pass is rounded. x is int32.
inline value apply_taps_uint8(graph<7> g, value x, std::int64_t axis, tap_table t) {
    join_repeated_taps(t);
    double const largest = t.weight.empty() ? 0.0 : *std::max_element(t.weight.begin(), t.weight.end());
    int precision = 0;
    while (precision < 22 && cut_after_half(largest * static_cast<double>(std::int64_t{2} << precision)) < (1 << 15))
        ++precision;
    std::int64_t const one = std::int64_t{1} << precision;
    for (double& w : t.weight) w = std::trunc(w * static_cast<double>(one) + (w < 0 ? -0.5 : 0.5));
    value const weighted = g.op<"Mul">(gather_taps(g, x, axis, t), g.constant(tap_weights(x, axis, t, dtype::int32)));
    value const sum = reduce_sum(g, weighted, safe_vector<std::int64_t>{axis + 1}, false);
    value const rounded = clip(g, g.op<"Add">(sum, one / 2), 0, 256 * one - 1); // so that the quotient is in [0, 255]
    return g.op<"Div">(rounded, one);
}

} // namespace ATON_NAMESPACE::mappings::detail
