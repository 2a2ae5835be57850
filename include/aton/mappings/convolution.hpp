// SPDX-License-Identifier: MIT
// ATen's convolutions over one to three spatial dimensions, including transposed ones, and their gradients, as ONNX's
// Conv and ConvTranspose.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/integer_convolution.hpp>
#include <aton/mappings/detail/time_convolution.hpp>
#include <aton/mappings/detail/transposed_convolution.hpp>
#include <aton/mappings/detail/unary.hpp>
#include <aton/mappings/detail/windows.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline std::size_t spatial_rank(value weight) {
    if (weight.rank() < 3) throw unsupported_error("a weight of rank " + std::to_string(weight.rank()));
    return static_cast<std::size_t>(weight.rank() - 2);
}

inline convolution_parameters parameters(value weight, int_list stride, int_list padding, int_list dilation,
                                         std::int64_t groups) {
    std::size_t const n = spatial_rank(weight);
    ints const zeros(n, 0);
    ints const pad = per_dimension(padding, n, zeros);
    return {
        per_dimension(stride, n, ints(n, 1)), pad, pad, per_dimension(dilation, n, ints(n, 1)), zeros, groups, false};
}

inline convolution_parameters transposed_parameters(value weight, int_list stride, int_list padding,
                                                    int_list output_padding, int_list dilation, std::int64_t groups) {
    convolution_parameters p = parameters(weight, stride, padding, dilation, groups);
    p.output_padding = per_dimension(output_padding, spatial_rank(weight), p.output_padding);
    p.transposed = true;
    for (std::size_t i = 0; i != p.stride.size(); ++i) {
        // ATen allows output_padding below the dilation, ONNX Runtime only below the stride: reduce the padding instead.
        if (p.output_padding[i] < p.stride[i]) continue;
        std::int64_t const taken = std::min(p.output_padding[i], p.after[i]);
        p.output_padding[i] -= taken;
        p.after[i] -= taken;
    }
    return p;
}

/// kernel_shape is given if the weight's spatial sizes are static; otherwise ONNX takes it from the weight.
inline value batched_convolution(graph<7> g, value x, value weight, optional_value bias,
                                 convolution_parameters const& p) {
    if (!is_floating(x.dtype())) return integer_convolution(g, x, weight, bias, p);
    auto const dilations = attr::dilations_i(p.dilation);
    auto const group = attr::group_i(p.groups);
    auto const pads = attr::pads_i(p.pads());
    auto const strides = attr::strides_i(p.stride);
    bool const known = has_static_plane(weight);
    auto const kernel = attr::kernel_shape_i(known ? static_plane(weight) : ints{});
    if (!p.transposed && known) return g.op<"Conv">(x, weight, bias, dilations, group, kernel, pads, strides);
    if (!p.transposed) return g.op<"Conv">(x, weight, bias, dilations, group, pads, strides);
    auto const extra = attr::output_padding_i(p.output_padding);
    if (known) return g.op<"ConvTranspose">(x, weight, bias, dilations, group, kernel, extra, pads, strides);
    return g.op<"ConvTranspose">(x, weight, bias, dilations, group, extra, pads, strides);
}

/// Of no channels, ATen computes none, but for operators that are one kernel (conv_tbc, slow_conv_dilated2d).
inline value convolve(graph<7> g, value x, value weight, optional_value bias, convolution_parameters const& p,
                      bool is_kernel = false) {
    auto const smallest = [](ints const& all) { return all.empty() ? 1 : *std::min_element(all.begin(), all.end()); };
    if (p.groups < 1 || smallest(p.stride) < 1 || smallest(p.dilation) < 1 || smallest(p.before) < 0 ||
        smallest(p.after) < 0 || smallest(p.output_padding) < 0)
        return g.unsupported("groups, a stride or a dilation below 1, or negative padding");
    return widened(g, x, [&](value wide) {
        value const w = g.cast(weight, wide.dtype());
        optional_value const b = bias ? optional_value(g.cast(*bias, wide.dtype())) : bias;
        return with_batch(g, wide, weight.rank() - 2, [&](value batch) -> value {
            value const y = batched_convolution(g, batch, w, b, p);
            return weight.size(1) == dim(0) && !is_kernel ? slice(g, y, 1, 0, 0) : y;
        });
    });
}

inline constexpr auto conv = [](graph<7> g, value x, value weight, optional_value bias, int_list stride,
                                int_list padding, int_list dilation, std::int64_t groups) {
    return convolve(g, x, weight, bias, parameters(weight, stride, padding, dilation, groups));
};

