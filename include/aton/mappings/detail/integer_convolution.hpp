// SPDX-License-Identifier: MIT
// Convolutions of integers, which ONNX's Conv does not have: windows, multiplied with the weight as matrices.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <aton/mappings/detail/dynamic_windows.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/windows.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// The parameters of a convolution, one number per spatial dimension.
struct convolution_parameters {
    ints stride, before, after, dilation, output_padding;
    std::int64_t groups = 1;
    bool transposed = false;

    [[nodiscard]] ints pads() const {
        ints both = before;
        both.insert(both.end(), after.begin(), after.end());
        return both;
    }
};

/// The inputs of a transposed convolution: output o reads input i with kernel element k if o = i * stride - before + k
/// * dilation.
inline axis_windows transposed_windows(std::int64_t in, std::int64_t kernel, convolution_parameters const& p,
                                       std::size_t axis) {
    std::int64_t const stride = p.stride[axis];
    checked_int const out = (checked_int(in) - 1) * stride - p.before[axis] - p.after[axis] +
                            checked_int(p.dilation[axis]) * (kernel - 1) + p.output_padding[axis] + 1;
    expect_table(std::max<std::int64_t>(out, 0), kernel);
    axis_windows w{in, {}};
    for (std::int64_t o = 0; o < out; ++o) {
        ints& taps = w.taps.emplace_back();
        for (std::int64_t k = 0; k != kernel; ++k) {
            std::int64_t const t = checked_int(o) + p.before[axis] - checked_int(k) * p.dilation[axis];
            taps.push_back(t >= 0 && t % stride == 0 && t / stride < in ? t / stride : -1);
        }
    }
    return w;
}

inline window_table convolution_windows(value x, value weight, convolution_parameters const& p) {
    ints const sizes = static_plane(x);
    ints const kernel = static_plane(weight);
    safe_vector<axis_windows> axes;
    for (std::size_t i = 0; i != sizes.size(); ++i) {
        if (p.transposed) {
            axes.push_back(transposed_windows(sizes[i], kernel[i], p, i));
            continue;
        }
        std::int64_t const out =
            (checked_int(sizes[i]) + p.before[i] + p.after[i] - checked_int(p.dilation[i]) * (kernel[i] - 1) - 1) /
                p.stride[i] +
            1;
        axes.push_back(sliding(sizes[i], out, kernel[i], p.stride[i], p.dilation[i], p.before[i]));
    }
    return combine(axes);
}

/// The same over a plane of dynamic size.
inline value gathered_convolution(graph<7> g, value x, value weight, optional_value bias,
                                  convolution_parameters const& p) {
    if (p.transposed || !weight.shape().is_static())
        return g.unsupported("a transposed convolution of integers, or one with a weight of dynamic size, over a "
                             "dynamic height or width");
    std::size_t const n = p.stride.size();
    gathered_windows w{static_plane(weight), p.stride, p.dilation, {}};
    ints pads(2 * n + 4, 0);
    safe_vector<sym_int> const in = last_sizes(g, x, n);
    std::int64_t volume = 1;
    for (std::size_t i = 0; i != n; ++i) {
        pads[i + 2] = p.before[i];
        pads[n + i + 4] = p.after[i];
        std::int64_t const more =
            checked_int(p.before[i]) + p.after[i] - checked_int(p.dilation[i]) * (w.kernel[i] - 1) - 1;
        w.out.push_back((in[i] + more) / p.stride[i] + 1);
        volume = checked_int(volume) * w.kernel[i];
    }
    value const windows = gather_windows(g, pads == ints(pads.size(), 0) ? x : pad(g, x, pads, 0), w);
    std::int64_t const out = weight.size(0).size();
    std::int64_t const rows = checked_int(weight.size(1).size()) * volume;
    sym_int const batch = g.size(x, 0);
    value const of_group = reshape(g, windows, {batch, p.groups, rows, product(safe_span(w.out))});
    value const y = g.op<"MatMul">(g.op<"Reshape">(weight, g.ints({p.groups, out / p.groups, rows})), of_group);
    safe_vector<sym_int> to{batch, out};
    to.insert(to.end(), w.out.begin(), w.out.end());
    value const image = reshape(g, y, to);
    ints after;
    for (std::size_t i = 0; i != n; ++i) after.push_back(static_cast<std::int64_t>(i) + 1);
    return bias ? value(g.op<"Add">(image, unsqueeze(g, *bias, after))) : image;
}

/// ONNX's Conv supports only floating-point dtypes: integers are gathered into windows and multiplied as matrices, exactly.
inline value integer_convolution(graph<7> g, value x, value weight, optional_value bias,
                                 convolution_parameters const& p) {
    if (is_integral(x.dtype()) && bits(x.dtype()) < 32) { // MatMul has no narrow integers; int32 keeps their low bits
        optional_value const b = bias ? optional_value(g.cast(*bias, dtype::int32)) : bias;
        return g.cast(integer_convolution(g, g.cast(x, dtype::int32), g.cast(weight, dtype::int32), b, p), x.dtype());
    }
    if (!has_static_plane(x)) return gathered_convolution(g, x, weight, bias, p);
    window_table const t = convolution_windows(x, weight, p);
    if (!weight.size(0).is_static() || !weight.size(1).is_static())
        return g.unsupported("an integer convolution with a weight of unknown size");
    std::int64_t const rows = weight.size(0).size();
    std::int64_t const columns = weight.size(1).size();
    std::int64_t const all = checked_int(columns) * p.groups;
    std::int64_t const in = p.transposed ? rows : all;
    std::int64_t const out = p.transposed ? all : rows;
    value w = weight;
    if (p.transposed) {
        w = g.op<"Reshape">(w, g.ints({p.groups, in / p.groups, columns, t.kernel}));
        w = g.op<"Transpose">(w, attr::perm_i({0, 2, 1, 3}));
    }
    w = g.op<"Reshape">(w, g.ints({p.groups, out / p.groups, in / p.groups * t.kernel}));
    value const windows =
        g.op<"Reshape">(gather_windows(g, x, t, 0), g.ints({0, p.groups, in / p.groups * t.kernel, t.positions}));
    value y = g.op<"Reshape">(g.op<"MatMul">(w, windows), g.ints({0, out, t.positions}));
    if (bias) y = g.op<"Add">(y, unsqueeze(g, *bias, 1));
    return unflatten(g, y, t);
}

} // namespace ATON_NAMESPACE::mappings::detail
