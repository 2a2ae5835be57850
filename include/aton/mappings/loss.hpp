// SPDX-License-Identifier: MIT
// Elementwise losses between predictions and targets, unreduced, averaged or summed.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/unary.hpp>
#include <aton/mappings/distances.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// ATen's `int mode`: 0 none, 1 mean, 2 sum.
inline value reduced(graph<7> g, value losses, std::int64_t mode) {
    if (mode == 0) return losses;
    safe_vector<std::int64_t> const axes = iota(losses.rank());
    return mode == 1 ? mean(g, losses, axes, false) : sum(g, losses, axes, false);
}

inline value difference(graph<7> g, value a, value b) {
    if (a.dtype() == dtype::bool_ || b.dtype() == dtype::bool_)
        return g.unsupported("a difference of bools, which ATen does not support");
    operands const o = promoted(g, a, b);
    return arithmetic<"Sub">(g, o.a, o.b);
}

/// max(x, minimum)
inline value clamp_min(graph<7> g, value x, double minimum) { return max_of(g, x, g.scalar_like(minimum, x)); }

/// Casts a losses to `type`, the dtype of the tensor that ATen writes it to. Refuses casts from floats to integers, as
/// ATen does.
inline value written_as(graph<7> g, value losses, dtype type) {
    if (is_floating(losses.dtype()) && !is_floating(type))
        return g.unsupported(std::string(name(losses.dtype())) + " written to a loss of " + std::string(name(type)));
    return g.cast(losses, type);
}

/// Whether the target is equal to this label, compared in the dtype that both promote to.
inline value is_label(graph<7> g, value target, std::int64_t label) {
    dtype const type = promote(target, scalar(label));
    return is_equal(g, g.cast(target, type), element(g, label, type));
}

/// below(|self - target|) where |self - target| is less than the limit, above(|self - target|) elsewhere; ATen rounds
/// half-precision dtypes once.
inline value piecewise(graph<9> g, value self, value target, double limit, auto const& below, auto const& above) {
    operands const o = promoted(g, self, target);
    dtype const type = opmath_type(o.a.dtype());
    value const z = g.op<"Abs">(difference(g, g.cast(o.a, type), g.cast(o.b, type)));
    return g.cast(choose(g, is_less(g, z, rounded_constant(g, limit, type)), below(z), above(z)), o.a.dtype());
}

inline value weighted(graph<7> g, value losses, optional_value weight) {
    return weight ? value(g.op<"Mul">(losses, g.cast(*weight, losses.dtype()))) : losses;
}

/// y * log(y), and 0 for y = 0.
inline value self_entropy(graph<9> g, value y) {
    return choose(g, is_equal(g, y, g.scalar_like(0, y)), y, g.op<"Mul">(y, g.op<"Log">(y)));
}

inline constexpr auto binary_cross_entropy_with_logits =
    symbolic<"aten::binary_cross_entropy_with_logits(self, target, weight, pos_weight, reduction)">(
        [](graph<7> g, value x, value target, optional_value weight, optional_value pos_weight,
           std::int64_t mode) -> value {
            auto const product = [&](value a, value b) {
                operands const o = promoted(g, a, b);
                return arithmetic<"Mul">(g, o.a, o.b);
            };
            dtype const type =
                g.opset() < 22 ? opmath_type(x.dtype()) : x.dtype(); // Softplus supports bfloat16 since opset 22
            value losses = g.cast(g.op<"Softplus">(g.cast(g.op<"Neg">(x), type)), x.dtype());
            if (pos_weight) {
                value const scale = product(arithmetic<"Sub">(g, *pos_weight, g.scalar_like(1, *pos_weight)), target);
                losses = product(losses, g.op<"Add">(scale, g.scalar_like(1, scale)));
            }
            operands const sum = promoted(g, product(g.op<"Sub">(g.scalar_like(1, target), target), x), losses);
            losses = arithmetic<"Add">(g, sum.a, sum.b);
            return reduced(g, weighted(g, written_as(g, losses, target.dtype()), weight), mode);
        });

