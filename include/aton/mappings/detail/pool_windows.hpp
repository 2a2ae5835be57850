// SPDX-License-Identifier: MIT
// The windows of ATen's pools, and what ONNX's pools need to have the same ones in ceil_mode.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/windows.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The parameters of a pool, one number per spatial dimension.
struct pool_windows {
    std::size_t n;
    ints kernel, stride, padding, dilation;
    bool ceil_mode;

    pool_windows(std::size_t dimensions, int_list kernel_size, int_list strides, int_list paddings, int_list dilations,
                 bool ceil)
        : n(dimensions),
          kernel(per_dimension(kernel_size, n, {})),
          stride(per_dimension(strides, n, kernel)),
          padding(per_dimension(paddings, n, ints(n, 0))),
          dilation(per_dimension(dilations, n, ints(n, 1))),
          ceil_mode(ceil) {
        if (kernel.empty()) throw unsupported_error("a pool without kernel_size");
        for (std::size_t i = 0; i != n; ++i)
            if (kernel[i] < 1 || stride[i] < 1 || dilation[i] < 1 || padding[i] < 0)
                throw unsupported_error("a kernel_size, stride or dilation below 1, or negative padding");
    }

    [[nodiscard]] std::int64_t extent(std::size_t i) const { return checked_int(dilation[i]) * (kernel[i] - 1) + 1; }
    /// The number of windows. As in ATen, a last window that would start in the padding is dropped.
    [[nodiscard]] std::int64_t out(std::size_t i, std::int64_t in) const {
        checked_int const last_start = checked_int(in) + checked_int(2) * padding[i] - extent(i);
        checked_int const n_windows = (last_start + (ceil_mode ? stride[i] - 1 : 0)) / stride[i] + 1;
        return ceil_mode && (n_windows - 1) * stride[i] >= checked_int(in) + padding[i] ? n_windows - 1 : n_windows;
    }
    /// The padding at the end with which floor mode has out() windows.
    [[nodiscard]] std::int64_t after(std::size_t i, std::int64_t in) const {
        return std::max<std::int64_t>(padding[i],
                                      (checked_int(out(i, in)) - 1) * stride[i] + extent(i) - in - padding[i]);
    }
    [[nodiscard]] window_table table(ints const& in) const {
        safe_vector<axis_windows> axes;
        for (std::size_t i = 0; i != n; ++i)
            axes.push_back(sliding(in[i], out(i, in[i]), kernel[i], stride[i], dilation[i], padding[i]));
        return combine(axes);
    }
    /// Whether a window along this axis contains only padding: a dilated window that starts in the padding may step
    /// over all elements.
    [[nodiscard]] bool misses_all(std::size_t i, std::int64_t in) const {
        std::int64_t const windows = dilation[i] > 1 ? out(i, in) : 0;
        auto const misses = [&](std::int64_t o) {
            std::int64_t const start = checked_int(o) * stride[i] - padding[i];
            checked_int const skipped =
                start >= 0 ? checked_int(0) : (checked_int(dilation[i]) - 1 - start) / dilation[i];
            std::int64_t const first = skipped * dilation[i] + start;
            return first >= in || skipped > kernel[i] - 1;
        };
        std::int64_t const in_front = std::min<std::int64_t>(windows, padding[i] / stride[i] + 1);
        budget::expect("windows in the padding", in_front);
        for (std::int64_t o = 0; o < in_front; ++o)
            if (misses(o)) return true;
        return windows > 0 && misses(windows - 1);
    }
    [[nodiscard]] std::int64_t volume() const {
        checked_int v = 1;
        for (std::int64_t k : kernel) v = v * k;
        return v;
    }
};

/// Whether a dynamic axis needs padding that a pool cannot have, because it is not smaller than the kernel. If the last
/// window may start in the padding, where ATen drops it, this is the case.
inline bool needs_pad(value x, pool_windows const& p) {
    for (std::size_t i = 0; p.ceil_mode && i != p.n; ++i)
        if (!x.size(static_cast<std::int64_t>(i) + 2).is_static() && p.stride[i] > p.kernel[i] - p.padding[i])
            return true;
    return false;
}

/// The number of positions along each axis at which a window may start: those of the padding in front and of the plane.
inline safe_vector<sym_int> start_counts(graph<7> g, value x, pool_windows const& p) {
    safe_vector<sym_int> n = last_sizes(g, x, p.n);
    for (std::size_t i = 0; i != p.n; ++i) n[i] = n[i] + p.padding[i];
    return n;
}

/// The pool in floor mode, called as pool(padded, p), of x between its padding and stride - 1 more elements; cut to the
/// windows that start in the first `starts` positions, the start_counts() of the image.
template <class Pool>
value padded_pool(graph<7> g, value x, pool_windows p, safe_span<sym_int const> starts, scalar const& fill, Pool pool) {
    ints pads(2 * p.n + 4, 0);
    for (std::size_t i = 0; i != p.n; ++i) {
        pads[i + 2] = p.padding[i];
        pads[p.n + i + 4] = checked_int(p.padding[i]) + p.stride[i] - 1;
    }
    p.padding = ints(p.n, 0);
    p.ceil_mode = false;
    value y = pool(pad(g, x, pads, fill), p);
    for (std::size_t i = 0; i != p.n; ++i)
        y = slice(g, y, static_cast<std::int64_t>(i) + 2, 0, (starts[i] + (p.stride[i] - 1)) / p.stride[i]);
    return y;
}

/// ONNX's pads. ceil_mode becomes padding at the end, because opsets and runtimes differ in its meaning. For dynamic
/// sizes, stride - 1 gives ATen's number of windows, unless needs_pad().
inline ints pool_pads(value x, pool_windows const& p) {
    ints pads = p.padding;
    for (std::size_t i = 0; i != p.n; ++i) {
        dim const& in = x.size(static_cast<std::int64_t>(i) + 2);
        if (in.is_static()) {
            pads.push_back(p.after(i, in.size()));
            continue;
        }
        pads.push_back(checked_int(p.padding[i]) + (p.ceil_mode ? p.stride[i] - 1 : 0));
    }
    return pads;
}

} // namespace ATON_NAMESPACE::mappings::detail
