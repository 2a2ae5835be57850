// SPDX-License-Identifier: MIT
// ONNX operators: padding and cropping.
#include "call.hpp"

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The axes to pad; all by default.
std::vector<std::int64_t> padded_axes(tensor const& x, bool given, std::vector<std::int64_t> axes) {
    if (given) return axes;
    axes.resize(x.rank());
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
}

tensor padded(tensor const& x, sizes const& before, sizes const& after, std::string const& mode, tensor const& value) {
    if (mode == "constant") return pad(x, before, after, value);
    if (mode == "reflect") return pad(x, before, after, pad_mode::reflect);
    if (mode == "edge") return pad(x, before, after, pad_mode::edge);
    if (mode == "wrap") return pad(x, before, after, pad_mode::wrap);
    throw error("unknown mode '" + mode + "'");
}

results pad_around(call const& c) {
    tensor const& x = c.in(0);
    bool const old = c.opset() < 11;
    std::vector<std::int64_t> const pads = old ? c.ints(c.opset() < 2 ? "paddings" : "pads") : c.integers(1);
    bool const some_axes = c.opset() >= 18 && c.has(3);
    std::vector<std::int64_t> const axes =
        padded_axes(x, some_axes, some_axes ? c.integers(3) : std::vector<std::int64_t>());
    if (pads.size() != 2 * axes.size())
        throw error(std::to_string(pads.size()) + " pads were given for " + std::to_string(axes.size()) + " axes");
    sizes before(x.rank(), 0);
    sizes after(x.rank(), 0);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        before[axis_in(x, axes[i])] = pads[i];
        after[axis_in(x, axes[i])] = pads[axes.size() + i];
    }
    tensor value = full(old ? c.f("value", 0) : 0, x.dtype(), {}, x.where());
    if (!old && c.has(2)) {
        if (c.in(2).count() != 1 || c.in(2).dtype() != x.dtype())
            throw error("the constant to pad with must be one element of the same type");
        value = reshape(c.in(2), {});
    }
    return padded(x, before, after, c.s("mode", "constant"), value);
}

results center_crop_pad(call const& c) {
    tensor const& x = c.in(0);
    std::vector<std::int64_t> const to = c.integers(1);
    std::vector<std::int64_t> const axes = padded_axes(x, c.has_attribute("axes"), c.ints("axes"));
    if (to.size() != axes.size())
        throw error(std::to_string(to.size()) + " sizes were given for " + std::to_string(axes.size()) + " axes");
    sizes before(x.rank(), 0);
    sizes after(x.rank(), 0);
    (void)count_of(to);
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::size_t const axis = axis_in(x, axes[i]);
        std::int64_t const more = to[i] - x.size(axis);
        before[axis] = more / 2; // rounds towards zero: an odd element goes after
        after[axis] = more - more / 2;
    }
    return pad(x, before, after, scalar(0));
}

} // namespace

rows padding() {
    static constexpr row all[] = {
        {"CenterCropPad", center_crop_pad},
        {"Pad", pad_around},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
