// SPDX-License-Identifier: MIT
// Regions of interest: torchvision's roi_align, roi_pool, ps_roi_align and ps_roi_pool.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/region_samples.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline void require_regions(value input, value rois) {
    if (input.dtype() != dtype::float32 && input.dtype() != dtype::float64)
        throw unsupported_error("regions of a tensor of " + std::string(name(input.dtype())));
    if (input.dtype() != rois.dtype()) throw unsupported_error("rois of another dtype than the input");
    if (input.rank() != 4 || rois.rank() != 2)
        throw unsupported_error("an input that is not [N, C, H, W], or rois that are not [K, 5]");
}

inline value batch_of(graph<11> g, value rois) { return g.cast(column_of(g, rois, 0), dtype::int64); }

inline std::int64_t bins_of(sym_int n) {
    if (n.constant() < 1) throw unsupported_error("an output size below 1");
    return n.constant();
}

/// roi_align from pixels that are gathered.
inline value align_by_gathering(graph<11> g, value input, value rois, double scale, std::int64_t height,
                                std::int64_t width, std::int64_t ratio, bool aligned) {
    auto const [y, x] = samples_in(g, input, rois, scale, aligned ? 0.5 : 0, !aligned, height, width, ratio);
    value const sums = sums_of_samples(g, input, batch_of(g, rois), y, x);
    value count = sample_count(g, y, x);
    if (y.is_adaptive) count = with_ones(g, max_of(g, count, g.scalar(1, count.dtype())), 3);
    safe_vector<std::int64_t> const channels_first = {0, 3, 1, 2};
    return permute(g, g.op<"Div">(sums, count), channels_first);
}

/// ONNX Runtime 1.31 has no kernel for RoiAlign of opset 22.
inline constexpr auto roi_align =
    symbolic<"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
             "pooled_width, int sampling_ratio, bool aligned) -> Tensor">(
        [](graph<22> g, value input, value rois, double scale, sym_int height, sym_int width, std::int64_t ratio,
           bool aligned) -> value {
            require_regions(input, rois);
            return align_by_gathering(g, input, rois, scale, bins_of(height), bins_of(width), ratio, aligned);
        });
/// RoiAlign, with all but the mode of its coordinates. Its scale is a float32; another one multiplies the corners.
template <class Graph, class... Mode>
value roi_align_node(Graph g, value input, value rois, double scale, std::int64_t height, std::int64_t width,
                     std::int64_t ratio, Mode const&... mode) {
    bool const fits =
        input.dtype() == dtype::float32 || exactly_equal(static_cast<double>(static_cast<float>(scale)), scale);
    value const corners = slice(g, rois, 1, 1, 5);
    return g.template op<"RoiAlign">(input,
                                     fits ? corners : value(g.template op<"Mul">(corners, scale)),
                                     batch_of(g, rois),
                                     attr::spatial_scale_f(fits ? scale : 1.0),
                                     attr::output_height_i(height),
                                     attr::output_width_i(width),
                                     attr::sampling_ratio_i(ratio < 1 ? 0 : ratio),
                                     mode...);
}
inline constexpr auto roi_align_until_21 =
    symbolic<"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
             "pooled_width, int sampling_ratio, bool aligned) -> Tensor">(
        [](graph<16, 21> g, value input, value rois, double scale, sym_int height, sym_int width, std::int64_t ratio,
           bool aligned) -> value {
            require_regions(input, rois);
            return roi_align_node(g,
                                  input,
                                  rois,
                                  scale,
                                  bins_of(height),
                                  bins_of(width),
                                  ratio,
                                  attr::coordinate_transformation_mode_s(aligned ? "half_pixel" : "output_half_pixel"));
        });
inline constexpr auto roi_align_until_15 =
    symbolic<"torchvision::roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
             "pooled_width, int sampling_ratio, bool aligned) -> Tensor">(
        [](graph<11, 15> g, value input, value rois, double scale, sym_int height, sym_int width, std::int64_t ratio,
           bool aligned) -> value {
            require_regions(input, rois);
            if (!aligned) return roi_align_node(g, input, rois, scale, bins_of(height), bins_of(width), ratio);
            return align_by_gathering(g, input, rois, scale, bins_of(height), bins_of(width), ratio, true);
        });

