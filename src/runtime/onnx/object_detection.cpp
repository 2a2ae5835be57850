// SPDX-License-Identifier: MIT
// ONNX operators: boxes and regions of interest.
#include "call.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// A box, by two corners.
struct box {
    float x1, y1, x2, y2;

    [[nodiscard]] float area() const { return (x2 - x1) * (y2 - y1); }
};

box box_at(float const* from, bool by_center) {
    if (!by_center)
        return {std::min(from[1], from[3]),
                std::min(from[0], from[2]),
                std::max(from[1], from[3]),
                std::max(from[0], from[2])};
    float const half_width = from[2] / 2;
    float const half_height = from[3] / 2;
    return {from[0] - half_width, from[1] - half_height, from[0] + half_width, from[1] + half_height};
}

bool overlap(box const& a, box const& b, float threshold) {
    float const width = std::min(a.x2, b.x2) - std::max(a.x1, b.x1);
    float const height = std::min(a.y2, b.y2) - std::max(a.y1, b.y1);
    if (!(width > 0) || !(height > 0)) return false;
    float const both = width * height;
    return both / (a.area() + b.area() - both) > threshold;
}

/// The indices of boxes in the order of their scores, without suppressed ones.
std::vector<std::int64_t> kept(std::vector<box> const& boxes, float const* scores, float min_score, float threshold,
                               std::int64_t max_count) {
    std::vector<std::int64_t> order;
    for (std::size_t i = 0; i != boxes.size(); ++i)
        if (scores[i] >= min_score) order.push_back(static_cast<std::int64_t>(i)); // excludes NaN
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return scores[a] > scores[b]; });
    std::vector<std::int64_t> out;
    for (std::int64_t i : order) {
        if (static_cast<std::int64_t>(out.size()) >= max_count) break;
        auto const suppresses = [&](std::int64_t other) {
            return overlap(boxes[static_cast<std::size_t>(i)], boxes[static_cast<std::size_t>(other)], threshold);
        };
        if (std::none_of(out.begin(), out.end(), suppresses)) out.push_back(i);
    }
    return out;
}

/// Computed on the host, since each box depends on those kept before it.
results non_max_suppression(call const& c) {
    tensor const boxes = contiguous(to_host(c.in(0)));
    tensor const scores = contiguous(to_host(c.in(1)));
    if (boxes.dtype() != dtype::float32 || scores.dtype() != dtype::float32)
        throw error("boxes and scores must be float32");
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes.size(2) != 4 || boxes.size(0) != scores.size(0) ||
        boxes.size(1) != scores.size(2))
        throw error("the shapes of boxes, " + to_string(boxes.sizes()) + ", and scores, " + to_string(scores.sizes()) +
                    ", do not match");
    std::int64_t const max_count = c.has(2) ? c.number(2).to<std::int64_t>() : 0;
    float const threshold = c.has(3) ? c.number(3).to<float>() : 0;
    float const min_score = c.has(4) ? c.number(4).to<float>() : -std::numeric_limits<float>::infinity();
    bool const by_center = c.i("center_point_box", 0) != 0;
    std::vector<std::int64_t> found;
    std::int64_t const count = boxes.size(1);
    for (std::int64_t batch = 0; batch != boxes.size(0); ++batch) {
        std::vector<box> these;
        for (std::int64_t i = 0; i != count; ++i)
            these.push_back(box_at(boxes.data<float const>() + (batch * count + i) * 4, by_center));
        for (std::int64_t of = 0; of != scores.size(1); ++of) {
            float const* const row = scores.data<float const>() + (batch * scores.size(1) + of) * count;
            for (std::int64_t i : kept(these, row, min_score, threshold, max_count))
                found.insert(found.end(), {batch, of, i});
        }
    }
    auto const rows = static_cast<std::int64_t>(found.size() / 3);
    return to_device(reshape(tensor::of_integers(found), {rows, 3}), c.where());
}

/// Sampling points of regions along one axis, each between two elements: [regions, points].
struct sample_points {
    tensor low, high;               ///< int64
    tensor low_weight, high_weight; ///< 0 outside
};

/// `first` and `bin` are [regions, 1]: the start of a region and the size of its bins.
sample_points points_along(tensor const& first, tensor const& bin, std::int64_t bins, std::int64_t grid,
                           std::int64_t size) {
    tensor const number = cast(range(bins * grid, 0, 1, first.where()), first.dtype());
    tensor const in_bins = (number + scalar(0.5)) / scalar(static_cast<double>(grid)); // p + (i + 0.5) / grid
    tensor const at = first + in_bins * bin;
    tensor const is_inside =
        cast(logical_and(greater_equal(at, -1.0), less_equal(at, static_cast<double>(size))), at.dtype());
    auto const last = static_cast<double>(size - 1);
    tensor const bounded = clamp(at, 0, last);
    tensor const low = floor(bounded);
    tensor const rest = bounded - low;
    sample_points p;
    p.low = cast(low, dtype::int64);
    p.high = minimum(p.low + scalar(1), scalar(size - 1));
    p.low_weight = (1.0 - rest) * is_inside;
    p.high_weight = rest * is_inside;
    return p;
}

