// SPDX-License-Identifier: MIT
// ATen operators: convolution.
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compute/spatial.hpp"
#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "pooling.hpp"
#include "runtime/compute/complex.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The arguments of a convolution other than tensors.
struct convolution_arguments {
    window w;
    sizes extra; ///< output padding
    std::int64_t groups = 1;
    bool transposed = false;
};

/// Sets the padding from "same", "valid" or numbers.
void set_padding(call const& c, window& w) {
    if (c.argument("padding").kind != aten::argument_kind::text) {
        w.before = w.after = for_each_axis(c, "padding", w.axes(), {0});
        return;
    }
    w.before.assign(w.axes(), 0);
    w.after = w.before;
    if (c.text("padding") == "valid") return;
    if (c.text("padding") != "same") throw error("padding is '" + std::string(c.text("padding")) + "'");
    check(w, w.axes());
    for (std::size_t i = 0; i != w.axes(); ++i) {
        if (w.strides[i] != 1) throw error("padding 'same' requires a stride of 1");
        w.before[i] = (w.extent(i) - 1) / 2;
        w.after[i] = w.extent(i) - 1 - w.before[i];
    }
}

convolution_arguments arguments_of(call const& c, tensor const& weight) {
    if (weight.rank() < 3) throw error("weight must have at least 3 dimensions");
    convolution_arguments k;
    k.w = window::of(sizes(weight.sizes().begin() + 2, weight.sizes().end()));
    std::size_t const axes = k.w.axes();
    k.w.strides = for_each_axis(c, "stride", axes, {1});
    k.w.dilations = for_each_axis(c, "dilation", axes, {1});
    set_padding(c, k.w);
    k.extra = for_each_axis(c, "output_padding", axes, {0});
    if (c.has_argument("groups")) k.groups = c.i("groups");
    if (c.has_argument("transposed")) k.transposed = c.b("transposed");
    return k;
}

/// As in ATen, a transposed convolution must leave at least one element on each axis.
tensor not_too_small(tensor x) {
    for (std::size_t i = 2; i != x.rank(); ++i)
        if (x.size(i) < 1) throw error("the result would be empty");
    return x;
}

/// A convolution in one real dtype, the compute type.
tensor real_convolution(tensor const& x, tensor const& weight, tensor const& bias, convolution_arguments const& k) {
    return k.transposed ? not_too_small(transposed_convolution(x, weight, bias, k.w, k.extra, k.groups))
                        : convolution(x, weight, bias, k.w, k.groups);
}

tensor convolved(tensor const& x, tensor const& weight, tensor const& bias, convolution_arguments const& k) {
    if (x.dtype() != weight.dtype() || (bias && bias.dtype() != x.dtype()))
        throw error("input, weight and bias must have the same dtype");
    if (x.rank() < 2 || (k.transposed && x.size(1) == 0) || weight.size(0) < k.groups)
        throw error("a convolution needs at least one channel and one filter");
    if (k.transposed && count_of(std::span(x.sizes()).subspan(2)) == 0)
        throw error("a transposed convolution needs a non-empty spatial input");
    if (k.transposed && x.dtype() == dtype::float16) // ATen's CPU kernel adds in float16
        return not_too_small(transposed_convolution(x, weight, bias, k.w, k.extra, k.groups, false));
    if (!is_complex(x.dtype())) {
        auto const wide = [](tensor const& t) { return t ? cast(t, compute_type(t.dtype())) : t; };
        return cast(real_convolution(wide(x), wide(weight), wide(bias), k), x.dtype());
    }
    auto const part = [&](bool of_x, bool of_weight) {
        return real_convolution(
            of_x ? imaginary_part(x) : real_part(x), of_weight ? imaginary_part(weight) : real_part(weight), {}, k);
    };
    tensor out = complex_of(part(false, false) - part(true, true), part(false, true) + part(true, false));
    if (!bias) return out;
    sizes to(out.rank(), 1);
    to[1] = bias.count();
    return out + reshape(bias, to);
}

/// An image without a batch counts as a batch of one. The result of an image without channels has none, but for
/// slow_conv_dilated2d and slow_conv_dilated3d.
tensor unbatched_too(tensor const& x, tensor const& weight, tensor const& bias, convolution_arguments const& k,
                     bool is_kernel = false) {
    bool const is_image = x.rank() + 1 == weight.rank();
    tensor y = convolved(is_image ? x.unsqueezed(0) : x, weight, bias, k);
    if (!k.transposed && !is_kernel && weight.size(1) == 0) y = y.sliced(1, 0, 0);
    return is_image ? y.squeezed(0) : y;
}

tensor input_of(call const& c) { return c.t(c.has_argument("input") ? "input" : "self"); }

