// SPDX-License-Identifier: MIT
// ATen operators: the gradients of losses.
#include <string>

#include <aton/core/error.hpp>

#include "elementwise.hpp"
#include "loss.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

void expect_one_dtype(call const& c) {
    for (std::string_view const each : {"target", "grad_output"})
        if (c.t(each).dtype() != c.t("self").dtype())
            throw error("grad_output, self and target must have the same dtype");
}

/// 1 or, for the mean, 1 / the number of elements. Throws aton::error for operands that are not of one floating-point dtype.
double norm_of(call const& c) {
    tensor const x = c.t("self");
    if (!is_floating(x.dtype())) throw error("the gradient of a loss needs floating-point numbers");
    expect_one_dtype(c);
    std::int64_t const mode = c.i("reduction");
    if (mode < 0 || mode > 2) throw error("unknown reduction " + std::to_string(mode));
    return mode == 1 ? 1 / static_cast<double>(x.count()) : 1.0;
}

/// The factor of integers is truncated.
results mse_loss_backward(call const& c) {
    term const x = c.t("self");
    dtype const type = x->dtype();
    if (type == dtype::bool_ || is_complex(type)) throw error("the gradient of a loss needs real numbers");
    expect_one_dtype(c);
    double const factor = c.i("reduction") == 1 ? 2 / static_cast<double>(x->count()) : 2.0;
    term const scale = cast(full(factor, dtype::float64, {}, x->where()), type);
    return *(scale * (x - term(c.t("target"))) * term(c.t("grad_output")));
}

/// grad times -edge, x / divisor or edge where x = self - target is at most -limit, between, or at least limit.
tensor in_pieces(call const& c, double limit, double edge, double divisor) {
    double const norm = norm_of(c);
    dtype const type = c.t("self").dtype();
    dtype const wide = compute_type(type);
    tensor const grad = cast(c.t("grad_output"), wide);
    tensor const x = cast(c.t("self"), wide) - cast(c.t("target"), wide);
    tensor const inside = x * scalar(norm) * grad / scalar(divisor);
    tensor const high = where(greater_equal(x, scalar(limit)), grad * scalar(norm * edge), inside);
    return cast(where(less_equal(x, scalar(-limit)), grad * scalar(-norm * edge), high), type);
}
results smooth_l1_loss_backward(call const& c) {
    double const beta = c.f("beta");
    if (!(beta >= 0)) throw error("beta must not be negative");
    return in_pieces(c, beta, 1, beta);
}
results huber_loss_backward(call const& c) {
    double const delta = c.f("delta");
    if (!(delta > 0)) throw error("delta must be positive");
    return in_pieces(c, delta, delta, 1);
}

/// Rounds after each step, as ATen does.
results soft_margin_loss_backward(call const& c) {
    double const norm = norm_of(c);
    term const target = c.t("target");
    term const z = apply(unary_op::exp, -target * term(c.t("self")));
    return *(target * z * -norm / (z + 1.0) * term(c.t("grad_output")));
}

/// The same; 1e-12, a float for float64 too, is 0 in float16.
results binary_cross_entropy_backward(call const& c) {
    (void)norm_of(c);
    term const x = c.t("self");
    dtype const type = x->dtype();
    term const smallest = cast(full(static_cast<double>(1e-12F), dtype::float64, {}, x->where()), type);
    term const spread = apply(binary_op::maximum, (1.0 - x) * x, smallest);
    term slope = term(c.t("grad_output")) * (x - term(c.t("target"))) / spread;
    if (c.given("weight")) slope = slope * term(c.t("weight"));
    return cast(*(c.i("reduction") == 1 ? slope / static_cast<double>(x->count()) : slope), type);
}

} // namespace

rows loss_backward() {
    static constexpr row all[] = {
        {"mse_loss_backward", mse_loss_backward},
        {"smooth_l1_loss_backward", smooth_l1_loss_backward},
        {"huber_loss_backward", huber_loss_backward},
        {"soft_margin_loss_backward", soft_margin_loss_backward},
        {"binary_cross_entropy_backward", binary_cross_entropy_backward},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
