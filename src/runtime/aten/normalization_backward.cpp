// SPDX-License-Identifier: MIT
// ATen operators: the gradients of normalizations. Narrow dtypes are computed in float32.
#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

#include "normalization.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// The gradients of values that were standardized over `axes`, and of their scale.
struct normalized_gradients {
    tensor of_values;
    tensor scales; ///< per element; to be summed over the elements that share a scale
};
normalized_gradients gradients_of(tensor const& gradient, tensor const& x, tensor const& middle, tensor const& inverse,
                                  tensor const& scale, axis_list const& axes) {
    tensor const standard = (x - middle) * inverse;
    tensor const weighted = scale ? gradient * scale : gradient;
    tensor const along = weighted - mean(weighted, axes, true) - standard * mean(weighted * standard, axes, true);
    return {along * inverse, gradient * standard};
}

/// The three results; None for those that the mask does not request.
results masked(call const& c, tensor const& first, tensor const& second, tensor const& third) {
    std::vector<std::int64_t> const mask = c.ints("output_mask");
    if (mask.size() != 3) throw error("output_mask must have 3 elements");
    dtype const type = c.t("input").dtype();
    auto const type_of = [&](std::string_view parameter) {
        return c.has_argument(parameter) && c.given(parameter) ? c.t(parameter).dtype() : type;
    };
    dtype const types[] = {type, type_of("weight"), type_of(c.has_argument("bias") ? "bias" : "weight")};
    std::vector<value> out;
    for (std::size_t i = 0; tensor const* each : {&first, &second, &third}) {
        if (mask[i] != 0 && !*each) throw error("the gradient of a weight or bias that is None");
        out.push_back(mask[i] != 0 ? value(cast(*each, types[i])) : value());
        ++i;
    }
    return out;
}

results native_layer_norm_backward(call const& c) {
    tensor const x = in_compute_type(c.t("input"));
    axis_list const axes = last_axes(c, x);
    axis_list outer = all_axes(x);
    outer.resize(x.rank() - axes.size());
    tensor const scale = c.maybe("weight");
    tensor const gradient = in_compute_type(c.t("grad_out"));
    normalized_gradients const g = gradients_of(gradient,
                                                x,
                                                cast(c.t("mean"), x.dtype()),
                                                cast(c.t("rstd"), x.dtype()),
                                                scale ? cast(scale, x.dtype()) : scale,
                                                axes);
    return masked(
        c, g.of_values, scale ? sum(g.scales, outer) : tensor(), c.given("bias") ? sum(gradient, outer) : tensor());
}

results native_group_norm_backward(call const& c) {
    tensor const x = in_compute_type(c.t("input"));
    std::int64_t const groups = c.i("group");
    if (x.rank() < 2 || groups < 1 || x.size(1) % groups != 0)
        throw error("the number of channels is not a multiple of the number of groups");
    std::int64_t const channels = x.size(1) / groups;
    std::int64_t const n = x.size(0);
    sizes const to = {n, groups, channels, n == 0 ? 0 : x.count() / std::max<std::int64_t>(1, n * x.size(1))};
    auto const grouped = [&](tensor const& t) { return reshape(in_compute_type(t), to); };
    auto const of_group = [&](std::string_view name) { return reshape(cast(c.t(name), x.dtype()), {n, groups, 1, 1}); };
    tensor scale = c.maybe("weight");
    if (scale) scale = reshape(cast(scale, x.dtype()), {groups, channels, 1});
    tensor const gradient = grouped(c.t("grad_out"));
    normalized_gradients const g =
        gradients_of(gradient, grouped(x), of_group("mean"), of_group("rstd"), scale, {2, 3});
    auto const of_channel = [&](tensor const& each) { return reshape(sum(each, {0, 3}), {x.size(1)}); };
    return masked(c, reshape(g.of_values, x.sizes()), scale ? of_channel(g.scales) : tensor(), of_channel(gradient));
}

/// Outside training, the statistics are constants.
results native_batch_norm_backward(call const& c) {
    tensor const x = in_compute_type(c.t("input"));
    if (x.rank() < 2) throw error("input must have at least 2 dimensions");
    axis_list axes = all_axes(x);
    axes.erase(axes.begin() + 1);
    auto const in = [&](tensor const& t) { return cast(t, x.dtype()); };
    auto const of_channel = [&](tensor const& t) { return along_axis(in(t), x.rank(), 1); };
    tensor const gradient = in_compute_type(c.t("grad_out"));
    tensor const scale = c.given("weight") ? of_channel(c.t("weight")) : tensor();
    bool const training = c.b("train");
    tensor const middle = in(c.t(training ? "save_mean" : "running_mean"));
    tensor const inverse =
        training ? in(c.t("save_invstd")) : unary(unary_op::rsqrt, in(c.t("running_var")) + scalar(c.f("eps")));
    tensor const scales = sum(gradient * (x - of_channel(middle)), axes) * inverse;
    tensor const biases = sum(gradient, axes);
    tensor const out = training ? gradients_of(gradient, x, of_channel(middle), of_channel(inverse), {}, axes).of_values
                                : gradient * of_channel(inverse);
    return masked(c, scale ? out * scale : out, scales, biases);
}

} // namespace

rows normalization_backward() {
    static constexpr row all[] = {
        {"native_batch_norm_backward", native_batch_norm_backward},
        {"native_group_norm_backward", native_group_norm_backward},
        {"native_layer_norm_backward", native_layer_norm_backward},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