template <bool Transposed, bool IsKernel = false>
results convolve(call const& c) {
    tensor const weight = c.t("weight");
    convolution_arguments k = arguments_of(c, weight);
    k.transposed = k.transposed || Transposed;
    if (c.has_argument("kernel_size") && for_each_axis(c, "kernel_size", k.w.axes(), {1}) != k.w.kernel)
        throw error("kernel_size does not match the weight");
    return unbatched_too(input_of(c), weight, c.maybe("bias"), k, IsKernel);
}

/// Depthwise convolution.
results depthwise(call const& c) {
    tensor const weight = c.t("weight");
    convolution_arguments k = arguments_of(c, weight);
    tensor const x = input_of(c);
    if (x.rank() + 1 < weight.rank() || x.rank() < 2) throw error("the input does not have a channel dimension");
    k.groups = x.size(x.rank() + 1 == weight.rank() ? 0 : 1);
    return unbatched_too(x, weight, c.maybe("bias"), k);
}

/// Convolution, a sum and relu; only the result is rounded.
results fused_convolution(call const& c) {
    tensor const x = c.t("self");
    tensor const weight = c.t("weight");
    tensor const bias = c.maybe("bias");
    if (!is_floating(x.dtype()) || weight.dtype() != x.dtype() || (bias && bias.dtype() != x.dtype()))
        throw error("input, weight and bias must have the same floating-point dtype");
    auto const wide = [](tensor const& t) { return t ? cast(t, compute_type(t.dtype())) : t; };
    tensor y = unbatched_too(wide(x), wide(weight), wide(bias), arguments_of(c, weight));
    if (c.has_argument("z")) {
        tensor const z = c.t("z");
        if (z.sizes() != y.sizes() || z.dtype() != x.dtype()) throw error("z must have the sizes of the result");
        y = y + wide(z) * scalar(c.maybe_f("alpha").value_or(1));
    }
    return cast(unary(unary_op::relu, y), x.dtype());
}

/// Convolution of [T, B, C] with a weight [kernel, C, M].
results conv_tbc(call const& c) {
    tensor const x = c.t("self");
    tensor const weight = c.t("weight");
    if (x.rank() != 3 || weight.rank() != 3) throw error("input and weight must have 3 dimensions");
    convolution_arguments k;
    k.w = window::of({weight.size(0)});
    k.w.before = k.w.after = {c.i("pad")};
    tensor const out = convolved(x.permuted(std::vector<std::size_t>{1, 2, 0}),
                                 weight.permuted(std::vector<std::size_t>{2, 1, 0}),
                                 c.t("bias"),
                                 k);
    return contiguous(out.permuted(std::vector<std::size_t>{2, 0, 1}));
}

/// The gradient of a weight [M, C / groups, kernel...]: windows of `x` [N, C, ...] times gradients [N, M, out...].
tensor weight_gradient(tensor const& x, tensor const& gradient, window const& w, std::int64_t groups) {
    tensor seen = windows(x, w); // [N, C, at least out..., kernel...]
    std::size_t const axes = w.axes();
    for (std::size_t i = 0; i != axes; ++i) seen = seen.sliced(i + 2, 0, gradient.size(i + 2));
    std::int64_t const out = count_of(std::span(gradient.sizes()).subspan(2));
    std::int64_t const kernel = count_of(w.kernel);
    std::int64_t const n = x.size(0);
    std::int64_t const channels = x.size(1) / groups;
    std::int64_t const features = gradient.size(1) / groups;
    tensor const columns = reshape(seen, {n, groups, channels, out, kernel});
    tensor const of_x =
        reshape(columns.permuted(std::vector<std::size_t>{1, 0, 3, 2, 4}), {groups, n * out, channels * kernel});
    tensor const by_group = reshape(gradient, {n, groups, features, out});
    tensor const of_gradient =
        reshape(by_group.permuted(std::vector<std::size_t>{1, 2, 0, 3}), {groups, features, n * out});
    sizes to = {groups * features, channels};
    to.insert(to.end(), w.kernel.begin(), w.kernel.end());
    return reshape(matmul(of_gradient, of_x), to);
}

results convolution_backward(call const& c) {
    tensor const weight = c.t("weight");
    dtype const type = weight.dtype();
    auto const wide = [&](std::string_view name) { return cast(c.t(name), compute_type(type)); };
    convolution_arguments k = arguments_of(c, weight);
    check(k.w, k.w.axes());
    tensor const gradient = wide("grad_output");
    tensor const x = wide("input");
    if (weight.rank() < 3 || gradient.rank() != weight.rank() || x.rank() != weight.rank())
        throw error("input, weight and gradient must have the same number of dimensions, at least 3");
    std::vector<std::int64_t> const mask = c.ints("output_mask");
    if (mask.size() != 3) throw error("output_mask must have 3 elements");
    if (k.groups < 1) throw error("the number of groups is " + std::to_string(k.groups));
    std::vector<value> out(3);
    if (mask[0] != 0) {
        convolution_arguments back = k;
        back.transposed = !k.transposed;
        for (std::size_t i = 0; i != k.w.axes(); ++i)
            back.extra[i] =
                k.transposed ? 0 : x.size(i + 2) + k.w.before[i] + k.w.after[i] - k.w.reach(i, gradient.size(i + 2));
        tensor y = real_convolution(gradient, wide("weight"), {}, back);
        for (std::size_t i = 2; i != y.rank(); ++i)
            y = y.sliced(i, 0, x.size(i)); // output padding that is not below the stride
        out[0] = cast(y, type);
    }
    if (mask[1] != 0)
        out[1] = cast(k.transposed ? weight_gradient(gradient, x, k.w, k.groups)
                                   : weight_gradient(x, gradient, k.w, k.groups),
                      type);
    if (mask[2] != 0) {
        axis_list axes = all_axes(gradient);
        axes.erase(axes.begin() + 1);
        out[2] = cast(sum(gradient, axes), type);
    }
    return out;
}

