// SPDX-License-Identifier: MIT
// Operators of torchvision: pooling of regions of interest.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <aton/core/error.hpp>

#include "libraries.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

struct region_call {
    tensor input; ///< [N, C, H, W]
    tensor rois;  ///< [K, 5]: the index in the batch, and two corners
    std::int64_t height, width;
    double scale;

    explicit region_call(call const& c)
        : input(contiguous(to_host(c.t("input")))),
          rois(contiguous(to_host(c.t("rois")))),
          height(c.i("pooled_height")),
          width(c.i("pooled_width")),
          scale(c.f("spatial_scale")) {
        if (input.rank() != 4 || rois.rank() != 2 || rois.size(1) != 5)
            throw error("expected an input [N, C, H, W] and rois [K, 5]");
        if (input.dtype() != rois.dtype()) throw error("input and rois differ in dtype");
        if (height < 1 || width < 1 || height > 4096 || width > 4096) throw error("the output size is out of range");
    }
    [[nodiscard]] std::int64_t channels() const { return input.size(1); }
    [[nodiscard]] std::int64_t rows() const { return input.size(2); }
    [[nodiscard]] std::int64_t columns() const { return input.size(3); }
    void require_pixels() const {
        if (rows() == 0 || columns() == 0) throw error("the image has no pixels");
    }
    template <class T>
    [[nodiscard]] T const* plane(std::int64_t batch, std::int64_t channel) const {
        return input.data<T const>() + (batch * channels() + channel) * rows() * columns();
    }
    template <class T>
    [[nodiscard]] std::int64_t batch(std::int64_t region) const {
        auto const i = static_cast<std::int64_t>(rois.data<T const>()[region * 5]);
        if (i < 0 || i >= input.size(0)) throw error("a region is of an image that is not in the batch");
        return i;
    }
    /// A coordinate of a corner, in pixels.
    template <class T>
    [[nodiscard]] T corner(std::int64_t region, int i) const {
        T const at = rois.data<T const>()[region * 5 + 1 + i] * static_cast<T>(scale);
        if (!std::isfinite(at) || std::abs(at) > T{1 << 20})
            throw error("a region has a coordinate that is out of range");
        return at;
    }
    /// The channel that a position-sensitive result is taken from.
    [[nodiscard]] std::int64_t own_channel(std::int64_t channel, std::int64_t y, std::int64_t x) const {
        return (channel * height + y) * width + x;
    }
    [[nodiscard]] std::int64_t own_channels() const {
        if (channels() % (height * width) != 0)
            throw error("the number of channels is not a multiple of the output size");
        return channels() / (height * width);
    }
};

template <class T>
T bilinear(T const* plane, std::int64_t height, std::int64_t width, T y, T x) {
    if (y < -1 || y > static_cast<T>(height) || x < -1 || x > static_cast<T>(width)) return 0;
    y = std::max(y, T{0});
    x = std::max(x, T{0});
    auto const ends = [](T& at, std::int64_t size) -> std::array<std::int64_t, 2> {
        auto const low = static_cast<std::int64_t>(at);
        if (low < size - 1) return {low, low + 1};
        at = static_cast<T>(size - 1);
        return {size - 1, size - 1};
    };
    auto const [top, bottom] = ends(y, height);
    auto const [left, right] = ends(x, width);
    T const down = y - static_cast<T>(top);
    T const across = x - static_cast<T>(left);
    auto const at = [&](std::int64_t row, std::int64_t column) { return plane[row * width + column]; };
    return (1 - down) * (1 - across) * at(top, left) + (1 - down) * across * at(top, right) +
           down * (1 - across) * at(bottom, left) + down * across * at(bottom, right);
}

/// Where a region starts along an axis, and the size and the samples of its bins.
template <class T>
struct sampled_axis {
    T start, bin;
    std::int64_t samples;

