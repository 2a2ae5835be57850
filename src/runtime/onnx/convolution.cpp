// SPDX-License-Identifier: MIT
// ONNX operators: convolution.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "runtime/compute/sampling.hpp"
#include "runtime/compute/spatial.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"
#include "window_attributes.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

results conv(call const& c) {
    tensor const& x = c.in(0);
    tensor const& weight = c.in(1);
    return runtime::convolution(x, weight, c.maybe(2), window_of(c, x, spatial_sizes(weight)), c.i("group", 1));
}

/// Sets the padding that gives the output sizes of output_shape or auto_pad.
void pad_to(window& w, sizes const& to, tensor const& x, sizes const& extra, bool upper) {
    if (to.size() != w.axes())
        throw error("output_shape " + to_string(to) + " does not fit " + std::to_string(w.axes()) + " axes");
    if (std::any_of(to.begin(), to.end(), [](std::int64_t n) { return n < 0 || n > max_elements; }))
        throw error("output_shape is out of range: " + to_string(to));
    for (std::size_t i = 0; i != w.axes(); ++i) {
        std::int64_t const total = w.reach(i, x.size(i + 2)) + extra[i] - to[i];
        std::int64_t const half = total >= 0 ? total / 2 : -((1 - total) / 2); // rounded down
        w.before[i] = upper ? half : total - half;
        w.after[i] = total - w.before[i];
    }
}

results conv_transpose(call const& c) {
    tensor const& x = c.in(0);
    tensor const& weight = c.in(1);
    window w = bare_window_of(c, spatial_sizes(x).size(), spatial_sizes(weight));
    sizes const extra = c.ints("output_padding", sizes(w.axes(), 0));
    check_output_padding(extra, w.axes());
    std::string const mode = c.s("auto_pad", "NOTSET");
    if (c.has_attribute("output_shape")) {
        sizes to = c.ints("output_shape");
        if (to.size() == w.axes() + 2) to.erase(to.begin(), to.begin() + 2); // including N and C, as version 1 allows
        pad_to(w, to, x, extra, mode == "SAME_UPPER");
    } else if (mode == "SAME_UPPER" || mode == "SAME_LOWER") {
        sizes to;
        for (std::size_t i = 0; i != w.axes(); ++i) to.push_back(count_of(sizes{x.size(i + 2), w.strides[i]}));
        pad_to(w, to, x, extra, mode == "SAME_UPPER");
    } else if (mode == "VALID") {
        w.before = w.after = sizes(w.axes(), 0);
    } else if (mode != "NOTSET" && !mode.empty()) {
        throw error("auto_pad is '" + mode + "'");
    }
    return transposed_convolution(x, weight, c.maybe(2), w, extra, c.i("group", 1));
}

/// Quantized numbers as int32 minus their zero point: one for all, or one per channel of axis 0.
tensor without_zero_point(tensor const& x, tensor const& zero) {
    tensor wide = cast(x, dtype::int32);
    if (!zero) return wide;
    if (zero.count() != 1 && (zero.rank() != 1 || zero.size(0) != x.size(0)))
        throw error("a zero point of shape " + to_string(zero.sizes()) + " does not fit " + to_string(x.sizes()));
    sizes to(x.rank(), 1);
    to[0] = zero.count();
    return wide - reshape(cast(zero, dtype::int32), to);
}

tensor integer_conv(call const& c, tensor const& x, tensor const& x_zero, tensor const& weight, tensor const& w_zero,
                    tensor const& bias) {
    if (x_zero && x_zero.count() != 1) throw error("the zero point of the input must have one element");
    if (weight.rank() < 3) throw error("a weight must have at least rank 3, not shape " + to_string(weight.sizes()));
    window const w = window_of(c, x, spatial_sizes(weight));
    return runtime::convolution(
        without_zero_point(x, x_zero), without_zero_point(weight, w_zero), bias, w, c.i("group", 1));
}

results conv_integer(call const& c) { return integer_conv(c, c.in(0), c.maybe(2), c.in(1), c.maybe(3), {}); }

results qlinear_conv(call const& c) {
    tensor const y = integer_conv(c, c.in(0), c.in(2), c.in(3), c.in(5), c.maybe(8));
    tensor const& weight_scale = c.in(4);
    tensor const& zero = c.in(7);
    if (c.in(1).count() != 1 || c.in(6).count() != 1 || zero.count() != 1)
        throw error("scale and zero point of the input and of the output must have one element each");
    if (weight_scale.count() != 1 && weight_scale.count() != y.size(1))
        throw error("the scale of the weight must have one element, or one per channel");
    sizes to(y.rank(), 1);
    to[1] = weight_scale.count();
    auto const wide = [](tensor const& t) { return cast(t, dtype::float32); };
    tensor const scale = reshape(wide(weight_scale), to) * reshape(wide(c.in(1)), {}) / reshape(wide(c.in(6)), {});
    tensor const shifted = round(wide(y) * scale) + reshape(wide(zero), {});
    bool const is_signed = zero.dtype() == dtype::int8;
    return cast(clamp(shifted, is_signed ? -128 : 0, is_signed ? 127 : 255), zero.dtype());
}

/// Coordinates along an axis, [groups, places of the kernel, windows], of the elements of each window without offsets.
tensor window_places(window const& w, sizes const& counts, std::size_t axis, device where) {
    std::size_t const axes = w.axes();
    sizes in_kernel(2 * axes, 1);
    sizes in_windows(2 * axes, 1);
    in_kernel[axis] = w.kernel[axis];
    in_windows[axes + axis] = counts[axis];
    tensor const at = reshape(range(w.kernel[axis], 0, w.dilations[axis], where), in_kernel) +
                      reshape(range(counts[axis], -w.before[axis], w.strides[axis], where), in_windows);
    sizes to = w.kernel;
    to.insert(to.end(), counts.begin(), counts.end());
    return reshape(at.expanded(to), {1, count_of(w.kernel), count_of(counts)});
}