/// The gradients of conv_tbc; the gradient of the bias has its dtype.
results conv_tbc_backward(call const& c) {
    tensor const given = c.t("self");
    tensor const x = c.t("input");
    tensor const weight = c.t("weight");
    dtype const type = given.dtype();
    if (given.rank() != 3 || x.rank() != 3 || weight.rank() != 3) throw error("all tensors must have 3 dimensions");
    if (x.dtype() != type || weight.dtype() != type) throw error("gradient, input and weight must have the same dtype");
    std::int64_t const pad = c.i("pad");
    if (pad < 0) throw error("pad is negative");
    std::int64_t const times = checked_int(x.size(0)) + 2 * checked_int(pad) - weight.size(0) + 1;
    if (given.sizes() != sizes{times, x.size(1), weight.size(2)} || x.size(2) != weight.size(1))
        throw error("the sizes do not match");
    // In ATen, a product for each element of the kernel: times of the input and of the gradient that meet in it.
    dtype const in = compute_type(type);
    tensor const gradient = cast(given, in);
    tensor const of_x = contiguous(full(0, type, x.sizes(), x.where()));
    std::vector<tensor> of_weight;
    for (std::int64_t k = 0; k != weight.size(0); ++k) {
        std::int64_t const from = std::max<std::int64_t>(0, k - pad);
        std::int64_t const of = std::max<std::int64_t>(0, pad - k);
        std::int64_t const n = std::min(x.size(0) + pad - k, times) - of;
        if (n <= 0) {
            of_weight.push_back(full(0, type, {1, weight.size(1), weight.size(2)}, x.where()));
            continue;
        }
        tensor const seen = reshape(cast(x.sliced(0, from, n), in), {n * x.size(1), x.size(2)});
        tensor const part = reshape(gradient.sliced(0, of, n), {n * x.size(1), weight.size(2)});
        tensor const kernel = cast(weight.sliced(0, k, 1).squeezed(0), in);
        tensor const share = reshape(matmul(part, transpose(kernel, 0, 1)), {n, x.size(1), x.size(2)});
        tensor const now = of_x.sliced(0, from, n);
        copy(cast(cast(now, in) + share, type), now);
        of_weight.push_back(cast(matmul(transpose(seen, 0, 1), part), type).unsqueezed(0));
    }
    tensor const of_bias = cast(sum(cast(sum(gradient, {0}), in), {0}), c.t("bias").dtype());
    return {of_x, of_weight.empty() ? full(0, type, weight.sizes(), x.where()) : concat(of_weight, 0), of_bias};
}

} // namespace

rows convolution() {
    static constexpr row all[] = {
        {"conv1d", convolve<false>},
        {"conv1d.padding", convolve<false>},
        {"conv2d", convolve<false>},
        {"conv2d.padding", convolve<false>},
        {"conv3d", convolve<false>},
        {"conv3d.padding", convolve<false>},
        {"conv_transpose1d", convolve<true>},
        {"conv_transpose2d.input", convolve<true>},
        {"conv_transpose3d.input", convolve<true>},
        {"convolution", convolve<false>},
        {"convolution_overrideable", convolve<false>},
        {"_convolution", convolve<false>},
        {"_convolution.deprecated", convolve<false>},
        {"_convolution_mode", convolve<false>},
        {"_conv_depthwise2d", depthwise},
        {"conv_depthwise3d", depthwise},
        {"_slow_conv2d_forward", convolve<false>},
        {"thnn_conv2d", convolve<false>},
        {"slow_conv3d", convolve<false>},
        {"slow_conv3d_forward", convolve<false>},
        {"slow_conv_dilated2d", convolve<false, true>},
        {"slow_conv_dilated3d", convolve<false, true>},
        {"slow_conv_transpose2d", convolve<true>},
        {"slow_conv_transpose3d", convolve<true>},
        {"cudnn_convolution_relu", fused_convolution},
        {"cudnn_convolution_add_relu", fused_convolution},
        {"conv_tbc", conv_tbc},
        {"conv_tbc_backward", conv_tbc_backward},
        {"convolution_backward", convolution_backward},
        {"convolution_backward_overrideable", convolution_backward},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
