// SPDX-License-Identifier: MIT
// ATen operators: losses. Composed of the same operators as in ATen, since float16 is rounded after each.
#include "loss.hpp"

#include <limits>
#include <numbers>
#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

tensor reduced(call const& c, term const& loss) {
    switch (c.i("reduction")) {
    case 0: return *loss;
    case 1: return *average(loss, all_axes(*loss));
    case 2: return *total(loss, all_axes(*loss));
    default: throw error("unknown reduction " + std::to_string(c.i("reduction")));
    }
}

namespace {

term of(call const& c, std::string_view name) { return c.t(name); }
/// Throws aton::error for dtypes that are not floating-point, for which ATen has no kernel.
term float_term(call const& c, std::string_view name) {
    term x = of(c, name);
    if (!is_floating(x->dtype())) throw error(std::string(name) + " must be floating-point");
    return x;
}

/// Whether the target equals this number; as uint8, -1 is 255.
tensor is_label(term const& target, int number) {
    dtype const type = target->dtype() == dtype::bool_ ? dtype::int64 : target->dtype();
    return equal(cast(*target, type), cast(full(number, dtype::int64, {}, target->where()), type));
}
/// `yes` where the target equals this number, otherwise 0.
term where_target(term const& target, int number, term const& yes) {
    return where(is_label(target, number), *yes, scalar(0));
}
term log_of(term const& x) { return apply(unary_op::log, x); }
term exp_of(term const& x) { return apply(unary_op::exp, x); }

/// x * log(y): 0 if x is 0, NaN if y is NaN.
term x_log_y(term const& x, term const& y) {
    term const product = x * log_of(y);
    return where(logical_and(*apply(binary_op::eq, x, 0.0), logical_not(isnan(*y))), scalar(0), *product);
}

/// The value as an operator writes it to a tensor of this dtype; floats cannot be written to integers.
term written_as(term const& x, dtype type) {
    if (is_floating(x->dtype()) && !is_floating(type) && !is_complex(type))
        throw error("a result of " + std::string(name(x->dtype())) + " cannot be written to " +
                    std::string(name(type)));
    return cast(*x, type);
}

/// log(sigmoid(x)), rounded once.
term log_sigmoid(term const& x) {
    return -apply(unary_op::softplus, -x, {1, std::numeric_limits<double>::infinity(), 0});
}

results mse_loss(call const& c) {
    term const difference = float_term(c, "self") - of(c, "target");
    return reduced(c, difference * difference);
}
results l1_loss(call const& c) { return reduced(c, apply(unary_op::abs, of(c, "self") - of(c, "target"))); }

/// A loss of |self - target| with one formula below `limit` and another above it.
results piecewise(call const& c, double limit, auto const& below, auto const& above) {
    (void)float_term(c, "self");
    operand_pair const p = promoted(c, "self", "target");
    tensor const z = abs(p.x - p.y);
    tensor const loss = p.finish(where(less(z, scalar(limit)), below(z), above(z)));
    bool const in_place = c.overload().find("huber") != std::string_view::npos;
    return reduced(c, in_place ? written_as(loss, c.t("self").dtype()) : term(loss));
}
results smooth_l1_loss(call const& c) {
    double const beta = c.f("beta");
    (void)float_term(c, "self");
    if (beta < 0) throw error("beta must not be negative");
    if (beta == 0) return l1_loss(c);
    return piecewise(
        c,
        beta,
        [&](tensor const& z) { return z * scalar(0.5) * z / scalar(beta); },
        [&](tensor const& z) { return z - scalar(0.5 * beta); });
}
results huber_loss(call const& c) {
    double const delta = c.f("delta");
    if (!(delta > 0)) throw error("delta must be positive");
    return piecewise(
        c,
        delta,
        [](tensor const& z) { return z * scalar(0.5) * z; },
        [&](tensor const& z) { return (z - scalar(0.5 * delta)) * scalar(delta); });
}

results binary_cross_entropy(call const& c) {
    term const x = float_term(c, "self");
    term const target = of(c, "target");
    if (x->sizes() != target->sizes()) throw error("self and target have different sizes");
    tensor const inside = logical_and(greater_equal(*x, 0), less_equal(*x, 1));
    if (x->count() != 0 && to_host(reduce(reduce_op::all, inside, all_axes(inside))).item() == scalar(false))
        throw error("an element of self is not between 0 and 1");
    auto const bounded = [](term const& log) { return apply(binary_op::maximum, log, -100.0); };
    term loss = (target - 1.0) * bounded(apply(unary_op::log1p, -x)) - target * bounded(log_of(x));
    if (c.given("weight")) loss = written_as(loss * of(c, "weight"), x->dtype());
    return reduced(c, loss);
}

results binary_cross_entropy_with_logits(call const& c) {
    term const x = float_term(c, "self");
    term const target = of(c, "target");
    if (x->sizes() != target->sizes()) throw error("self and target have different sizes");
    term log = log_sigmoid(x);
    if (c.given("pos_weight")) {
        term const weight = of(c, "pos_weight");
        term const one = full(1, weight->dtype(), {}, weight->where()); // an integer: as uint8, 0 - 1 is 255
        log = log * ((weight - one) * target + 1.0);
    }
    term loss = written_as((1.0 - target) * x - log, target->dtype());
    if (c.given("weight")) loss = written_as(loss * of(c, "weight"), target->dtype());
    return reduced(c, loss);
}

results kl_div(call const& c) {
    term const x = float_term(c, "self");
    term const target = float_term(c, "target");
    return reduced(c, c.b("log_target") ? exp_of(target) * (target - x) : x_log_y(target, target) - target * x);
}

results poisson_nll_loss(call const& c) {
    term const x = of(c, "input");
    term const target = of(c, "target");
    term loss = c.b("log_input") ? exp_of(x) - target * x : x - target * log_of(x + c.f("eps"));
    if (c.b("full")) {
        term const stirling = target * log_of(target) - target + 0.5 * log_of((2 * std::numbers::pi) * target);
        loss = loss + term(where(*apply(binary_op::le, target, 1.0), scalar(0), *stirling));
    }
    return reduced(c, loss);
}

results soft_margin_loss(call const& c) {
    return reduced(
        c, apply(unary_op::log1p, exp_of(written_as(-float_term(c, "self") * of(c, "target"), c.t("self").dtype()))));
}

results hinge_embedding_loss(call const& c) {
    term const x = of(c, "self");
    term const target = of(c, "target");
    term const margin = full(c.f("margin"), x->dtype(), x->sizes(), x->where()); // truncated for integers
    auto const unless = [&](int number, term const& value) -> term {
        return where(logical_not(is_label(target, number)), *value, scalar(0));
    };
    return reduced(c, unless(1, hinge(margin - x)) + unless(-1, x));
}

results margin_ranking_loss(call const& c) {
    return reduced(c, hinge(-of(c, "target") * (of(c, "input1") - of(c, "input2")) + c.f("margin")));
}

results cosine_embedding_loss(call const& c) {
    term const x = of(c, "input1");
    term const y = of(c, "input2");
    term const target = of(c, "target");
    if (target->rank() > 1 || target->rank() + 1 != x->rank() || x->rank() != y->rank())
        throw error("target must be 0-d for vectors and 1-d for matrices");
    constexpr double epsilon = 1e-12;
    auto const along = [&](term const& z) { return total(z, {static_cast<std::int64_t>(target->rank())}); };
    term const sizes = (along(x * x) + epsilon) * (along(y * y) + epsilon);
    term const cosine = along(x * y) / apply(unary_op::sqrt, sizes);
    return reduced(c, where_target(target, 1, 1.0 - cosine) + where_target(target, -1, hinge(cosine - c.f("margin"))));
}

results triplet_margin_loss(call const& c) {
    auto const between = [&](std::string_view x, std::string_view y) {
        return distance(c.t(x), c.t(y), c.f("p"), c.f("eps"), false);
    };
    term far = between("anchor", "negative");
    if (c.b("swap")) far = apply(binary_op::minimum, far, between("positive", "negative"));
    return reduced(c, hinge(c.f("margin") + between("anchor", "positive") - far));
}

} // namespace

rows loss() {
    static constexpr row all[] = {
        {"mse_loss", mse_loss},
        {"l1_loss", l1_loss},
        {"smooth_l1_loss", smooth_l1_loss},
        {"huber_loss", huber_loss},
        {"binary_cross_entropy", binary_cross_entropy},
        {"binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
        {"kl_div", kl_div},
        {"poisson_nll_loss", poisson_nll_loss},
        {"soft_margin_loss", soft_margin_loss},
        {"hinge_embedding_loss", hinge_embedding_loss},
        {"margin_ranking_loss", margin_ranking_loss},
        {"cosine_embedding_loss", cosine_embedding_loss},
        {"triplet_margin_loss", triplet_margin_loss},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