results deform_conv(call const& c) {
    bool const narrow = c.in(0).dtype() == dtype::float16 || c.in(0).dtype() == dtype::bfloat16;
    auto const wide = [&](std::size_t i) { return narrow && c.has(i) ? cast(c.in(i), dtype::float32) : c.maybe(i); };
    tensor const x = wide(0);
    tensor const weight = wide(1);
    window const w = bare_window_of(c, spatial_sizes(x).size(), spatial_sizes(weight));
    sizes const counts = window_counts(w, x);
    auto const axes = static_cast<std::int64_t>(w.axes());
    std::int64_t const groups = c.i("offset_group", 1);
    std::int64_t const places = count_of(w.kernel);
    std::int64_t const windows = count_of(counts);
    if (groups < 1 || x.size(1) % groups != 0) throw error("offset_group is " + std::to_string(groups));
    std::int64_t const n = x.size(0);
    std::int64_t const parts = count_of(sizes{n, groups});
    sizes const spatial = spatial_sizes(x);
    tensor const shifts = reshape(wide(2), {parts, places, axes, windows});
    std::vector<tensor> coordinates;
    for (std::size_t i = 0; i != w.axes(); ++i) {
        tensor const base = cast(window_places(w, counts, i, x.where()), x.dtype());
        tensor const shift = shifts.sliced(2, static_cast<std::int64_t>(i), 1).squeezed(2);
        coordinates.push_back(reshape(base + shift, {parts, places * windows}));
    }
    sizes by_part = {parts, x.size(1) / groups};
    by_part.insert(by_part.end(), spatial.begin(), spatial.end());
    tensor seen = sample(reshape(x, by_part), coordinates, {}); // [N * groups, C / groups, places * windows]
    if (c.has(4)) seen = seen * reshape(wide(4), {parts, 1, places * windows});
    // The places of the kernel become channels of a convolution with kernel size 1.
    sizes to = {n, count_of(sizes{x.size(1), places})};
    to.insert(to.end(), counts.begin(), counts.end());
    sizes flat = {weight.size(0), count_of(sizes{weight.size(1), places})};
    flat.resize(flat.size() + w.axes(), 1);
    window const one = window::of(sizes(w.axes(), 1));
    return cast(runtime::convolution(reshape(seen, to), reshape(weight, flat), wide(3), one, c.i("group", 1)),
                c.in(0).dtype());
}

results col2im(call const& c) {
    tensor const& x = c.in(0);
    sizes const spatial = c.integers(1);
    window const w = bare_window_of(c, spatial.size(), c.integers(2));
    if (x.rank() != 3) throw error("columns must be [N, C * kernel, windows], not " + to_string(x.sizes()));
    (void)count_of(spatial);
    std::int64_t const places = count_of(w.kernel);
    if (x.size(1) % places != 0)
        throw error("columns of shape " + to_string(x.sizes()) + " do not fit the kernel " + to_string(w.kernel));
    sizes to = {x.size(0), x.size(1) / places};
    to.insert(to.end(), w.kernel.begin(), w.kernel.end());
    for (std::size_t i = 0; i != spatial.size(); ++i) {
        std::int64_t const slack = spatial[i] + w.before[i] + w.after[i] - w.extent(i);
        if (slack < 0) throw error("a window is larger than the image");
        to.push_back(slack / w.strides[i] + 1);
    }
    std::vector<std::size_t> order = {0, 1};
    for (std::size_t i = 0; i != spatial.size(); ++i) order.push_back(2 + spatial.size() + i);
    for (std::size_t i = 0; i != spatial.size(); ++i) order.push_back(2 + i);
    return fold(reshape(x, to).permuted(order), w, spatial);
}

results causal_conv_with_state(call const& c) {
    tensor const& x = c.in(0);
    tensor const& weight = c.in(1);
    if (x.rank() != 3 || weight.rank() != 3 || weight.size(1) != 1 || weight.size(2) < 1)
        throw error("[N, C, L] and a weight of [C, 1, K] are expected");
    std::int64_t const kept = weight.size(2) - 1;
    tensor past = full(0, x.dtype(), {x.size(0), x.size(1), kept}, x.where());
    if (c.has(3)) past = c.in(3);
    if (past.sizes() != sizes{x.size(0), x.size(1), kept})
        throw error("past_state has shape " + to_string(past.sizes()));
    std::vector<tensor> const parts = {past, x};
    tensor const whole = concat(parts, 2);
    tensor y = runtime::convolution(whole, weight, c.maybe(2), window::of({weight.size(2)}), x.size(1));
    std::string const activation = c.s("activation", "none");
    if (activation == "silu" || activation == "swish") y = unary(unary_op::swish, y, {1, 0, 0});
    else if (activation != "none") throw error("activation is '" + activation + "'");
    return {y, contiguous(whole.sliced(2, whole.size(2) - kept, kept))};
}

} // namespace

rows convolution() {
    static constexpr row all[] = {
        {"CausalConvWithState", causal_conv_with_state},
        {"Col2Im", col2im},
        {"Conv", conv},
        {"ConvInteger", conv_integer},
        {"ConvTranspose", conv_transpose},
        {"DeformConv", deform_conv},
        {"QLinearConv", qlinear_conv},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