struct roi_options {
    std::int64_t height, width; ///< of the output
    bool is_max;
};

/// Pools regions that have grids of the same size: [regions, channels, height, width]; `batch` is [regions].
tensor aligned(tensor const& x, tensor const& batch, sample_points const& y, sample_points const& across,
               std::array<std::int64_t, 2> grid, roi_options const& o) {
    std::int64_t const regions = batch.count();
    std::int64_t const points_down = o.height * grid[0];
    std::int64_t const points_across = o.width * grid[1];
    sizes const column = {regions, 1, points_down, 1};
    sizes const row = {regions, 1, 1, points_across};
    tensor const channels = reshape(range(x.size(1), 0, 1, x.where()), {1, x.size(1), 1, 1});
    auto const weighted = [&](tensor const& i, tensor const& wi, tensor const& j, tensor const& wj) {
        std::vector<tensor> const indices = {
            reshape(batch, {regions, 1, 1, 1}), channels, reshape(i, column), reshape(j, row)};
        return take(x, positions(x.sizes(), indices)) * (reshape(wi, column) * reshape(wj, row));
    };
    tensor const a = weighted(y.low, y.low_weight, across.low, across.low_weight);
    tensor const b = weighted(y.low, y.low_weight, across.high, across.high_weight);
    tensor const d = weighted(y.high, y.high_weight, across.low, across.low_weight);
    tensor const e = weighted(y.high, y.high_weight, across.high, across.high_weight);
    tensor const samples = o.is_max ? maximum(maximum(a, b), maximum(d, e)) : a + b + d + e;
    tensor const binned = reshape(samples, {regions, x.size(1), o.height, grid[0], o.width, grid[1]});
    return o.is_max ? max(binned, {3, 5}) : mean(binned, {3, 5});
}

/// The number of samples per bin along one axis.
std::int64_t grid_of(std::int64_t ratio, double size, std::int64_t bins) {
    constexpr double limit = 1 << 20;
    double const n = ratio > 0 ? static_cast<double>(ratio) : std::ceil(size / static_cast<double>(bins));
    if (!(n <= limit)) throw error("a region of size " + std::to_string(size) + " is too large");
    return n > 0 ? static_cast<std::int64_t>(n) : 0;
}

/// Regions as [n, 4] float64 on the host, in units of elements: left, top, width, height.
std::vector<std::array<double, 4>> regions_of(tensor const& rois, double scale, double shift, double min_size) {
    tensor const numbers = contiguous(cast(to_host(rois), dtype::float64));
    std::vector<std::array<double, 4>> out;
    for (std::int64_t i = 0; i != rois.size(0); ++i) {
        double const* const r = numbers.data<double const>() + i * 4;
        std::array<double, 4> const at = {
            r[0] * scale - shift, r[1] * scale - shift, r[2] * scale - shift, r[3] * scale - shift};
        out.push_back({at[0], at[1], std::max(at[2] - at[0], min_size), std::max(at[3] - at[1], min_size)});
        for (double number : out.back())
            if (!std::isfinite(number)) throw error("a region has a coordinate that is not finite");
    }
    return out;
}