/// The channel of the input for each element of a position-sensitive result, [C / (height * width), height, width].
inline value channel_mapping(graph<11> g, value rois, sym_int channels, std::int64_t height, std::int64_t width) {
    value const all = g.cast(arithmetic_sequence(g, 0, channels), dtype::int32);
    value const mapping = reshape(g, all, {-1, height, width});
    safe_vector<sym_int> to = {g.size(rois, 0), channels / (height * width), height, width};
    return expand(g, mapping, to);
}
inline void require_channels(sym_int channels, std::int64_t height, std::int64_t width) {
    if (!channels.is_constant() || channels.constant() % (checked_int(height) * width) != 0)
        throw unsupported_error("a number of channels that is not a multiple of the output size");
}

/// Of the bins of each channel, the one that the channel is for: [K, bins, bins, C] becomes [K, C / bins^2, bins, bins].
inline value own_bins(graph<11> g, value x, std::int64_t height, std::int64_t width) {
    std::int64_t const bins = height * width;
    sym_int const regions = g.size(x, 0);
    value const apart = reshape(g, x, {regions, bins, g.size(x, 3) / bins, bins});
    safe_vector<std::int64_t> const together = {0, 2, 1, 3};
    value const pairs = reshape(g, permute(g, apart, together), {regions, g.size(x, 3) / bins, bins * bins});
    value const own = g.op<"Gather">(pairs, arithmetic_sequence(g, 0, bins, bins + 1), attr::axis_i(2));
    return reshape(g, own, {regions, g.size(x, 3) / bins, height, width});
}

inline constexpr auto ps_roi_align =
    symbolic<"torchvision::ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
             "pooled_width, int sampling_ratio) -> (Tensor, Tensor)">(
        [](graph<11> g, value input, value rois, double scale, sym_int pooled_height, sym_int pooled_width,
           std::int64_t ratio) -> std::tuple<value, value> {
            require_regions(input, rois);
            std::int64_t const height = bins_of(pooled_height);
            std::int64_t const width = bins_of(pooled_width);
            sym_int const channels = g.size(input, 1);
            require_channels(channels, height, width);
            auto const [y, x] = samples_in(g, input, rois, scale, 0.5, false, height, width, ratio);
            value const sums = sums_of_samples(g, input, batch_of(g, rois), y, x);
            value const count = sample_count(g, y, x); // may be 0: then the result is NaN
            value const means = g.op<"Div">(sums, y.is_adaptive ? with_ones(g, count, 3) : count);
            return {own_bins(g, means, height, width), channel_mapping(g, rois, channels, height, width)};
        });

/// Bins along one axis, [K, bins]: the first pixel and the one after the last, int64.
struct region_bins {
    value first;
    value end;
    value is_empty;
};

/// Rounds half away from zero, as std::round does.
inline value round_half_away(graph<11> g, value x) {
    value const size = g.op<"Abs">(x);
    value const whole = g.op<"Floor">(size);
    value const rest = g.op<"Sub">(size, whole); // exact, unlike size + 1/2
    value const rounded = g.op<"Where">(g.op<"Less">(rest, 0.5), whole, g.op<"Add">(whole, 1));
    return g.op<"Mul">(rounded, g.op<"Sign">(x));
}

/// `low` and `high` are [K], the first and the last pixel, or the one `past` it.
inline region_bins bins_along(graph<11> g, value low, value high, double past, std::int64_t bins, sym_int extent) {
    dtype const type = low.dtype();
    value const size = max_of(g, g.op<"Add">(g.op<"Sub">(high, low), past), g.scalar(1, type));
    value const bin = unsqueeze(g, g.op<"Div">(size, g.scalar(bins, type)), 1);
    value const number = g.cast(arithmetic_sequence(g, 0, bins), type);
    value const start = unsqueeze(g, low, 1);
    value const zero = g.scalar(0, dtype::int64);
    auto const bounded = [&](value x) -> value {
        value const whole = g.cast(g.op<"Add">(x, start), dtype::int64);
        return min_of(g, max_of(g, whole, zero), g.to_value(extent));
    };
    value const first = bounded(g.op<"Floor">(g.op<"Mul">(number, bin)));
    value const end = bounded(g.op<"Ceil">(g.op<"Mul">(g.op<"Add">(number, 1), bin)));
    return {first, end, is_at_most(g, end, first)};
}
struct bin_grid {
    region_bins y;
    region_bins x;
};
/// `past` is added to the sizes. Bins of torchvision's ps_roi_pool never contain the last row and column: they are
/// `left_out`.
inline bin_grid bins_in(graph<11> g, value input, value rois, double scale, double past, std::int64_t left_out,
                        std::int64_t height, std::int64_t width) {
    auto const corner = [&](std::int64_t i) { return round_half_away(g, g.op<"Mul">(column_of(g, rois, i), scale)); };
    return {bins_along(g, corner(2), corner(4), past, height, g.size(input, 2) - left_out),
            bins_along(g, corner(1), corner(3), past, width, g.size(input, 3) - left_out)};
}

