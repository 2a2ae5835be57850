// SPDX-License-Identifier: MIT
// ATen operators: activations and their gradients.
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// A function with parameters from arguments.
results with_parameters(call const& c, unary_op op, double a, double b = 0, double d = 0) {
    tensor const x = floats(c);
    for (double const each : {a, b, d}) (void)fitting(each, compute_type(x.dtype()));
    return unary(op, x, {a, b, d});
}

results clamped_relu(call const& c) { return clamp(c.t("self"), 0, 6); }
/// x * slope for x <= 0: NaN at 0 if the slope is infinite.
results leaky_by(call const& c, double slope) {
    tensor const x = floats(c);
    if (std::isfinite(slope)) return with_parameters(c, unary_op::leaky_relu, slope);
    return where(greater(x, 0), x, x * scalar(slope));
}
results leaky(call const& c) { return leaky_by(c, c.f("negative_slope")); }
results exponential_linear(call const& c) {
    return with_parameters(c, unary_op::elu, c.f("alpha"), c.f("scale"), c.f("input_scale"));
}
results scaled_exponential_linear(call const& c) {
    return with_parameters(c, unary_op::elu, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
}
results continuous_exponential_linear(call const& c) {
    if (c.f("alpha") == 0) throw error("alpha is 0");
    return with_parameters(c, unary_op::elu, c.f("alpha"), 1, 1 / c.f("alpha"));
}
results soft_plus(call const& c) { return with_parameters(c, unary_op::softplus, c.f("beta"), c.f("threshold")); }
results soft_shrink(call const& c) {
    if (!(c.f("lambd") >= 0 && std::isfinite(c.f("lambd")))) throw error("lambd is negative or not finite");
    (void)fitting(c.f("lambd"), c.t("self").dtype());
    return with_parameters(c, unary_op::shrink, c.f("lambd"), c.f("lambd"));
}
results hard_shrink(call const& c) {
    if (std::isnan(c.f("lambd"))) return floats(c); // no element is in the interval
    return with_parameters(c, unary_op::shrink, 0, c.f("lambd"));
}
results above_threshold(call const& c) {
    tensor const x = c.t("self");
    if (x.dtype() == dtype::bool_) throw error("threshold does not support bool");
    auto const number = [&](std::string_view name) {
        scalar const n = c.number(name);
        if (is_unsigned_integral(x.dtype()) && !n.is_integral() && n.to<double>() < 0)
            throw error("uint8 cannot represent negative numbers");
        (void)fitting(n.to<double>(), is_integral(x.dtype()) ? x.dtype() : compute_type(x.dtype()));
        return is_integral(x.dtype()) ? tensor::of_scalar(n, x.dtype()).item().to<double>() : n.to<double>();
    };
    return unary(unary_op::threshold, x, {number("threshold"), number("value"), 0});
}

bool is_tanh(call const& c) {
    std::string_view const how = c.text("approximate");
    if (how != "none" && how != "tanh") throw error("approximate is '" + std::string(how) + "'");
    return how == "tanh";
}

results gaussian_linear(call const& c) { return unary(is_tanh(c) ? unary_op::gelu_tanh : unary_op::gelu, floats(c)); }

results sigmoid_linear(call const& c) {
    tensor const x = c.t("self");
    return is_complex(x.dtype()) ? x * sigmoid(x) : unary(unary_op::swish, floats(c), {1, 0, 0});
}

results hard_tanh(call const& c) {
    tensor const x = c.t("self");
    if (x.dtype() == dtype::bool_) throw error("clamp does not support bool");
    if (x.dtype() == dtype::uint8 && (c.f("min_val") < 0 || c.f("max_val") < 0))
        throw error("uint8 cannot represent negative numbers");
    double const low = fitting(c.f("min_val"), x.dtype());
    double const high = fitting(c.f("max_val"), x.dtype());
    return std::isnan(low) || std::isnan(high) ? x * scalar(low + high) : clamp(x, low, high);
}

/// `weight` has one element, or one per index of axis 1.
results parametric(call const& c) {
    tensor const x = floats(c);
    tensor const weight = c.t("weight");
    if (weight.count() == 1) return binary(binary_op::prelu, x, reshape(weight, {}));
    std::int64_t const channels = x.rank() < 2 ? 1 : x.size(1);
    if (weight.rank() > 1 || weight.count() != channels)
        throw error("weight has " + std::to_string(weight.count()) + " slopes for " + std::to_string(channels) +
                    " channels");
    sizes to(x.rank() - 1, 1);
    to[0] = channels;
    return binary(binary_op::prelu, x, reshape(weight, to));
}
results parametric_kernel(call const& c) { return binary(binary_op::prelu, floats(c), c.t("weight")); }

/// log(sigmoid(x)), and exp(-|x|), which its gradient uses.
results log_sigmoid_and_buffer(call const& c) {
    tensor const x = floats(c);
    tensor const v = cast(x, compute_type(x.dtype()));
    tensor const buffer = exp(-abs(v));
    tensor const y = minimum(v, scalar(0)) - unary(unary_op::log1p, buffer);
    return {cast(y, x.dtype()), cast(buffer, x.dtype())};
}
results log_of_sigmoid(call const& c) { return log_sigmoid_and_buffer(c).all().results[0].one(); }

results gated(call const& c) {
    tensor const x = floats(c);
    if (x.rank() == 0) throw error("a 0-d tensor cannot be split into halves");
    std::size_t const axis = axis_at(c.i("dim"), x.rank());
    if (x.size(axis) % 2 != 0)
        throw error("an axis of size " + std::to_string(x.size(axis)) + " cannot be split into halves");
    std::int64_t const half = x.size(axis) / 2;
    tensor const v = cast(x, compute_type(x.dtype()));
    return cast(v.sliced(axis, 0, half) * sigmoid(v.sliced(axis, half, half)), x.dtype());
}

/// Random slopes for elements that are not positive, 1 for the others.
tensor random_slopes(call const& c, tensor const& x) {
    double const lower = c.f("lower");
    tensor const slope = uniform(x.sizes(), c.seed(), x.where()) * scalar(c.f("upper") - lower) + scalar(lower);
    return where(less_equal(x, 0), cast(slope, x.dtype()), scalar(1));
}

results random_leaky(call const& c) {
    tensor const x = c.t("self");
    if (c.b("training")) return x * random_slopes(c, x);
    return leaky_by(c, (c.f("lower") + c.f("upper")) / 2);
}
results random_leaky_with_noise(call const& c) {
    tensor const x = c.t("self");
    if (!c.b("training")) return {random_leaky(c).all().results[0], c.t("noise")};
    tensor const slopes = random_slopes(c, x);
    return {x * slopes, slopes};
}

} // namespace

rows activation() {
    using enum unary_op;
    static constexpr row all[] = {
        {"_prelu_kernel", parametric_kernel},
        {"celu", continuous_exponential_linear},
        {"elu", exponential_linear},
        {"gelu", gaussian_linear},
        {"glu", gated},
        {"hardshrink", hard_shrink},
        {"hardsigmoid", of_floats<hardsigmoid>},
        {"hardswish", of_floats<hard_swish>},
        {"hardtanh", hard_tanh},
        {"leaky_relu", leaky},
        {"log_sigmoid", log_of_sigmoid},
        {"log_sigmoid_forward", log_sigmoid_and_buffer},
        {"mish", of_floats<mish>},
        {"prelu", parametric},
        {"relu", same_type<relu>},
        {"relu6", clamped_relu},
        {"rrelu", random_leaky},
        {"rrelu_with_noise_functional", random_leaky_with_noise},
        {"selu", scaled_exponential_linear},
        {"silu", sigmoid_linear},
        {"softplus", soft_plus},
        {"softshrink", soft_shrink},
        {"threshold", above_threshold},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