/// x between the zeros of padding "same" for a kernel of computed size.
inline value padded_to_keep_size(graph<7> g, value x, value weight, ints const& dilation) {
    auto const rank = static_cast<std::size_t>(x.rank());
    safe_vector<sym_int> pads(2 * rank, 0);
    for (std::size_t i = 0; i != dilation.size(); ++i) {
        std::size_t const at = rank - dilation.size() + i;
        sym_int const total = (g.size(weight, static_cast<std::int64_t>(i) + 2) - 1) * dilation[i];
        pads[at] = total / 2;
        pads[rank + at] = total - pads[at];
    }
    return pad(g, x, pads, g.scalar(0, x.dtype()));
}

/// Computes the pads of "same" here instead of setting auto_pad. If the total is odd, the end gets the larger part, as
/// with SAME_UPPER.
inline constexpr auto conv_named_padding = [](graph<7> g, value x, value weight, optional_value bias, int_list stride,
                                              std::string_view padding, int_list dilation,
                                              std::int64_t groups) -> value {
    convolution_parameters p = parameters(weight, stride, {}, dilation, groups);
    if (padding != "same" && padding != "valid") return g.unsupported("padding '" + std::string(padding) + "'");
    if (padding == "same" && p.stride != ints(p.stride.size(), 1)) return g.unsupported("padding 'same' with a stride");
    if (padding == "same" && !has_static_plane(weight))
        return convolve(g, padded_to_keep_size(g, x, weight, p.dilation), weight, bias, p);
    ints const kernel = padding == "same" ? static_plane(weight) : ints{};
    for (std::size_t i = 0; i != kernel.size(); ++i) {
        std::int64_t const total = checked_int(p.dilation[i]) * (kernel[i] - 1);
        p.before[i] = total / 2;
        p.after[i] = total - total / 2;
    }
    return convolve(g, x, weight, bias, p);
};

inline constexpr auto conv_transpose = [](graph<7> g, value x, value weight, optional_value bias, int_list stride,
                                          int_list padding, int_list output_padding, std::int64_t groups,
                                          int_list dilation) {
    return convolve(
        g, x, weight, bias, transposed_parameters(weight, stride, padding, output_padding, dilation, groups));
};

inline constexpr auto general_convolution = [](graph<7> g, value x, value weight, optional_value bias, int_list stride,
                                               int_list padding, int_list dilation, bool transposed,
                                               int_list output_padding, std::int64_t groups) {
    return transposed ? conv_transpose(g, x, weight, bias, stride, padding, output_padding, groups, dilation)
                      : conv(g, x, weight, bias, stride, padding, dilation, groups);
};

/// Overloads of single backends with a kernel_size argument, which always equals the weight's spatial sizes.
inline constexpr auto sized_convolution = [](graph<7> g, value x, value weight, int_list, optional_value bias,
                                             int_list stride, int_list padding) {
    return conv(g, x, weight, bias, stride, padding, {}, 1);
};

inline constexpr auto dilated_convolution = [](graph<7> g, value x, value weight, int_list, optional_value bias,
                                               int_list stride, int_list padding, int_list dilation) {
    return convolve(g, x, weight, bias, parameters(weight, stride, padding, dilation, 1), true);
};

/// One group per input channel.
inline constexpr auto depthwise_convolution = [](graph<7> g, value x, value weight, int_list, optional_value bias,
                                                 int_list stride, int_list padding, int_list dilation) -> value {
    dim const& channels = x.size(-weight.rank() + 1);
    if (!channels.is_static()) return g.unsupported("a depthwise convolution over an unknown number of channels");
    return conv(g, x, weight, bias, stride, padding, dilation, channels.size());
};

inline constexpr auto sized_transposed_convolution = [](graph<7> g, value x, value weight, int_list,
                                                        optional_value bias, int_list stride, int_list padding,
                                                        int_list output_padding, int_list dilation) {
    return conv_transpose(g, x, weight, bias, stride, padding, output_padding, 1, dilation);
};

