// SPDX-License-Identifier: MIT
// ATen operators: the gradients of activations. Where ATen's scalar and vectorized code treat NaN differently, as the latter.
#include <limits>
#include <string_view>
#include <vector>

#include "runtime/compute/factorization.hpp"
#include <aton/core/error.hpp>

#include "elementwise.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// A gradient times f of another argument, both in the compute type.
template <class Function>
tensor gradient(call const& c, std::string_view of, Function const& f) {
    std::string_view const name = c.has_argument("grad_out") ? "grad_out" : "grad_output";
    tensor const g = c.t(name);
    dtype const type = result_type(c, {name, of});
    if (!is_floating(type) && !is_complex(type)) throw error("a gradient requires a floating-point dtype");
    return cast(f(cast(g, compute_type(type)), operand(c, of, compute_type(type))), type);
}

results elu_gradient(call const& c) {
    bool const of_result = c.b("is_result");
    if (of_result && c.f("alpha") < 0) throw error("the gradient of a result needs an alpha that is not negative");
    dtype const type = compute_type(result_type(c, {"grad_output", "self_or_result"}));
    for (std::string_view const each : {"alpha", "scale", "input_scale"}) (void)fitting(c.f(each), type);
    double const alpha = c.f("alpha");
    double const scale = c.f("scale");
    bool const single = type == dtype::float32; // multiplied in the dtype of the computation
    scalar const outer(single ? static_cast<float>(alpha) * static_cast<float>(scale) : alpha * scale);
    scalar const inner(c.f("input_scale"));
    scalar const positive(scale);
    return gradient(c, "self_or_result", [&](tensor const& g, tensor const& x) {
        tensor const below = of_result ? g * inner * (x + outer) : g * inner * outer * exp(x * inner);
        return where(greater(x, 0), g * positive, below);
    });
}

results gelu_gradient(call const& c) {
    bool const by_tanh = c.text("approximate") == "tanh";
    return gradient(c, "self", [&](tensor const& g, tensor const& x) {
        if (!by_tanh) {
            tensor const cdf = (unary(unary_op::erf, x * scalar(0.70710678118654752440)) + scalar(1)) * scalar(0.5);
            tensor const pdf = exp(square(x) * scalar(-0.5)) * scalar(0.39894228040143267794);
            return g * (cdf + x * pdf);
        }
        constexpr double beta = 0.79788456080286535588;
        tensor const t = tanh((x + x * x * x * scalar(0.044715)) * scalar(beta));
        tensor const slope = (square(x) * scalar(3 * 0.044715) + scalar(1)) * scalar(beta);
        return g * ((t + scalar(1)) * scalar(0.5) + x * scalar(0.5) * (scalar(1) - square(t)) * slope);
    });
}

/// `inside` between two numbers, 0 elsewhere.
tensor between(tensor const& x, double low, double high, tensor const& inside) {
    return where(logical_and(greater(x, low), less(x, high)), inside, scalar(0));
}

/// The factor is a float for every dtype.
results hard_sigmoid_gradient(call const& c) {
    return gradient(
        c, "self", [](tensor const& g, tensor const& x) { return between(x, -3, 3, g * scalar(double{1.0F / 6})); });
}
results hard_swish_gradient(call const& c) {
    return gradient(c, "self", [](tensor const& g, tensor const& x) {
        tensor const inside = g * (x / scalar(3) + scalar(0.5));
        return where(greater_equal(x, 3), g, where(less_equal(x, -3), scalar(0), inside));
    });
}
results hard_tanh_gradient(call const& c) {
    return gradient(
        c, "self", [&](tensor const& g, tensor const& x) { return between(x, c.f("min_val"), c.f("max_val"), g); });
}
results leaky_gradient_by(call const& c, double slope) {
    if (c.b("self_is_result") && slope < 0) throw error("the gradient of a result needs a slope that is not negative");
    return gradient(
        c, "self", [&](tensor const& g, tensor const& x) { return where(greater(x, 0), g, g * scalar(slope)); });
}
results leaky_gradient(call const& c) { return leaky_gradient_by(c, c.f("negative_slope")); }
results sigmoid_gradient(call const& c) {
    return gradient(c, "output", [](tensor const& g, tensor const& y) {
        if (is_complex(y.dtype())) return g * conjugate((scalar(1) - y) * y);
        return g * (scalar(1) - y) * y;
    });
}
results silu_gradient(call const& c) {
    return gradient(c, "self", [](tensor const& g, tensor const& x) {
        tensor const s = sigmoid(x);
        return g * s * (x * (scalar(1) - s) + scalar(1));
    });
}
results softplus_gradient(call const& c) {
    return gradient(c, "self", [&](tensor const& g, tensor const& x) {
        tensor const scaled = x * scalar(c.f("beta"));
        tensor const z = exp(scaled);
        return where(greater(scaled, c.f("threshold")), g, g * z / (z + scalar(1)));
    });
}
results tanh_gradient(call const& c) {
    return gradient(c, "output", [](tensor const& g, tensor const& y) { return g * conjugate(scalar(1) - square(y)); });
}
/// Also of integers, for which the threshold is truncated.
results threshold_gradient(call const& c) {
    dtype const type = result_type(c, {"grad_output", "self"});
    if (type == dtype::bool_ || is_complex(type)) throw error("the gradient of threshold needs real numbers");
    dtype const in = compute_type(type);
    tensor const below = less_equal(operand(c, "self", in), operand(c, "threshold", in));
    return cast(where(below, scalar(0), operand(c, "grad_output", in)), type);
}