/// 1 - cosine for the target 1, max(0, cosine - margin) for the target -1.
inline constexpr auto cosine_embedding_loss =
    symbolic<"aten::cosine_embedding_loss(input1, input2, target, margin, reduction)">(
        [](graph<9> g, value a, value b, value target, double margin, std::int64_t mode) -> value {
            auto const dot = [&](value x, value y) {
                operands const o = promoted(g, x, y);
                value const product = arithmetic<"Mul">(g, o.a, o.b);
                return sum(g, product, axis_of(-1, product), false);
            };
            auto const square = [&](value x) {
                value const s = dot(x, x);
                return g.op<"Add">(g.cast(s, to_floating(s.dtype())), 1e-12);
            };
            operands const squares = promoted(g, square(a), square(b)); // each is summed in its own dtype
            operands const quotient = promoted(g, dot(a, b), g.op<"Sqrt">(g.op<"Mul">(squares.a, squares.b)));
            value const cosine = g.op<"Div">(quotient.a, quotient.b);
            value const zero = g.scalar_like(0, cosine);
            value const near = choose(g, is_label(g, target, 1), g.op<"Sub">(g.scalar_like(1, cosine), cosine), zero);
            value const far_loss = clamp_min(g, g.op<"Sub">(cosine, rounded_constant(g, margin, cosine.dtype())), 0);
            value const far = choose(g, is_label(g, target, -1), far_loss, zero);
            return reduced(g, g.op<"Add">(near, far), mode);
        });

inline constexpr auto mse_loss =
    symbolic<"aten::mse_loss(self, target, reduction)">([](graph<7> g, value self, value target, std::int64_t mode) {
        value const d = difference(g, self, target);
        return reduced(g, g.op<"Mul">(d, d), mode);
    });

inline constexpr auto l1_loss =
    symbolic<"aten::l1_loss(self, target, reduction)">([](graph<7> g, value self, value target, std::int64_t mode) {
        return reduced(g, g.op<"Abs">(difference(g, self, target)), mode);
    });

inline constexpr auto smooth_l1_loss = symbolic<"aten::smooth_l1_loss(self, target, reduction, beta)">(
    [](graph<9> g, value self, value target, std::int64_t mode, double beta) -> value {
        if (exactly_equal(beta, 0)) return l1_loss(g, self, target, mode);
        auto const square = [&](value z) -> value {
            value const half = g.op<"Mul">(z, g.scalar_like(0.5, z));
            return g.op<"Div">(g.op<"Mul">(half, z), rounded_constant(g, beta, z.dtype()));
        };
        auto const line = [&](value z) -> value { return g.op<"Sub">(z, rounded_constant(g, 0.5 * beta, z.dtype())); };
        return reduced(g, piecewise(g, self, target, beta, square, line), mode);
    });

inline constexpr auto huber_loss = symbolic<"aten::huber_loss(self, target, reduction, delta)">(
    [](graph<9> g, value self, value target, std::int64_t mode, double delta) -> value {
        auto const square = [&](value z) -> value { return g.op<"Mul">(g.op<"Mul">(z, g.scalar_like(0.5, z)), z); };
        auto const line = [&](value z) -> value {
            return g.op<"Mul">(g.op<"Sub">(z, rounded_constant(g, 0.5 * delta, z.dtype())),
                               rounded_constant(g, delta, z.dtype()));
        };
        return reduced(g, written_as(g, piecewise(g, self, target, delta, square, line), self.dtype()), mode);
    });

/// ATen clamps the logarithms to at least -100, and rounds half-precision dtypes once.
inline constexpr auto binary_cross_entropy = symbolic<"aten::binary_cross_entropy(self, target, weight, reduction)">(
    [](graph<9> g, value self, value target, optional_value weight, std::int64_t mode) {
        value const x = g.cast(self, opmath_type(self.dtype()));
        value const t = g.cast(target, x.dtype());
        value const log_absent = clamp_min(g, log1p(g, g.op<"Neg">(x)), -100);
        value const absent_part = g.op<"Mul">(g.op<"Sub">(t, g.scalar_like(1, t)), log_absent);
        value const present_part = g.op<"Mul">(t, clamp_min(g, g.op<"Log">(x), -100));
        value const losses = g.cast(g.op<"Sub">(absent_part, present_part), self.dtype());
        return reduced(g, weighted(g, losses, weight), mode);
    });

inline constexpr auto kl_div = symbolic<"aten::kl_div(self, target, reduction, log_target)">(
    [](graph<9> g, value self, value target, std::int64_t mode, bool log_target) {
        operands const o = promoted(g, self, target);
        dtype const type = to_floating(o.type);
        value const x = g.cast(o.a, type);
        value const t = g.cast(o.b, type);
        value const losses = log_target ? value(g.op<"Mul">(g.op<"Exp">(t), g.op<"Sub">(t, x)))
                                        : value(g.op<"Sub">(self_entropy(g, t), g.op<"Mul">(t, x)));
        return reduced(g, losses, mode);
    });