/// benchmark, deterministic, cudnn_enabled and allow_tf32 only select an implementation.
inline constexpr auto convolution_flags =
    symbolic<"aten::_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, "
             "benchmark, deterministic, cudnn_enabled, allow_tf32)">(
        [](graph<7> g, value x, value weight, optional_value bias, int_list stride, int_list padding, int_list dilation,
           bool transposed, int_list output_padding, std::int64_t groups, bool, bool, bool, bool) {
            return general_convolution(
                g, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
        });

inline constexpr auto convolution_deprecated =
    symbolic<"aten::_convolution.deprecated(input, weight, bias, stride, padding, dilation, transposed, "
             "output_padding, groups, benchmark, deterministic, cudnn_enabled)">(
        [](graph<7> g, value x, value weight, optional_value bias, int_list stride, int_list padding, int_list dilation,
           bool transposed, int_list output_padding, std::int64_t groups, bool, bool, bool) {
            return general_convolution(
                g, x, weight, bias, stride, padding, dilation, transposed, output_padding, groups);
        });

/// (time, batch, channel), with the weight as (kernel, in, out).
inline constexpr auto conv_tbc = symbolic<"aten::conv_tbc(self, weight, bias, pad)">(
    [](graph<7> g, value x, value weight, value bias, std::int64_t pad) -> value {
        value const w = g.op<"Transpose">(weight, attr::perm_i({2, 1, 0}));
        value const image = g.op<"Transpose">(x, attr::perm_i({1, 2, 0}));
        value const y = convolve(g, image, w, bias, parameters(w, {}, {&pad, 1}, {}, 1), true);
        return g.op<"Transpose">(y, attr::perm_i({2, 0, 1}));
    });

/// Convolution, the sum with bias and alpha * z, and Relu, in the wider dtype for half precision: cuDNN rounds the
/// result only.
inline value convolution_relu(graph<7> g, value x, value weight, optional_value bias, optional_value z,
                              std::optional<scalar> alpha, convolution_parameters const& p) {
    if (!is_floating(x.dtype())) return g.unsupported("a fused convolution of integers");
    return in_opmath(g, x, [&](value wide) -> value {
        value y = convolve(g, wide, weight, bias, p);
        if (z) {
            if (y.rank() != z->rank()) return g.unsupported("a z of rank " + std::to_string(z->rank()));
            for (std::int64_t i = 0; i != y.rank(); ++i)
                if (y.size(i).is_static() && z->size(i).is_static() && y.size(i) != z->size(i))
                    return g.unsupported("a z whose sizes are not those of the result");
            value const added = g.cast(*z, wide.dtype());
            y = g.op<"Add">(y, alpha ? value(g.op<"Mul">(added, *alpha)) : added);
        }
        return g.op<"Relu">(y);
    });
}

inline constexpr auto cudnn_convolution_relu =
    symbolic<"aten::cudnn_convolution_relu(self, weight, bias, stride, padding, dilation, groups)">(
        [](graph<7> g, value x, value weight, optional_value bias, int_list stride, int_list padding, int_list dilation,
           std::int64_t groups) {
            return convolution_relu(g, x, weight, bias, {}, {}, parameters(weight, stride, padding, dilation, groups));
        });

inline constexpr auto cudnn_convolution_add_relu =
    symbolic<"aten::cudnn_convolution_add_relu(self, weight, z, alpha, bias, stride, padding, dilation, groups)">(
        [](graph<7> g, value x, value weight, value z, std::optional<scalar> alpha, optional_value bias,
           int_list stride, int_list padding, int_list dilation, std::int64_t groups) {
            return convolution_relu(
                g, x, weight, bias, z, alpha, parameters(weight, stride, padding, dilation, groups));
        });

/// Conv, cut to the spatial sizes `to` if it has more elements.
inline value convolution_to(graph<7> g, value x, value weight, safe_span<sym_int const> to,
                            convolution_parameters const& p) {
    value y = g.op<"Conv">(x,
                           weight,
                           attr::dilations_i(p.dilation),
                           attr::group_i(p.groups),
                           attr::pads_i(p.pads()),
                           attr::strides_i(p.stride));
    for (std::size_t i = 0; i != to.size(); ++i) {
        auto const axis = static_cast<std::int64_t>(i) + 2;
        bool const fits = to[i].is_constant() && y.size(axis).is_static() && to[i].is(y.size(axis).size());
        if (!fits) y = slice(g, y, axis, 0, to[i]);
    }
    return y;
}

/// The gradient of a weight [M, C / groups, kernel...] that reads x [N, C, ...] and whose results have the gradient d
/// [N, M, ...]: a convolution over the batch, where stride and dilation change places.
inline value weight_gradient(graph<7> g, value x, value d, value weight, convolution_parameters p) {
    safe_vector<sym_int> const sizes = g.sizes(x);
    if (is_empty(x) || is_empty(d)) return filled(g, g.sizes(weight), 0, x.dtype());
    value image = x;
    if (p.groups == 1) {
        image = swap_axes(g, x, 0, 1);
    } else { // [N, groups, C / groups, ...] to [C / groups, groups * N, ...]
        safe_vector<sym_int> split{sizes[0], p.groups, sizes[1] / p.groups};
        safe_vector<sym_int> joined{sizes[1] / p.groups, -1};
        split.insert(split.end(), sizes.begin() + 2, sizes.end());
        joined.insert(joined.end(), sizes.begin() + 2, sizes.end());
        image = reshape(g, swap_axes(g, reshape(g, x, split), 0, 2), joined);
    }
    std::swap(p.stride, p.dilation);
    value const y = convolution_to(g, image, swap_axes(g, d, 0, 1), last_sizes(g, weight, p.stride.size()), p);
    return swap_axes(g, y, 0, 1);
}

inline constexpr auto convolution_backward =
    symbolic<"aten::convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, "
             "transposed, output_padding, groups, output_mask)">(
        [](graph<7> g, value grad, value input, value weight, std::optional<size_list>, int_list stride,
           int_list padding, int_list dilation, bool transposed, int_list output_padding, std::int64_t groups,
           safe_span<bool const> mask) -> std::tuple<optional_value, optional_value, optional_value> {
            convolution_parameters const p = parameters(weight, stride, padding, dilation, groups);
            ints const extra = per_dimension(output_padding, p.stride.size(), ints(p.stride.size(), 0));
            if (grad.rank() != weight.rank() || input.rank() != weight.rank())
                return g.unsupported("the gradient of a convolution without a batch");
            for (std::size_t i = 0; i != p.stride.size(); ++i)
                if (p.stride[i] < 1 || p.dilation[i] < 1 || p.before[i] < 0 || extra[i] < 0)
                    return g.unsupported("a stride or dilation below 1, or negative padding");
            if (groups < 1) return g.unsupported("groups below 1");
            if (!is_floating(weight.dtype())) return g.unsupported("the gradient of a convolution of integers");
            // Half-precision dtypes in float32: the gradient of a weight is a sum over the whole batch.
            dtype const wide = opmath_type(weight.dtype());
            value const d = g.cast(grad, wide);
            value const x = g.cast(input, wide);
            value const w = g.cast(weight, wide);
            auto const narrow = [&](value y) -> optional_value { return g.cast(y, weight.dtype()); };
            std::tuple<optional_value, optional_value, optional_value> out;
            if (mask[0]) {
                safe_vector<sym_int> const to = last_sizes(g, input, p.stride.size());
                std::get<0>(out) =
                    narrow(is_empty(d)  ? filled(g, g.sizes(input), 0, wide)
                           : transposed ? convolution_to(g, d, w, to, p)
                                        : transposed_to(g, d, w, to, p.stride, p.before, p.dilation, groups));
            }
            if (mask[1])
                std::get<1>(out) = narrow(transposed ? weight_gradient(g, d, x, w, p) : weight_gradient(g, x, d, w, p));
            if (mask[2]) std::get<2>(out) = narrow(reduce_sum(g, d, all_but(1, d.rank()), false));
            return out;
        });

inline constexpr auto convolution_backward_overrideable =
    symbolic<"aten::convolution_backward_overrideable(grad_output, input, weight, stride, padding, dilation, "
             "transposed, output_padding, groups, output_mask)">([](graph<7> g, value grad, value input, value weight,
                                                                    int_list stride, int_list padding,
                                                                    int_list dilation, bool transposed,
                                                                    int_list output_padding, std::int64_t groups,
                                                                    safe_span<bool const> mask) {
        return convolution_backward(
            g, grad, input, weight, std::nullopt, stride, padding, dilation, transposed, output_padding, groups, mask);
    });

/// (time, batch, channel), with the weight as (kernel, in, out).
inline constexpr auto conv_tbc_backward = symbolic<"aten::conv_tbc_backward(self, input, weight, bias, pad)">(
    [](graph<7> g, value grad, value input, value weight, value bias,
       std::int64_t pad) -> std::tuple<value, value, value> {
        auto const in_front = [&](value v) -> value { return g.op<"Transpose">(v, attr::perm_i({1, 2, 0})); };
        value const w = g.op<"Transpose">(weight, attr::perm_i({2, 1, 0}));
        bool const mask[] = {true, pad == 0, true};
        auto const [x, unpadded, of_bias] = convolution_backward(g,
                                                                 in_front(grad),
                                                                 in_front(input),
                                                                 w,
                                                                 std::nullopt,
                                                                 int_list(),
                                                                 int_list(&pad, 1),
                                                                 int_list(),
                                                                 false,
                                                                 int_list(),
                                                                 1,
                                                                 mask);
        dtype const wide = opmath_type(weight.dtype());
        value const of_weight = unpadded
                                    ? g.op<"Transpose">(*unpadded, attr::perm_i({2, 1, 0}))
                                    : time_weight_gradient(g, g.cast(input, wide), g.cast(grad, wide), weight, pad);
        return {g.op<"Transpose">(*x, attr::perm_i({2, 0, 1})),
                g.cast(of_weight, weight.dtype()),
                g.cast(*of_bias, bias.dtype())};
    });

} // namespace detail