results roi_align(call const& c) {
    tensor const& given = c.in(0);
    tensor const& rois = c.in(1);
    roi_options const o = {c.i("output_height", 1), c.i("output_width", 1), c.s("mode", "avg") == "max"};
    if (!o.is_max && c.s("mode", "avg") != "avg") throw error("unknown mode '" + c.s("mode") + "'");
    if (given.rank() != 4 || rois.rank() != 2 || rois.size(1) != 4 || c.in(2).sizes() != sizes{rois.size(0)})
        throw error("expected an input of rank 4, regions [n, 4] and indices [n]");
    if (o.height <= 0 || o.width <= 0 || std::max(o.height, o.width) > 1 << 20)
        throw error("the output size is " + std::to_string(o.height) + " by " + std::to_string(o.width));
    bool const narrow = given.dtype() != dtype::float64;
    tensor const x = narrow ? cast(given, dtype::float32) : given;
    std::string const shift =
        c.opset() < 16 ? "output_half_pixel" : c.s("coordinate_transformation_mode", "half_pixel");
    bool const half_pixel = shift == "half_pixel";
    if (!half_pixel && shift != "output_half_pixel")
        throw error("unknown coordinate_transformation_mode '" + shift + "'");
    // Without half_pixel, regions have at least the size of one element.
    auto const regions = regions_of(rois, c.f("spatial_scale", 1), half_pixel ? 0.5 : 0, half_pixel ? -1e300 : 1);
    std::int64_t const ratio = c.i("sampling_ratio", 0);
    std::map<std::array<std::int64_t, 2>, std::vector<std::int64_t>> by_grid;
    for (std::size_t i = 0; i != regions.size(); ++i)
        by_grid[{grid_of(ratio, regions[i][3], o.height), grid_of(ratio, regions[i][2], o.width)}].push_back(
            static_cast<std::int64_t>(i));
    sizes const to = {rois.size(0), x.size(1), o.height, o.width};
    tensor out = clone(full(0, x.dtype(), to, x.where()));
    if (out.count() == 0) return cast(out, given.dtype());
    if (x.count() == 0) throw error("the input is empty");
    for (auto const& [grid, all] : by_grid) {
        if (grid[0] == 0 || grid[1] == 0) continue; // no samples: 0
        constexpr std::int64_t max_samples = 1 << 22;
        std::int64_t const each = count_of(sizes{x.size(1), o.height * grid[0], o.width * grid[1]});
        auto const step = static_cast<std::size_t>(std::max<std::int64_t>(1, max_samples / each));
        for (std::size_t start = 0; start < all.size(); start += step) {
            auto const part = std::span(all).subspan(start, std::min(step, all.size() - start));
            auto const column = [&](auto const& number) { // per region, [regions, 1]
                tensor const t = tensor::empty(dtype::float64, {static_cast<std::int64_t>(part.size()), 1});
                for (std::size_t i = 0; i != part.size(); ++i)
                    t.data<double>()[i] = number(regions[static_cast<std::size_t>(part[i])]);
                return to_device(cast(t, x.dtype()), x.where());
            };
            using region = std::array<double, 4>;
            auto const height = static_cast<double>(o.height);
            auto const width = static_cast<double>(o.width);
            sample_points const down = points_along(column([](region const& r) { return r[1]; }),
                                                    column([&](region const& r) { return r[3] / height; }),
                                                    o.height,
                                                    grid[0],
                                                    x.size(2));
            sample_points const across = points_along(column([](region const& r) { return r[0]; }),
                                                      column([&](region const& r) { return r[2] / width; }),
                                                      o.width,
                                                      grid[1],
                                                      x.size(3));
            tensor const where = to_device(tensor::of_integers(part), x.where());
            tensor const batch = index_select(cast(c.in(2), dtype::int64), 0, where);
            tensor const values = aligned(x, batch, down, across, grid, o);
            std::vector<tensor> const into = {where};
            out = put(out, positions(to, into), values);
        }
    }
    return cast(out, given.dtype());
}

/// The elements of an axis in a bin: the first, and their number.
std::pair<std::int64_t, std::int64_t> bin_of(std::int64_t bin, double start, double end, std::int64_t bins,
                                             std::int64_t size) {
    double const each = std::max(end - start + 1, 1.0) / static_cast<double>(bins);
    auto const bound = [&](double at) {
        return static_cast<std::int64_t>(std::clamp(at + start, 0.0, static_cast<double>(size)));
    };
    std::int64_t const first = bound(std::floor(static_cast<double>(bin) * each));
    std::int64_t const last = bound(std::ceil(static_cast<double>(bin + 1) * each));
    return {first, std::max<std::int64_t>(0, last - first)};
}

results max_roi_pool(call const& c) {
    tensor const& x = c.in(0);
    tensor const& rois = c.in(1);
    std::vector<std::int64_t> const pooled = c.ints("pooled_shape");
    if (x.rank() != 4 || rois.rank() != 2 || rois.size(1) != 5 || pooled.size() != 2 || pooled[0] <= 0 ||
        pooled[1] <= 0)
        throw error("expected an input of rank 4, regions [n, 5] and two numbers in 'pooled_shape'");
    double const scale = c.f("spatial_scale", 1);
    tensor const out = clone(full(0, x.dtype(), {rois.size(0), x.size(1), pooled[0], pooled[1]}, x.where()));
    if (out.count() == 0) return out;
    tensor const numbers = contiguous(cast(to_host(rois), dtype::float64));
    for (std::int64_t r = 0; r != rois.size(0); ++r) {
        double const* const roi = numbers.data<double const>() + r * 5;
        if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.size(0))))
            throw error("the image index of a region is out of range");
        std::array<double, 4> at{};
        for (std::size_t i = 0; i != 4; ++i) {
            at[i] = std::round(roi[i + 1] * scale);
            if (!std::isfinite(at[i])) throw error("a region has a coordinate that is not finite");
        }
        tensor const image = x.sliced(0, static_cast<std::int64_t>(roi[0]), 1);
        for (std::int64_t i = 0; i != pooled[0]; ++i) {
            auto const [top, height] = bin_of(i, at[1], at[3], pooled[0], x.size(2));
            for (std::int64_t j = 0; j != pooled[1]; ++j) {
                auto const [left, width] = bin_of(j, at[0], at[2], pooled[1], x.size(3));
                if (height == 0 || width == 0) continue; // 0
                tensor const bin = image.sliced(2, top, height).sliced(3, left, width);
                copy(max(bin, {2, 3}, true), out.sliced(0, r, 1).sliced(2, i, 1).sliced(3, j, 1));
            }
        }
    }
    return out;
}

} // namespace

rows object_detection() {
    static constexpr row all[] = {
        {"MaxRoiPool", max_roi_pool},
        {"NonMaxSuppression", non_max_suppression},
        {"RoiAlign", roi_align},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