inline constexpr auto poisson_nll_loss =
    symbolic<"aten::poisson_nll_loss(input, target, log_input, full, eps, reduction)">(
        [](graph<9> g, value input, value target, bool log_input, bool full, double eps, std::int64_t mode) {
            auto const floats = [&](value v) -> value { return g.cast(v, to_floating(v.dtype())); };
            auto const times_target = [&](value v) {
                operands const o = promoted(g, target, v);
                return arithmetic<"Mul">(g, o.a, o.b);
            };
            value const x = floats(input);
            value losses =
                log_input ? difference(g, g.op<"Exp">(x), times_target(input))
                          : difference(g,
                                       input,
                                       times_target(g.op<"Log">(g.op<"Add">(x, rounded_constant(g, eps, x.dtype())))));
            if (full) { // Stirling's approximation of log(t!), for t > 1
                value const t = floats(target);
                value const log_t = g.op<"Log">(t);
                value const root = g.op<"Mul">(g.op<"Add">(log_t, g.scalar_like(std::log(2 * std::numbers::pi), t)),
                                               g.scalar_like(0.5, t));
                value const stirling = g.op<"Add">(g.op<"Sub">(g.op<"Mul">(t, log_t), t), root);
                value const above = is_greater(g, t, g.scalar_like(1, t));
                value const more = choose(g, above, stirling, g.scalar_like(0, t));
                losses = g.op<"Add">(losses, g.cast(more, losses.dtype())); // ATen adds to the losses in place
            }
            return reduced(g, losses, mode);
        });

inline constexpr auto soft_margin_loss = symbolic<"aten::soft_margin_loss(self, target, reduction)">(
    [](graph<9> g, value self, value target, std::int64_t mode) {
        operands const o = promoted(g, self, target);
        value const exponent = written_as(g, g.op<"Neg">(g.op<"Mul">(o.a, o.b)), self.dtype());
        value const losses = in_opmath(g, exponent, [&](value x) -> value {
            value const power = g.op<"Exp">(x);
            value const y = g.op<"Log">(g.op<"Add">(power, 1));
            if (exponent.dtype() != dtype::float16) return y;
            // In ATen, the exponential overflows float16.
            value const overflows = is_at_least(g, power, 65520);
            return g.op<"Where">(overflows, g.scalar(std::numeric_limits<double>::infinity(), y.dtype()), y);
        });
        return reduced(g, losses, mode);
    });

inline constexpr auto margin_ranking_loss =
    symbolic<"aten::margin_ranking_loss(input1, input2, target, margin, reduction)">(
        [](graph<7> g, value input1, value input2, value target, double margin, std::int64_t mode) {
            value const negated = arithmetic<"Sub">(g, g.scalar_like(0, target), target); // in its own dtype
            operands const o = promoted(g, negated, difference(g, input1, input2));
            value const product = arithmetic<"Mul">(g, o.a, o.b);
            value const y = g.cast(product, promote(product, scalar(margin)));
            return reduced(g, clamp_min(g, g.op<"Add">(y, rounded_constant(g, margin, y.dtype())), 0), mode);
        });

inline constexpr auto hinge_embedding_loss = symbolic<"aten::hinge_embedding_loss(self, target, margin, reduction)">(
    [](graph<9> g, value self, value target, double margin, std::int64_t mode) -> value {
        if (!is_floating(self.dtype()) && bits(self.dtype()) < 32)
            return g.unsupported("a hinge loss of bools or integers below 32 bits");
        value const zero = g.scalar_like(0, self);
        auto const unless = [&](std::int64_t label, value losses) {
            return choose(g, is_label(g, target, label), zero, losses);
        };
        value const rest =
            g.op<"Sub">(element(g, margin, self.dtype()), self); // for integers, ATen truncates the margin
        value const far = unless(1, clamp_min(g, rest, 0));
        return reduced(g, g.op<"Add">(far, unless(-1, self)), mode);
    });

inline constexpr auto triplet_margin_loss =
    symbolic<"aten::triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction)">(
        [](graph<9> g, value anchor, value positive, value negative, double margin, double p, double eps, bool swap,
           std::int64_t mode) {
            value const near = pairwise_distance_of(g, anchor, positive, p, eps, false);
            value far = pairwise_distance_of(g, anchor, negative, p, eps, false);
            if (swap) far = min_of(g, far, pairwise_distance_of(g, positive, negative, p, eps, false));
            value const losses = g.op<"Sub">(g.op<"Add">(near, rounded_constant(g, margin, near.dtype())), far);
            return reduced(g, clamp_min(g, losses, 0), mode);
        });

} // namespace detail

inline constexpr auto loss =
    table(detail::mse_loss, detail::l1_loss, detail::smooth_l1_loss, detail::huber_loss, detail::binary_cross_entropy,
          detail::binary_cross_entropy_with_logits, detail::kl_div, detail::poisson_nll_loss, detail::soft_margin_loss,
          detail::margin_ranking_loss, detail::hinge_embedding_loss, detail::cosine_embedding_loss,
          detail::triplet_margin_loss);

} // namespace ATON_NAMESPACE::mappings
