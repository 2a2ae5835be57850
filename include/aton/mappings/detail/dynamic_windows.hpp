// SPDX-License-Identifier: MIT
// Sliding windows over planes of dynamic size, gathered along one axis after the other, for what ONNX's pools and Conv
// do not compute.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/pool_windows.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Windows of which the one at position o starts at o * stride.
struct gathered_windows {
    ints kernel, stride, dilation;
    safe_vector<sym_int> out; ///< the number of windows along each axis
};

/// (batch, channel, spatial...) to (batch, channel, kernel..., out...). No window may end after the last element.
inline value gather_windows(graph<7> g, value x, gathered_windows const& w) {
    std::size_t const n = w.kernel.size();
    value y = x;
    ints order{0, 1};
    for (std::size_t i = 0; i != n; ++i) {
        budget::expect("a kernel", w.kernel[i]);
        ints taps;
        for (std::int64_t k = 0; k != w.kernel[i]; ++k) taps.push_back(checked_int(k) * w.dilation[i]);
        value const starts = arithmetic_sequence(g, 0, w.out[i], w.stride[i]);
        auto const axis = static_cast<std::int64_t>(2 + 2 * i);
        y = gather_of(g, y, g.op<"Add">(unsqueeze(g, g.ints(taps), 1), starts), axis);
        order.push_back(axis);
    }
    for (std::size_t i = 0; i != n; ++i) order.push_back(static_cast<std::int64_t>(3 + 2 * i));
    return permute(g, y, order);
}

/// The axes of the kernel in gathered windows.
inline ints kernel_axes(std::size_t n) {
    ints axes;
    for (std::size_t i = 0; i != n; ++i) axes.push_back(static_cast<std::int64_t>(2 + i));
    return axes;
}

/// The windows of a pool and the plane that they are in, which has enough `fill` around it. The number of windows is
/// pool_windows::out().
struct pool_plane {
    value padded;
    gathered_windows windows;
};
inline pool_plane plane_of(graph<7> g, value x, pool_windows const& p, scalar const& fill) {
    ints pads(2 * p.n + 4, 0);
    safe_vector<sym_int> const in = last_sizes(g, x, p.n);
    gathered_windows w{p.kernel, p.stride, p.dilation, {}};
    for (std::size_t i = 0; i != p.n; ++i) {
        std::int64_t const more = p.ceil_mode ? p.stride[i] - 1 : 0;
        pads[i + 2] = p.padding[i];
        pads[p.n + i + 4] = checked_int(p.padding[i]) + more;
        std::int64_t const both = checked_int(2) * p.padding[i] - p.extent(i);
        sym_int count = (in[i] + both + more) / p.stride[i] + 1;
        // In ceil_mode, no window starts in the padding at the end.
        std::int64_t const before = checked_int(p.padding[i]) + p.stride[i] - 1;
        if (p.ceil_mode) count = min(count, (in[i] + before) / p.stride[i]);
        w.out.push_back(count);
    }
    return {pads == ints(pads.size(), 0) ? x : pad(g, x, pads, fill), std::move(w)};
}

/// The number of elements of each window along every axis of an average pool, with or without those in the padding:
/// (out...), int64.
inline value divisors(graph<7> g, value x, pool_windows const& p, gathered_windows const& w, bool count_include_pad) {
    safe_vector<sym_int> const in = last_sizes(g, x, p.n);
    value all = g.scalar(1, dtype::int64);
    for (std::size_t i = 0; i != p.n; ++i) {
        std::int64_t const before = p.padding[i];
        value const start = arithmetic_sequence(g, -before, w.out[i], p.stride[i]);
        value const limit = g.to_value(count_include_pad ? in[i] + before : in[i]);
        value const end = min_of(g, g.op<"Add">(start, p.kernel[i]), limit);
        value const count = g.op<"Sub">(end, count_include_pad ? start : max_of(g, start, 0));
        ints after;
        for (std::size_t k = i + 1; k != p.n; ++k) after.push_back(static_cast<std::int64_t>(k - i));
        all = g.op<"Mul">(all, after.empty() ? count : unsqueeze(g, count, after));
    }
    return all;
}

} // namespace ATON_NAMESPACE::mappings::detail