inline constexpr auto convolution = table(
    symbolic<"aten::conv1d(input, weight, bias, stride, padding, dilation, groups)">(detail::conv),
    symbolic<"aten::conv2d(input, weight, bias, stride, padding, dilation, groups)">(detail::conv),
    symbolic<"aten::conv3d(input, weight, bias, stride, padding, dilation, groups)">(detail::conv),
    symbolic<"aten::conv1d.padding(input, weight, bias, stride, padding, dilation, groups)">(
        detail::conv_named_padding),
    symbolic<"aten::conv2d.padding(input, weight, bias, stride, padding, dilation, groups)">(
        detail::conv_named_padding),
    symbolic<"aten::conv3d.padding(input, weight, bias, stride, padding, dilation, groups)">(
        detail::conv_named_padding),
    symbolic<"aten::_convolution_mode(input, weight, bias, stride, padding, dilation, groups)">(
        detail::conv_named_padding),
    symbolic<"aten::conv_transpose1d(input, weight, bias, stride, padding, output_padding, groups, dilation)">(
        detail::conv_transpose),
    symbolic<"aten::conv_transpose2d.input(input, weight, bias, stride, padding, output_padding, groups, dilation)">(
        detail::conv_transpose),
    symbolic<"aten::conv_transpose3d.input(input, weight, bias, stride, padding, output_padding, groups, dilation)">(
        detail::conv_transpose),
    symbolic<"aten::convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)">(
        detail::general_convolution),
    symbolic<"aten::convolution_overrideable(input, weight, bias, stride, padding, dilation, transposed, "
             "output_padding, groups)">(detail::general_convolution),
    detail::convolution_flags, detail::convolution_deprecated, detail::conv_tbc, detail::cudnn_convolution_relu,
    detail::cudnn_convolution_add_relu,
    symbolic<"aten::thnn_conv2d(self, weight, kernel_size, bias, stride, padding)">(detail::sized_convolution),
    symbolic<"aten::_slow_conv2d_forward(self, weight, kernel_size, bias, stride, padding)">(detail::sized_convolution),
    symbolic<"aten::slow_conv3d(self, weight, kernel_size, bias, stride, padding)">(detail::sized_convolution),
    symbolic<"aten::slow_conv3d_forward(self, weight, kernel_size, bias, stride, padding)">(detail::sized_convolution),
    symbolic<"aten::slow_conv_dilated2d(self, weight, kernel_size, bias, stride, padding, dilation)">(
        detail::dilated_convolution),
    symbolic<"aten::slow_conv_dilated3d(self, weight, kernel_size, bias, stride, padding, dilation)">(
        detail::dilated_convolution),
    symbolic<"aten::_conv_depthwise2d(self, weight, kernel_size, bias, stride, padding, dilation)">(
        detail::depthwise_convolution),
    symbolic<"aten::conv_depthwise3d(self, weight, kernel_size, bias, stride, padding, dilation)">(
        detail::depthwise_convolution),
    symbolic<"aten::slow_conv_transpose2d(self, weight, kernel_size, bias, stride, padding, output_padding, dilation)">(
        detail::sized_transposed_convolution),
    symbolic<"aten::slow_conv_transpose3d(self, weight, kernel_size, bias, stride, padding, output_padding, dilation)">(
        detail::sized_transposed_convolution),
    detail::convolution_backward, detail::convolution_backward_overrideable, detail::conv_tbc_backward);

} // namespace ATON_NAMESPACE::mappings