/// Which of the pixels are in each bin: [..., bins, pixels] for bins [..., bins].
inline value pixels_in(graph<11> g, value first, value end, sym_int extent) {
    value const pixels = arithmetic_sequence(g, 0, extent);
    return g.op<"And">(is_at_most(g, unsqueeze(g, first, first.rank()), pixels),
                       g.op<"Less">(pixels, unsqueeze(g, end, end.rank())));
}

inline value lowest_number(graph<11> g, dtype type) {
    double const lowest = type == dtype::float64 ? std::numeric_limits<double>::lowest()
                                                 : static_cast<double>(std::numeric_limits<float>::lowest());
    return g.scalar(lowest, type);
}
/// x with the lowest finite number in place of NaN and -inf, which torchvision never finds larger than that number.
inline value above_lowest(graph<11> g, value x) {
    value const lowest = lowest_number(g, x.dtype());
    return g.op<"Where">(g.op<"IsNaN">(x), lowest, max_of(g, x, lowest));
}

/// The largest number of each bin, and its place in the plane of the channel, or 0 and -1 if there is none. A Loop over
/// regions, each of which first looks for the maximum of each row of pixels.
inline std::tuple<value, value> maxima_of_bins(graph<11> g, value input, value batch, bin_grid const& bins) {
    value const lowest = lowest_number(g, input.dtype());
    value const numbers = above_lowest(g, input);
    sym_int const rows = g.size(input, 2);
    sym_int const columns = g.size(input, 3);
    auto [largest, places] =
        g.op<"Loop">(g.op<"Size">(batch),
                     g.scalar(true, dtype::bool_),
                     outputs<2>,
                     attr::body_g([&](graph<11> h, value i, value on) {
                         auto const of = [&](value all) -> value { return h.op<"Gather">(all, i); };
                         value const plane = h.op<"Gather">(numbers, of(batch)); // [C, H, W]
                         value const across = pixels_in(h, of(bins.x.first), of(bins.x.end), columns);
                         value const in_rows = h.op<"Where">(across, unsqueeze(h, plane, 2), lowest); // [C, H, bins, W]
                         std::int64_t const last[] = {3};
                         safe_vector<std::int64_t> const rows_last = {0, 2, 1};
                         value const of_rows = permute(h, reduce<"ReduceMax">(h, in_rows, last, false), rows_last);
                         value const place_in_row =
                             permute(h, h.op<"ArgMax">(in_rows, attr::axis_i(3), attr::keepdims_i(0)), rows_last);
                         value const down = unsqueeze(h, pixels_in(h, of(bins.y.first), of(bins.y.end), rows), 1);
                         value const in_bins =
                             h.op<"Where">(down, unsqueeze(h, of_rows, 1), lowest); // [C, bins, bins, H]
                         value const largest_of = reduce<"ReduceMax">(h, in_bins, last, false);
                         value const row = h.op<"ArgMax">(in_bins, attr::axis_i(3), attr::keepdims_i(1));
                         value const all_rows = h.op<"Expand">(unsqueeze(h, place_in_row, 1), h.op<"Shape">(in_bins));
                         value const column = h.op<"GatherElements">(all_rows, row, attr::axis_i(3));
                         value const place = h.op<"Add">(h.op<"Mul">(row, h.to_value(columns)), column);
                         value const none = is_at_most(h, largest_of, lowest);
                         value const where = h.op<"Where">(none, h.scalar(-1, dtype::int64), squeeze(h, place, 3));
                         return std::tuple(on, largest_of, where);
                     }));
    value const empty = unsqueeze(g, g.op<"Or">(unsqueeze(g, bins.y.is_empty, 2), unsqueeze(g, bins.x.is_empty, 1)), 1);
    return {g.op<"Where">(empty, g.scalar_like(0, input), largest),
            g.cast(g.op<"Where">(empty, g.scalar(-1, dtype::int64), places), dtype::int32)};
}