    sampled_axis(T low, T high, T shift, bool clamps, std::int64_t bins, std::int64_t ratio) : start(low - shift) {
        T size = high - shift - start;
        if (clamps) size = std::max(size, T{1});
        bin = size / static_cast<T>(bins);
        samples = ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(bin));
    }
    [[nodiscard]] T at(std::int64_t i, std::int64_t sample) const {
        return start + static_cast<T>(i) * bin + (static_cast<T>(sample) + T(0.5)) * bin / static_cast<T>(samples);
    }
};

template <class T>
T mean_of_bin(T const* plane, region_call const& r, sampled_axis<T> const& y, sampled_axis<T> const& x,
              std::int64_t row, std::int64_t column, std::int64_t count) {
    T sum = 0;
    for (std::int64_t i = 0; i < y.samples; ++i)
        for (std::int64_t k = 0; k < x.samples; ++k)
            sum += bilinear(plane, r.rows(), r.columns(), y.at(row, i), x.at(column, k));
    return sum / static_cast<T>(count);
}

/// `sensitive`: each bin has channels of its own.
template <class T>
tensor aligned(region_call const& r, std::int64_t ratio, bool shifts, bool sensitive) {
    r.require_pixels();
    std::int64_t const channels = sensitive ? r.own_channels() : r.channels();
    tensor out = tensor::empty(r.input.dtype(), {r.rois.size(0), channels, r.height, r.width});
    T* to = out.data<T>();
    T const shift = shifts ? T(0.5) : T(0);
    for (std::int64_t k = 0; k != r.rois.size(0); ++k) {
        sampled_axis<T> const y(r.corner<T>(k, 1), r.corner<T>(k, 3), shift, !shifts, r.height, ratio);
        sampled_axis<T> const x(r.corner<T>(k, 0), r.corner<T>(k, 2), shift, !shifts, r.width, ratio);
        constexpr double max_samples = 0x1p31; // of all bins
        if (static_cast<double>(y.samples) * static_cast<double>(x.samples) *
                std::max(1.0, static_cast<double>(out.count())) >
            max_samples)
            throw error("the bins of a region have too many samples");
        std::int64_t const count = sensitive ? y.samples * x.samples : std::max<std::int64_t>(y.samples * x.samples, 1);
        for (std::int64_t c = 0; c != channels; ++c)
            for (std::int64_t i = 0; i != r.height; ++i)
                for (std::int64_t j = 0; j != r.width; ++j) {
                    T const* const plane = r.plane<T>(r.batch<T>(k), sensitive ? r.own_channel(c, i, j) : c);
                    *to++ = mean_of_bin(plane, r, y, x, i, j, count);
                }
    }
    return out;
}

/// The pixels of bin i along an axis.
template <class T>
std::array<std::int64_t, 2> pixels_of(T low, T high, int past, std::int64_t bins, std::int64_t i, std::int64_t last) {
    auto const start = static_cast<std::int64_t>(std::round(low));
    std::int64_t const size = std::max<std::int64_t>(static_cast<std::int64_t>(std::round(high)) - start + past, 1);
    T const bin = static_cast<T>(size) / static_cast<T>(bins);
    auto const bounded = [&](T x) { return std::clamp<std::int64_t>(static_cast<std::int64_t>(x) + start, 0, last); };
    return {bounded(std::floor(static_cast<T>(i) * bin)), bounded(std::ceil(static_cast<T>(i + 1) * bin))};
}

