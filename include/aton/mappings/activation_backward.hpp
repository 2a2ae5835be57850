// SPDX-License-Identifier: MIT
// The gradients of activations, as the graphs of training steps contain them.
// Public header.
#pragma once

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string_view>
#include <tuple>

#include <aton/mappings/activation.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// f of a gradient and of an input or a result; half-precision dtypes in float32, rounded once, as in ATen.
template <class Function>
value gradient(graph<7> g, value grad, value of, Function f) {
    dtype const type = promote(grad, of);
    if (!is_floating(type)) throw unsupported_error("the gradient of an activation of integers or bools");
    operands const o = cast_rounded(g, grad, of, type, opmath_type(type));
    return g.cast(f(o.a, o.b), type);
}

inline value zero_of(graph<7> g, value x) { return g.scalar_like(0, x); }

/// `inside` where low < x < high, `outside` elsewhere and for NaN.
inline value between(graph<9> g, value x, number const& low, number const& high, value inside, value outside) {
    value const is_inside = g.op<"And">(is_greater(g, x, rounded_constant(g, low, x.dtype())),
                                        is_less(g, x, rounded_constant(g, high, x.dtype())));
    return g.op<"Where">(is_inside, inside, outside);
}

inline void expect_slope_of_result(bool of_result, number const& slope) {
    if (of_result && slope < 0) throw unsupported_error("the gradient of a result with a negative slope");
    if (of_result && !slope.is_constant()) throw unsupported_error("the gradient of a result with a computed slope");
}

inline constexpr auto elu_backward =
    symbolic<"aten::elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)">(
        [](graph<9> g, value grad, number alpha, number scale, number input_scale, bool is_result,
           value self_or_result) -> value {
            expect_slope_of_result(is_result, alpha);
            return gradient(g, grad, self_or_result, [&](value d, value x) -> value {
                number factor = alpha * scale;
                if (alpha.is_constant() && scale.is_constant() && x.dtype() != dtype::float64)
                    factor = alpha.constant<float>() * scale.constant<float>();
                value const inner = times(g, d, input_scale);
                value const below = is_result
                                        ? g.op<"Mul">(inner, g.op<"Add">(x, rounded_constant(g, factor, x.dtype())))
                                        : g.op<"Mul">(times(g, inner, factor), g.op<"Exp">(times(g, x, input_scale)));
                return g.op<"Where">(is_greater(g, x, 0), times(g, d, scale), below);
            });
        });

/// Phi(x) + x * phi(x), or the derivative of the tanh approximation, with ATen's order of operations.
inline constexpr auto gelu_backward = symbolic<"aten::gelu_backward(grad_output, self, approximate)">(
    [](graph<9> g, value grad, value self, std::string_view approximate) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            if (approximate != "tanh") {
                constexpr double scale = std::numbers::inv_sqrtpi / std::numbers::sqrt2; // 1 / sqrt(2 pi)
                value const erf = g.op<"Erf">(g.op<"Mul">(x, 1 / std::numbers::sqrt2));
                value const cdf = g.op<"Mul">(g.op<"Add">(erf, 1), 0.5);
                value const pdf = g.op<"Mul">(g.op<"Exp">(g.op<"Mul">(g.op<"Mul">(x, x), -0.5)), scale);
                return g.op<"Mul">(d, g.op<"Add">(cdf, g.op<"Mul">(x, pdf)));
            }
            constexpr double beta = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
            value const square = g.op<"Mul">(x, x);
            value const cube = g.op<"Mul">(g.op<"Mul">(square, x), 0.044715);
            value const tanh = g.op<"Tanh">(g.op<"Mul">(g.op<"Add">(x, cube), beta));
            value const slope = g.op<"Mul">(g.op<"Add">(g.op<"Mul">(square, 3 * 0.044715), 1), beta);
            value const of_left = g.op<"Mul">(g.op<"Add">(tanh, 1), 0.5);
            value const of_tanh = g.op<"Sub">(g.scalar_like(1, x), g.op<"Mul">(tanh, tanh));
            value const of_right = g.op<"Mul">(g.op<"Mul">(g.op<"Mul">(x, 0.5), of_tanh), slope);
            return g.op<"Mul">(d, g.op<"Add">(of_left, of_right));
        });
    });

/// ATen's factor is a float for every dtype.
inline constexpr auto hardsigmoid_backward =
    symbolic<"aten::hardsigmoid_backward(grad_output, self)">([](graph<9> g, value grad, value self) {
        return gradient(g, grad, self, [&](value d, value x) {
            return between(g, x, -3, 3, g.op<"Mul">(d, double{1.0F / 6}), zero_of(g, x));
        });
    });