results mish_gradient(call const& c) {
    tensor const y = gradient(c, "self", [](tensor const& g, tensor const& x) {
        tensor const t = tanh(unary(unary_op::softplus, x, {1, 20, 0}));
        return g * (t + x * sigmoid(x) * (scalar(1) - square(t)));
    });
    return cast(y, c.t("self").dtype());
}
results shrink_gradient(call const& c) {
    return gradient(c, "self", [&](tensor const& g, tensor const& x) {
        double const bound = c.f("lambd");
        return where(logical_or(greater(x, bound), less(x, -bound)), g, scalar(0));
    });
}
results log_sigmoid_gradient(call const& c) {
    return gradient(c, "self", [&](tensor const& g, tensor const& x) {
        tensor const z = cast(c.t("buffer"), x.dtype());
        tensor const ratio = z / (z + scalar(1));
        return where(less(x, 0), scalar(1) - ratio, ratio) * g;
    });
}

results prelu_gradients(call const& c) {
    dtype const type = c.t("self").dtype();
    dtype const in = compute_type(type);
    for (std::string_view const each : {"grad_output", "weight"})
        if (c.t(each).dtype() != type) throw error("grad_output, self and weight must have the same dtype");
    tensor const g = cast(c.t("grad_output"), in);
    tensor const x = cast(c.t("self"), in);
    tensor const weight = cast(c.t("weight"), in);
    tensor const positive = greater(x, 0);
    return {cast(where(positive, g, weight * g), type), cast(where(positive, scalar(0), x * g), type)};
}

results random_leaky_gradient(call const& c) {
    if (!c.b("training")) return leaky_gradient_by(c, (c.f("lower") + c.f("upper")) / 2);
    return gradient(c, "noise", [](tensor const& g, tensor const& slope) { return g * slope; });
}

results gated_gradient(call const& c) {
    return gradient(c, "self", [&](tensor const& g, tensor const& x) {
        if (x.rank() == 0) throw error("a 0-d tensor cannot be split into halves");
        std::size_t const axis = axis_at(c.i("dim"), x.rank());
        std::int64_t const half = x.size(axis) / 2;
        dtype const type = result_type(c, {"grad_output", "self"});
        tensor const s = cast(cast(sigmoid(x.sliced(axis, half, half)), type), x.dtype()); // ATen rounds it
        tensor const first = g * s;
        tensor const second = first * ((scalar(1) - s) * x.sliced(axis, 0, half));
        return concat(std::vector<tensor>{first, second}, static_cast<std::int64_t>(axis));
    });
}

/// The bounds are rounded to the dtype of self.
results logit_gradient(call const& c) {
    dtype const type = c.t("self").dtype();
    auto const rounded = [&](double n) { return tensor::of_scalar(n, type).item().to<double>(); };
    double const given = rounded(c.maybe_f("eps").value_or(-1));
    bool const clamps = !(given < 0);
    double const low = clamps ? given : 0;
    return gradient(c, "self", [&](tensor const& g, tensor const& x) {
        tensor const outside = logical_or(less(x, low), greater(x, rounded(1 - low)));
        scalar const otherwise(clamps ? 0 : std::numeric_limits<double>::quiet_NaN());
        return where(outside, otherwise, g / (x * (scalar(1) - x)));
    });
}

} // namespace

rows activation_backward() {
    static constexpr row all[] = {
        {"_prelu_kernel_backward", prelu_gradients},
        {"elu_backward", elu_gradient},
        {"gelu_backward", gelu_gradient},
        {"glu_backward", gated_gradient},
        {"hardshrink_backward", shrink_gradient},
        {"hardsigmoid_backward", hard_sigmoid_gradient},
        {"hardswish_backward", hard_swish_gradient},
        {"hardtanh_backward", hard_tanh_gradient},
        {"leaky_relu_backward", leaky_gradient},
        {"log_sigmoid_backward", log_sigmoid_gradient},
        {"logit_backward", logit_gradient},
        {"mish_backward", mish_gradient},
        {"rrelu_with_noise_backward", random_leaky_gradient},
        {"sigmoid_backward", sigmoid_gradient},
        {"silu_backward", silu_gradient},
        {"softplus_backward", softplus_gradient},
        {"softshrink_backward", shrink_gradient},
        {"tanh_backward", tanh_gradient},
        {"threshold_backward", threshold_gradient},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