template <class T>
results maxima(region_call const& r) {
    sizes const shape = {r.rois.size(0), r.channels(), r.height, r.width};
    tensor numbers = tensor::empty(r.input.dtype(), shape);
    tensor places = tensor::empty(dtype::int32, shape);
    T* number = numbers.data<T>();
    auto* place = places.data<std::int32_t>();
    for (std::int64_t k = 0; k != r.rois.size(0); ++k)
        for (std::int64_t c = 0; c != r.channels(); ++c)
            for (std::int64_t i = 0; i != r.height; ++i)
                for (std::int64_t j = 0; j != r.width; ++j, ++number, ++place) {
                    auto const [top, bottom] =
                        pixels_of(r.corner<T>(k, 1), r.corner<T>(k, 3), 1, r.height, i, r.rows());
                    auto const [left, right] =
                        pixels_of(r.corner<T>(k, 0), r.corner<T>(k, 2), 1, r.width, j, r.columns());
                    T const* const plane = r.plane<T>(r.batch<T>(k), c);
                    *number = bottom <= top || right <= left ? 0 : std::numeric_limits<T>::lowest();
                    *place = -1;
                    for (std::int64_t y = top; y < bottom; ++y)
                        for (std::int64_t x = left; x < right; ++x)
                            if (std::int64_t const at = y * r.columns() + x; plane[at] > *number) {
                                *number = plane[at];
                                *place = static_cast<std::int32_t>(at);
                            }
                }
    return {numbers, places};
}

template <class T>
tensor means(region_call const& r) {
    r.require_pixels();
    tensor out = tensor::empty(r.input.dtype(), {r.rois.size(0), r.own_channels(), r.height, r.width});
    T* to = out.data<T>();
    for (std::int64_t k = 0; k != r.rois.size(0); ++k)
        for (std::int64_t c = 0; c != r.own_channels(); ++c)
            for (std::int64_t i = 0; i != r.height; ++i)
                for (std::int64_t j = 0; j != r.width; ++j) {
                    auto const [top, bottom] =
                        pixels_of(r.corner<T>(k, 1), r.corner<T>(k, 3), 0, r.height, i, r.rows() - 1);
                    auto const [left, right] =
                        pixels_of(r.corner<T>(k, 0), r.corner<T>(k, 2), 0, r.width, j, r.columns() - 1);
                    T const* const plane = r.plane<T>(r.batch<T>(k), r.own_channel(c, i, j));
                    T sum = 0;
                    for (std::int64_t y = top; y < bottom; ++y)
                        for (std::int64_t x = left; x < right; ++x) sum += plane[y * r.columns() + x];
                    bool const empty = bottom <= top || right <= left;
                    *to++ = empty ? 0 : sum / static_cast<T>((bottom - top) * (right - left));
                }
    return out;
}

tensor mapping(region_call const& r) {
    tensor out = tensor::empty(dtype::int32, {r.rois.size(0), r.own_channels(), r.height, r.width});
    for (std::int64_t i = 0; i != out.count(); ++i)
        out.data<std::int32_t>()[i] = static_cast<std::int32_t>(i % r.channels());
    return out;
}

template <class Function>
auto by_dtype(region_call const& r, Function const& f) {
    if (r.input.dtype() == dtype::float32) return f(float{});
    if (r.input.dtype() == dtype::float64) return f(double{});
    throw error("the input is float32 or float64");
}

results roi_align(call const& c) {
    region_call const r(c);
    return to_device(
        by_dtype(r, [&](auto t) { return aligned<decltype(t)>(r, c.i("sampling_ratio"), c.b("aligned"), false); }),
        c.where());
}

results ps_roi_align(call const& c) {
    region_call const r(c);
    tensor const out = by_dtype(r, [&](auto t) { return aligned<decltype(t)>(r, c.i("sampling_ratio"), true, true); });
    return {to_device(out, c.where()), to_device(mapping(r), c.where())};
}

results roi_pool(call const& c) {
    region_call const r(c);
    results out = by_dtype(r, [&](auto t) { return maxima<decltype(t)>(r); });
    return {to_device(out.all().results[0].one(), c.where()), to_device(out.all().results[1].one(), c.where())};
}

results ps_roi_pool(call const& c) {
    region_call const r(c);
    return {to_device(by_dtype(r, [&](auto t) { return means<decltype(t)>(r); }), c.where()),
            to_device(mapping(r), c.where())};
}

} // namespace

rows regions() {
    static constexpr row all[] = {
        {"torchvision::ps_roi_align", ps_roi_align},
        {"torchvision::ps_roi_pool", ps_roi_pool},
        {"torchvision::roi_align", roi_align},
        {"torchvision::roi_pool", roi_pool},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