inline constexpr auto hardswish_backward =
    symbolic<"aten::hardswish_backward(grad_output, self)">([](graph<9> g, value grad, value self) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            value const inside = g.op<"Mul">(d, g.op<"Add">(g.op<"Div">(x, 3), 0.5));
            value const below = g.op<"Where">(is_at_most(g, x, -3), zero_of(g, x), inside);
            return g.op<"Where">(is_at_least(g, x, 3), d, below);
        });
    });

inline constexpr auto hardtanh_backward = symbolic<"aten::hardtanh_backward(grad_output, self, min_val, max_val)">(
    [](graph<9> g, value grad, value self, number low, number high) {
        return gradient(g, grad, self, [&](value d, value x) { return between(g, x, low, high, d, zero_of(g, x)); });
    });

inline constexpr auto leaky_relu_backward =
    symbolic<"aten::leaky_relu_backward(grad_output, self, negative_slope, self_is_result)">(
        [](graph<9> g, value grad, value self, number negative_slope, bool self_is_result) {
            expect_slope_of_result(self_is_result, negative_slope);
            return gradient(g, grad, self, [&](value d, value x) -> value {
                return g.op<"Where">(is_greater(g, x, 0), d, times(g, d, negative_slope));
            });
        });

inline constexpr auto sigmoid_backward =
    symbolic<"aten::sigmoid_backward(grad_output, output)">([](graph<7> g, value grad, value output) {
        return gradient(g, grad, output, [&](value d, value y) -> value {
            return g.op<"Mul">(g.op<"Mul">(d, g.op<"Sub">(g.scalar_like(1, y), y)), y);
        });
    });

inline constexpr auto silu_backward =
    symbolic<"aten::silu_backward(grad_output, self)">([](graph<7> g, value grad, value self) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            value const s = g.op<"Sigmoid">(x);
            value const slope = g.op<"Add">(g.op<"Mul">(x, g.op<"Sub">(g.scalar_like(1, x), s)), 1);
            return g.op<"Mul">(g.op<"Mul">(d, s), slope);
        });
    });

/// Not Sigmoid: ATen's quotient is NaN where exp overflows and the threshold is larger.
inline constexpr auto softplus_backward = symbolic<"aten::softplus_backward(grad_output, self, beta, threshold)">(
    [](graph<9> g, value grad, value self, number beta, number threshold) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            value const inner = times(g, x, beta);
            value const z = g.op<"Exp">(inner);
            value const y = g.op<"Div">(g.op<"Mul">(d, z), g.op<"Add">(z, 1));
            return g.op<"Where">(is_greater(g, inner, rounded_constant(g, threshold, x.dtype())), d, y);
        });
    });

inline constexpr auto tanh_backward =
    symbolic<"aten::tanh_backward(grad_output, output)">([](graph<7> g, value grad, value output) {
        return gradient(g, grad, output, [&](value d, value y) -> value {
            return g.op<"Mul">(d, g.op<"Sub">(g.scalar_like(1, y), g.op<"Mul">(y, y)));
        });
    });

/// Also of integers, unlike the others.
inline constexpr auto threshold_backward = symbolic<"aten::threshold_backward(grad_output, self, threshold)">(
    [](graph<9> g, value grad, value self, number limit) -> value {
        dtype const type = promote(grad, self);
        operands const o = cast_through(g, grad, self, type, computing_type(type));
        value const bound =
            is_floating(type) ? rounded_constant(g, limit, o.type) : g.cast(element(g, limit, type), o.type);
        return g.cast(g.op<"Where">(is_at_most(g, o.b, bound), zero_of(g, o.a), o.a), type);
    });

/// The result has the dtype of self.
inline constexpr auto mish_backward =
    symbolic<"aten::mish_backward(grad_output, self)">([](graph<7> g, value grad, value self) {
        value const y = gradient(g, grad, self, [&](value d, value x) -> value {
            value const tanh = g.op<"Tanh">(g.op<"Softplus">(x));
            value const of_tanh = g.op<"Sub">(g.scalar_like(1, x), g.op<"Mul">(tanh, tanh));
            value const of_softplus = g.op<"Mul">(g.op<"Mul">(x, g.op<"Sigmoid">(x)), of_tanh);
            return g.op<"Mul">(d, g.op<"Add">(tanh, of_softplus));
        });
        return g.cast(y, self.dtype());
    });

/// Of hardshrink and softshrink: 0 from -lambd to lambd.
inline constexpr auto shrink_backward = [](graph<9> g, value grad, value self, number lambd) {
    return gradient(g, grad, self, [&](value d, value x) -> value {
        value const bound = rounded_constant(g, lambd, x.dtype());
        value const is_outside = g.op<"Or">(is_greater(g, x, bound), is_less(g, x, g.op<"Neg">(bound)));
        return g.op<"Where">(is_outside, d, zero_of(g, d));
    });
};