inline std::tuple<value, value> pool_by_loop(graph<11> g, value input, value rois, double scale, sym_int pooled_height,
                                             sym_int pooled_width) {
    require_regions(input, rois);
    bin_grid const bins = bins_in(g, input, rois, scale, 1, 0, bins_of(pooled_height), bins_of(pooled_width));
    return maxima_of_bins(g, input, batch_of(g, rois), bins);
}
inline constexpr auto roi_pool = symbolic<"torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, "
                                          "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)">(
    [](graph<22> g, value input, value rois, double scale, sym_int height, sym_int width) {
        return pool_by_loop(g, input, rois, scale, height, width);
    });
/// MaxRoiPool gives the numbers alone; ONNX Runtime has it for float32, and not of opset 22.
inline constexpr auto roi_pool_until_21 =
    symbolic<"torchvision::roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
             "pooled_width) -> (Tensor, Tensor)">([](graph<11, 21> g, value input, value rois, double scale,
                                                     sym_int pooled_height,
                                                     sym_int pooled_width) -> std::tuple<value, value> {
        auto const [numbers, places] = pool_by_loop(g, input, rois, scale, pooled_height, pooled_width);
        if (input.dtype() != dtype::float32) return {numbers, places};
        value const pooled =
            g.op<"MaxRoiPool">(above_lowest(g, input),
                               rois,
                               attr::pooled_shape_i({pooled_height.constant(), pooled_width.constant()}),
                               attr::spatial_scale_f(scale));
        return {pooled, places};
    });

inline constexpr auto ps_roi_pool = symbolic<"torchvision::ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, "
                                             "SymInt pooled_height, SymInt pooled_width) -> (Tensor, Tensor)">(
    [](graph<11> g, value input, value rois, double scale, sym_int pooled_height,
       sym_int pooled_width) -> std::tuple<value, value> {
        require_regions(input, rois);
        std::int64_t const height = bins_of(pooled_height);
        std::int64_t const width = bins_of(pooled_width);
        safe_vector<sym_int> const sizes = g.sizes(input);
        require_channels(sizes[1], height, width);
        auto const [y, x] = bins_in(g, input, rois, scale, 0, 1, height, width);
        value const down = unsqueeze(g, pixels_in(g, y.first, y.end, sizes[2]), safe_vector<std::int64_t>{1, 3, 5});
        value const across = unsqueeze(g, pixels_in(g, x.first, x.end, sizes[3]), safe_vector<std::int64_t>{1, 2, 4});
        safe_vector<sym_int> const apart = {sizes[0], sizes[1] / (height * width), height, width, sizes[2], sizes[3]};
        value const planes = g.op<"Gather">(reshape(g, input, apart), batch_of(g, rois)); // [K, C, bins, bins, H, W]
        value const zero = g.scalar_like(0, input);
        value const inside = g.op<"Where">(g.op<"And">(down, across), planes, zero);
        safe_vector<std::int64_t> const plane = {4, 5};
        value const sums = reduce_sum(g, inside, plane, false);
        auto const extent = [&](region_bins const& bins) -> value { return g.op<"Sub">(bins.end, bins.first); };
        value const area = unsqueeze(g, g.op<"Mul">(unsqueeze(g, extent(y), 2), unsqueeze(g, extent(x), 1)), 1);
        value const empty = unsqueeze(g, g.op<"Or">(unsqueeze(g, y.is_empty, 2), unsqueeze(g, x.is_empty, 1)), 1);
        value const means = g.op<"Div">(sums, g.cast(area, input.dtype()));
        return {g.op<"Where">(empty, zero, means), channel_mapping(g, rois, sizes[1], height, width)};
    });

} // namespace detail

inline constexpr auto aligned_regions =
    table(detail::roi_align, detail::roi_align_until_21, detail::roi_align_until_15, detail::ps_roi_align);

inline constexpr auto pooled_regions = table(detail::roi_pool, detail::roi_pool_until_21, detail::ps_roi_pool);

inline constexpr auto regions = aligned_regions + pooled_regions;

} // namespace ATON_NAMESPACE::mappings
