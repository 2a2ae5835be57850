// SPDX-License-Identifier: MIT
// The gradients of losses, as the graphs of training steps contain them.
// Public header.
#pragma once

#include <cstdint>
#include <string>

#include <aton/mappings/loss.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// grad, self and target of the gradient of a loss, which must have one floating-point dtype, in the dtype that ATen
/// computes in.
struct loss_operands {
    dtype type;
    value grad, x, y;
};
inline loss_operands of_loss(graph<7> g, value grad, value self, value target) {
    dtype const type = self.dtype();
    if (!is_floating(type) || grad.dtype() != type || target.dtype() != type)
        throw unsupported_error("the gradient of a loss whose operands are not of one floating-point dtype");
    dtype const wide = opmath_type(type);
    return {type, g.cast(grad, wide), g.cast(self, wide), g.cast(target, wide)};
}

/// Divides by the number of elements of x for the mean.
inline value over_count(graph<7> g, value gradient, value x, std::int64_t mode) {
    if (mode < 0 || mode > 2) throw unsupported_error("reduction " + std::to_string(mode));
    if (mode != 1) return gradient;
    return g.op<"Div">(gradient, g.cast(g.to_value(element_count(g, x)), gradient.dtype()));
}

/// grad * 2 * (self - target), divided by the number of elements of self for the mean.
inline constexpr auto mse_loss_backward = symbolic<"aten::mse_loss_backward(grad_output, self, target, reduction)">(
    [](graph<7> g, value grad, value self, value target, std::int64_t mode) -> value {
        operands const o = promoted(g, self, target);
        if (!is_floating(o.type)) return g.unsupported("the gradient of a loss of integers");
        dtype const type = promote(o.a, grad);
        value const d = g.cast(grad, opmath_type(type));
        value const twice = g.op<"Mul">(g.op<"Sub">(g.cast(o.a, d.dtype()), g.cast(o.b, d.dtype())), 2);
        return g.cast(g.op<"Mul">(over_count(g, twice, self, mode), d), type);
    });

/// -edge, inside(x) or edge where x = self - target is at most -limit, between, or at least limit; times grad.
inline value gradient_in_pieces(graph<9> g, loss_operands const& o, value self, double limit, double edge,
                                auto const& inside, std::int64_t mode) {
    value const x = difference(g, o.x, o.y);
    value const bound = rounded_constant(g, limit, x.dtype());
    value const step = rounded_constant(g, edge, x.dtype());
    value const high = choose(g, is_at_least(g, x, bound), step, inside(x));
    value const slope = choose(g, is_at_least(g, g.op<"Neg">(x), bound), g.op<"Neg">(step), high);
    return g.cast(g.op<"Mul">(over_count(g, slope, self, mode), o.grad), o.type);
}
inline constexpr auto smooth_l1_loss_backward =
    symbolic<"aten::smooth_l1_loss_backward(grad_output, self, target, reduction, beta)">(
        [](graph<9> g, value grad, value self, value target, std::int64_t mode, double beta) -> value {
            if (!(beta >= 0)) return g.unsupported("a negative beta");
            return gradient_in_pieces(
                g,
                of_loss(g, grad, self, target),
                self,
                beta,
                1,
                [&](value x) -> value { return g.op<"Div">(x, rounded_constant(g, beta, x.dtype())); },
                mode);
        });
inline constexpr auto huber_loss_backward =
    symbolic<"aten::huber_loss_backward(grad_output, self, target, reduction, delta)">(
        [](graph<9> g, value grad, value self, value target, std::int64_t mode, double delta) -> value {
            if (!(delta > 0)) return g.unsupported("a delta that is not positive");
            return gradient_in_pieces(
                g, of_loss(g, grad, self, target), self, delta, delta, [](value x) { return x; }, mode);
        });

/// -target * z / (z + 1) * grad, where z = exp(-target * self), which is NaN where z overflows.
inline constexpr auto soft_margin_loss_backward =
    symbolic<"aten::soft_margin_loss_backward(grad_output, self, target, reduction)">(
        [](graph<7> g, value grad, value self, value target, std::int64_t mode) -> value {
            loss_operands const o = of_loss(g, grad, self, target);
            if (o.type != o.x.dtype()) return g.unsupported("the gradient of a soft margin loss in half precision");
            value const z = g.op<"Exp">(g.op<"Mul">(g.op<"Neg">(o.y), o.x));
            value const top = g.op<"Neg">(over_count(g, g.op<"Mul">(o.y, z), self, mode));
            return g.op<"Mul">(g.op<"Div">(top, g.op<"Add">(z, 1)), o.grad);
        });

/// grad * (self - target) / max((1 - self) * self, 1e-12), times the weights. The bound is a float for float64, too.
inline constexpr auto binary_cross_entropy_backward =
    symbolic<"aten::binary_cross_entropy_backward(grad_output, self, target, weight, reduction)">(
        [](graph<9> g, value grad, value self, value target, optional_value weight, std::int64_t mode) -> value {
            loss_operands const o = of_loss(g, grad, self, target);
            if (o.type != o.x.dtype()) return g.unsupported("the gradient of a binary cross entropy in half precision");
            value const spread = g.op<"Mul">(g.op<"Sub">(g.scalar_like(1, o.x), o.x), o.x);
            value const bounded = clamp_min(g, spread, static_cast<double>(1e-12F));
            value const slope = g.op<"Div">(g.op<"Mul">(o.grad, g.op<"Sub">(o.x, o.y)), bounded);
            return over_count(g, weighted(g, slope, weight), self, mode);
        });

} // namespace detail

inline constexpr auto loss_backward =
    table(detail::mse_loss_backward, detail::smooth_l1_loss_backward, detail::huber_loss_backward,
          detail::soft_margin_loss_backward, detail::binary_cross_entropy_backward);

} // namespace ATON_NAMESPACE::mappings