/// `buffer` is exp(-|x|), the second result of log_sigmoid_forward on the CPU; on other devices, it is empty.
inline constexpr auto log_sigmoid_backward = symbolic<"aten::log_sigmoid_backward(grad_output, self, buffer)">(
    [](graph<9> g, value grad, value self, value buffer) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            bool const missing = is_empty(buffer) && !is_empty(x);
            value const z = missing ? value(g.op<"Exp">(g.op<"Neg">(g.op<"Abs">(x)))) : g.cast(buffer, x.dtype());
            value const ratio = g.op<"Div">(z, g.op<"Add">(z, 1));
            value const slope = g.op<"Where">(is_less(g, x, 0), g.op<"Sub">(g.scalar_like(1, x), ratio), ratio);
            return g.op<"Mul">(slope, d);
        });
    });

/// The gradients of x and of the weight; both have the shape that all three broadcast to.
inline constexpr auto prelu_kernel_backward = symbolic<"aten::_prelu_kernel_backward(grad_output, self, weight)">(
    [](graph<9> g, value grad, value self, value weight) -> std::tuple<value, value> {
        value of_weight;
        value const of_self = gradient(g, grad, self, [&](value d, value x) -> value {
            value const is_positive = is_greater(g, x, 0);
            of_weight = g.cast(g.op<"Where">(is_positive, zero_of(g, x), g.op<"Mul">(x, d)), grad.dtype());
            return g.op<"Where">(is_positive, d, g.op<"Mul">(g.cast(weight, d.dtype()), d));
        });
        return {of_self, of_weight};
    });

inline constexpr auto rrelu_backward =
    symbolic<"aten::rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, self_is_result)">(
        [](graph<9> g, value grad, value self, value noise, number lower, number upper, bool training,
           bool self_is_result) -> value {
            if (training) return gradient(g, grad, noise, [&](value d, value n) -> value { return g.op<"Mul">(d, n); });
            return leaky_relu_backward(g, grad, self, (lower + upper) / 2, self_is_result);
        });

/// In half precision, ATen rounds the sigmoid.
inline constexpr auto glu_backward =
    symbolic<"aten::glu_backward(grad_output, self, dim)">([](graph<7> g, value grad, value self, std::int64_t dim) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            std::int64_t const axis = normalize_axis(dim, x.rank());
            sym_int const half = g.size(x, axis) / 2;
            value const sigmoid = g.op<"Sigmoid">(slice(g, x, axis, half, to_the_end));
            value const s = g.cast(g.cast(sigmoid, promote(grad, self)), x.dtype());
            value const of_first = g.op<"Mul">(d, s);
            value const slope = g.op<"Mul">(g.op<"Sub">(g.scalar_like(1, s), s), slice(g, x, axis, 0, half));
            return g.op<"Concat">(safe_vector<value>{of_first, g.op<"Mul">(of_first, slope)}, attr::axis_i(axis));
        });
    });

/// grad / (x * (1 - x)), infinite at 0 and 1. Outside [eps, 1 - eps], which x was clamped to, 0; without eps, NaN
/// outside [0, 1].
inline constexpr auto logit_backward = symbolic<"aten::logit_backward(grad_output, self, eps)">(
    [](graph<9> g, value grad, value self, std::optional<double> eps) {
        return gradient(g, grad, self, [&](value d, value x) -> value {
            auto const rounded = [&](double n) { return one_element(n, self.dtype()).at(0).to<double>(); };
            double const given = rounded(eps.value_or(-1));
            bool const clamps = !(given < 0);
            double const low = clamps ? given : 0;
            value const below = is_less(g, x, rounded_constant(g, low, x.dtype()));
            value const above = is_greater(g, x, rounded_constant(g, rounded(1 - low), x.dtype()));
            value const outside = g.scalar_like(clamps ? 0 : std::numeric_limits<double>::quiet_NaN(), x);
            value const slope = g.op<"Mul">(x, g.op<"Sub">(g.scalar_like(1, x), x));
            return g.op<"Where">(g.op<"Or">(below, above), outside, g.op<"Div">(d, slope));
        });
    });

} // namespace detail

inline constexpr auto activation_backward =
    table(detail::elu_backward, detail::gelu_backward, detail::hardsigmoid_backward, detail::hardswish_backward,
          detail::hardtanh_backward, detail::leaky_relu_backward, detail::sigmoid_backward, detail::silu_backward,
          detail::softplus_backward, detail::tanh_backward, detail::threshold_backward, detail::mish_backward,
          symbolic<"aten::hardshrink_backward(grad_out, self, lambd)">(detail::shrink_backward),
          symbolic<"aten::softshrink_backward(grad_output, self, lambd)">(detail::shrink_backward),
          detail::log_sigmoid_backward, detail::prelu_kernel_backward, detail::rrelu_backward, detail::glu_backward,
          detail::logit_backward);

} // namespace ATON_NAMESPACE::mappings
