// SPDX-License-Identifier: MIT
// Reads kernel_shape, strides, dilations, pads and auto_pad.
#include "window_attributes.hpp"

#include <algorithm>
#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The padding for auto_pad SAME: ceil(size / stride) windows.
void pad_same(window& w, tensor const& x, bool upper) {
    for (std::size_t i = 0; i != w.axes(); ++i) {
        std::int64_t const size = x.size(i + 2);
        std::int64_t const windows = (size + w.strides[i] - 1) / w.strides[i];
        std::int64_t const total = std::max<std::int64_t>(0, w.reach(i, windows) - size);
        w.before[i] = upper ? total / 2 : total - total / 2;
        w.after[i] = total - w.before[i];
    }
    w.ceil = false;
}

} // namespace

sizes spatial_sizes(tensor const& x) {
    if (x.rank() < 2) throw error("[N, C, ...] is expected, not " + to_string(x.sizes()));
    return {x.sizes().begin() + 2, x.sizes().end()};
}

window bare_window_of(call const& c, std::size_t axes, sizes const& kernel) {
    window w = window::of(c.ints("kernel_shape", kernel));
    if (w.axes() != axes)
        throw error("the kernel " + to_string(w.kernel) + " does not fit " + std::to_string(axes) + " spatial axes");
    w.strides = c.ints("strides", w.strides);
    w.dilations = c.ints("dilations", w.dilations);
    w.ceil = c.i("ceil_mode", 0) != 0;
    if (c.has_attribute("pads")) {
        std::vector<std::int64_t> const pads = c.ints("pads");
        if (pads.size() != 2 * axes || std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p < 0; }))
            throw error("pads " + to_string(pads) + " do not fit " + std::to_string(axes) + " spatial axes");
        auto const half = pads.begin() + static_cast<std::ptrdiff_t>(axes);
        w.before.assign(pads.begin(), half);
        w.after.assign(half, pads.end());
    }
    check(w, axes);
    return w;
}

window window_of(call const& c, tensor const& x, sizes const& kernel) {
    window w = bare_window_of(c, spatial_sizes(x).size(), kernel);
    std::string const mode = c.s("auto_pad", "NOTSET");
    if (mode == "SAME_UPPER" || mode == "SAME_LOWER") pad_same(w, x, mode == "SAME_UPPER");
    else if (mode == "VALID") {
        w.before = w.after = sizes(w.axes(), 0);
        w.ceil = false;
    } else if (mode != "NOTSET" && !mode.empty()) throw error("auto_pad is '" + mode + "'");
    return w;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
