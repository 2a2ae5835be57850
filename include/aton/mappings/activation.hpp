// SPDX-License-Identifier: MIT
// Activations: aten's relu, elu, gelu ... as ONNX operators.
// Public header.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>

#include <aton/mappings/detail/complex_inverses.hpp>
#include <aton/mappings/detail/draws.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Whether an attribute, which is float32, can hold `n` exactly; if x is float64 and it cannot, `n` must be a constant.
inline bool fits_attribute(value x, double n) {
    return x.dtype() != dtype::float64 || exactly_equal(n, static_cast<double>(static_cast<float>(n)));
}

inline value times(graph<7> g, value x, number const& factor) {
    return factor == 1 ? x : g.op<"Mul">(x, rounded_constant(g, factor, x.dtype()));
}

/// scale * alpha * (exp(input_scale * x) - 1) where x < 0, else scale * x. Maps 0 to 0 for every alpha.
inline value elu_of(graph<9> g, value x, number alpha, number scale, number input_scale) {
    number factor = alpha * scale;
    if (alpha.is_constant() && scale.is_constant()) {
        auto const a = alpha.constant<double>();
        if (x.dtype() != dtype::float64) factor = alpha.constant<float>() * scale.constant<float>();
        if (input_scale == 1 && fits_attribute(x, a) && std::isfinite(factor.constant<double>()))
            return times(g, g.op<"Elu">(x, attr::alpha_f(a)), scale);
    }
    value const negative = times(g, expm1(g, times(g, x, input_scale)), factor);
    return g.op<"Where">(is_less(g, x, 0), negative, times(g, x, scale));
}

inline constexpr double selu_alpha = 1.6732632423543772848170429916717;
inline constexpr double selu_scale = 1.0507009873554804934193349852946;

inline value selu_of(graph<9> g, value x) {
    if (x.dtype() == dtype::float64) return elu_of(g, x, selu_alpha, selu_scale, 1);
    return g.op<"Selu">(x);
}

/// Celu supports only float32.
inline value celu_of(graph<9> g, value x, number alpha) {
    if (!alpha.is_constant()) return elu_of(g, x, alpha, 1, 1 / alpha);
    auto const a = alpha.constant<double>();
    if (!std::isfinite(a)) return g.unsupported("an alpha that is not finite");
    if (x.dtype() == dtype::float64 || g.opset() < 12) return elu_of(g, x, a, 1, 1 / a);
    if (!exactly_equal(a, 0) && exactly_equal(static_cast<float>(a), 0))
        return g.unsupported("an alpha that is 0 in float32");
    return g.within<12>().op<"Celu">(x, attr::alpha_f(a));
}

inline constexpr auto leaky_relu =
    symbolic<"aten::leaky_relu(self, negative_slope)">([](graph<9> g, value x, number negative_slope) -> value {
        // With a slope that is not finite, LeakyRelu would return NaN at 0.
        if (!negative_slope.is_constant() || !std::isfinite(negative_slope.constant<double>()))
            return in_opmath(g, x, [&](value v) -> value {
                return g.op<"Where">(is_greater(g, v, 0), v, g.op<"Mul">(v, negative_slope));
            });
        auto const slope = negative_slope.constant<double>();
        if (!fits_attribute(x, slope)) return g.op<"PRelu">(x, g.scalar(slope, x.dtype()));
        return without_bfloat16(g, x, [&](value v) -> value { return g.op<"LeakyRelu">(v, attr::alpha_f(slope)); });
    });

/// x * Phi(x), or its tanh approximation.
inline value composed_gelu(graph<9> g, value x, bool approximate) {
    value cdf;
    if (approximate) {
        value const cube = g.op<"Mul">(g.op<"Mul">(x, x), x);
        value const inner = g.op<"Add">(x, g.op<"Mul">(cube, 0.044715));
        cdf = g.op<"Tanh">(g.op<"Mul">(inner, std::numbers::sqrt2 * std::numbers::inv_sqrtpi));
    } else {
        cdf = g.op<"Erf">(g.op<"Div">(x, std::numbers::sqrt2));
    }
    return g.op<"Mul">(g.op<"Mul">(x, 0.5), g.op<"Add">(cdf, 1)); // 0.5 first: 2 * max would overflow
}
/// Gelu was added in opset 20.
inline constexpr auto gelu =
    symbolic<"aten::gelu(self, approximate)">([](graph<20> g, value x, std::string_view approximate) -> value {
        return g.op<"Gelu">(x, attr::approximate_s(approximate));
    });
inline constexpr auto gelu_until_19 =
    symbolic<"aten::gelu(self, approximate)">([](graph<9, 19> g, value x, std::string_view approximate) -> value {
        return in_opmath(g, x, [&](value v) { return composed_gelu(g, v, approximate == "tanh"); });
    });

/// log(1 + exp(beta * x)) / beta, or x where beta * x > threshold. Above 17, the two are equal in float32.
inline value softplus_of(graph<9> g, value x, number beta, number threshold) {
    value const inner = times(g, x, beta);
    value y = g.op<"Softplus">(inner);
    if (beta != 1) y = g.op<"Div">(y, rounded_constant(g, beta, y.dtype()));
    if (beta == 1 && threshold >= 17 && x.dtype() != dtype::float64) return y;
    return g.op<"Where">(is_greater(g, inner, rounded_constant(g, threshold, x.dtype())), x, y);
}

/// log(sigmoid(x)) as -softplus(-x), which does not underflow.
inline constexpr auto log_sigmoid = symbolic<"aten::log_sigmoid(self)">([](graph<7> g, value x) -> value {
    return without_bfloat16(g, x, [&](value v) -> value { return g.op<"Neg">(g.op<"Softplus">(g.op<"Neg">(v))); });
});

inline value hard_sigmoid(graph<7> g, value x) {
    if (!fits_attribute(x, 1.0 / 6)) return g.op<"Div">(clip(g, g.op<"Add">(x, 3.0), 0.0, 6.0), 6.0);
    return g.op<"HardSigmoid">(x, attr::alpha_f(1.0 / 6), attr::beta_f(0.5));
}

inline value composed_hard_swish(graph<7> g, value x) { return g.op<"Mul">(x, hard_sigmoid(g, x)); }

inline constexpr auto hardtanh =
    symbolic<"aten::hardtanh(self, min_val, max_val)">([](graph<7> g, value x, number low, number high) -> value {
        for (number const& bound : {low, high})
            if (bound.is_constant() && std::isnan(bound.constant<double>()))
                return g.unsupported("a bound that is NaN");
        return without_bfloat16(g, x, [&](value v) -> value {
            return clip(g, v, element(g, low, v.dtype()), element(g, high, v.dtype()));
        });
    });

inline value hardshrink_of(graph<9> g, value x, number lambd) {
    return g.op<"Where">(is_at_most(g, g.op<"Abs">(x), lambd), g.scalar_like(0, x), x);
}

inline value threshold(graph<9> g, value x, number limit, number replacement) {
    dtype const compared = surely_fits(converted(g, limit, x.dtype()), x.dtype()) ? x.dtype() : opmath_type(x.dtype());
    value const below = is_at_most(g, g.cast(x, compared), element(g, limit, compared));
    return g.op<"Where">(below, element(g, replacement, x.dtype()), x);
}

/// Relu supports integers only since opset 14, and ONNX Runtime has no int64 kernel for it.
inline constexpr auto relu = symbolic<"aten::relu(self)">([](graph<7> g, value x) -> value {
    if (is_floating(x.dtype())) return g.op<"Relu">(x);
    return max_of(g, x, 0);
});

/// One slope, or one per channel (dimension 1).
inline constexpr auto prelu = symbolic<"aten::prelu(self, weight)">([](graph<7> g, value x, value weight) -> value {
    bool const per_channel = x.rank() >= 2 && !(weight.shape().is_static() && weight.shape().element_count() == 1);
    std::int64_t const rank = per_channel ? x.rank() - 1 : std::min<std::int64_t>(x.rank(), 1);
    if (weight.rank() != rank) {
        safe_vector<std::int64_t> sizes(static_cast<std::size_t>(rank), 1);
        if (per_channel) sizes[0] = -1;
        weight = g.op<"Reshape">(weight, g.ints(sizes));
    }
    return without_bfloat16(g, x, [&](value v) -> value { return g.op<"PRelu">(v, g.cast(weight, v.dtype())); });
});

/// Random slopes in [lower, upper) for elements that are not positive, 1 for the others.
inline value random_slopes(graph<9> g, value x, number const& lower, number const& upper) {
    value const u = draw(g, x, dtype::float32);
    value const slope = g.op<"Add">(g.op<"Mul">(u, upper - lower), lower);
    return without_bfloat16(g, x, [&](value v) -> value {
        return g.op<"Where">(is_at_most(g, v, 0), g.cast(slope, v.dtype()), g.scalar(1, v.dtype()));
    });
}

/// In evaluation, the slope is the midpoint of [lower, upper].
inline constexpr auto rrelu = symbolic<"aten::rrelu(self, lower, upper, training)">(
    [](graph<9> g, value x, number lower, number upper, bool training) -> value {
        if (training) return g.op<"Mul">(x, random_slopes(g, x, lower, upper));
        return leaky_relu(g, x, (lower + upper) / 2);
    });

inline constexpr auto relu6 =
    symbolic<"aten::relu6(self)">([](graph<7> g, value x) -> value { return hardtanh(g, x, 0, 6); });

/// The weight has the rank of x and any shape that broadcasts to it.
inline constexpr auto prelu_kernel =
    symbolic<"aten::_prelu_kernel(self, weight)">([](graph<9> g, value x, value weight) -> value {
        return without_bfloat16(g, x, [&](value v) -> value {
            return g.op<"Where">(is_greater(g, v, 0), v, g.op<"Mul">(v, g.cast(weight, v.dtype())));
        });
    });

inline constexpr auto rrelu_with_noise =
    symbolic<"aten::rrelu_with_noise_functional(self, noise, lower, upper, training)">(
        [](graph<9> g, value x, value noise, number lower, number upper, bool training) {
            if (!training) return std::tuple<value, value>(rrelu(g, x, lower, upper, false), noise);
            value const slopes = random_slopes(g, x, lower, upper);
            return std::tuple<value, value>(g.op<"Mul">(x, slopes), slopes);
        });

inline constexpr auto elu = symbolic<"aten::elu(self, alpha, scale, input_scale)">(
    [](graph<9> g, value x, number alpha, number scale, number input_scale) -> value {
        return in_opmath(g, x, [&](value v) { return elu_of(g, v, alpha, scale, input_scale); });
    });

inline constexpr auto selu = symbolic<"aten::selu(self)">(
    [](graph<9> g, value x) -> value { return without_bfloat16(g, x, [&](value v) { return selu_of(g, v); }); });

inline constexpr auto celu = symbolic<"aten::celu(self, alpha)">([](graph<9> g, value x, number alpha) -> value {
    return in_opmath(g, x, [&](value v) { return celu_of(g, v, alpha); });
});

inline constexpr auto silu = symbolic<"aten::silu(self)">([](graph<7> g, value x) -> value {
                                 return g.op<"Mul">(x, g.op<"Sigmoid">(x));
                             }).for_complex(silu_of_complex);

inline constexpr auto mish = symbolic<"aten::mish(self)">([](graph<7> g, value x) -> value {
    return without_bfloat16(g, x, [&](value v) -> value { return g.op<"Mul">(v, g.op<"Tanh">(g.op<"Softplus">(v))); });
});

inline constexpr auto softplus =
    symbolic<"aten::softplus(self, beta, threshold)">([](graph<9> g, value x, number beta, number threshold) -> value {
        auto const f = [&](value v) { return softplus_of(g, v, beta, threshold); };
        // beta * x may overflow float16, and ATen compares it with a float32 threshold.
        return beta == 1 && threshold >= 17 ? without_bfloat16(g, x, f) : in_opmath(g, x, f);
    });

inline constexpr auto log_sigmoid_forward = symbolic<"aten::log_sigmoid_forward(self)">([](graph<7> g, value x) {
    return std::tuple<value, value>(log_sigmoid(g, x), g.op<"Exp">(g.op<"Neg">(g.op<"Abs">(x))));
});

inline constexpr auto hardsigmoid = symbolic<"aten::hardsigmoid(self)">(
    [](graph<7> g, value x) -> value { return without_bfloat16(g, x, [&](value v) { return hard_sigmoid(g, v); }); });

/// HardSwish was added in opset 14. Its factor 1/6 is float32, so float64 is decomposed.
inline constexpr auto hardswish = symbolic<"aten::hardswish(self)">([](graph<14> g, value x) -> value {
    return without_bfloat16(g, x, [&](value v) -> value {
        return v.dtype() == dtype::float64 ? composed_hard_swish(g, v) : g.op<"HardSwish">(v);
    });
});
inline constexpr auto hardswish_until_13 = symbolic<"aten::hardswish(self)">([](graph<7, 13> g, value x) -> value {
    return without_bfloat16(g, x, [&](value v) { return composed_hard_swish(g, v); });
});

/// Not Shrink: it turns NaN into 0.
inline constexpr auto softshrink = symbolic<"aten::softshrink(self, lambd)">(
    [](graph<7> g, value x, number lambd) -> value { return g.op<"Sub">(x, hardtanh(g, x, -lambd, lambd)); });

inline constexpr auto hardshrink =
    symbolic<"aten::hardshrink(self, lambd)">([](graph<9> g, value x, number lambd) -> value {
        return without_bfloat16(g, x, [&](value v) { return hardshrink_of(g, v, lambd); });
    });

inline constexpr auto threshold_row = symbolic<"aten::threshold(self, threshold, value)">(
    [](graph<9> g, value x, number limit, number replacement) -> value {
        return without_bfloat16(g, x, [&](value v) { return threshold(g, v, limit, replacement); });
    });

inline value gated(graph<7> g, value a, value b) { return g.op<"Mul">(a, g.op<"Sigmoid">(b)); }

/// Since opset 18, a Split into equal parts needs their number.
inline constexpr auto glu = symbolic<"aten::glu(self, dim)">([](graph<18> g, value x, std::int64_t dim) -> value {
    auto const axis = attr::axis_i(normalize_axis(dim, x.rank()));
    auto const [a, b] = g.op<"Split">(x, axis, attr::num_outputs_i(2), outputs<2>);
    return gated(g, a, b);
});
inline constexpr auto glu_until_17 =
    symbolic<"aten::glu(self, dim)">([](graph<7, 17> g, value x, std::int64_t dim) -> value {
        auto const [a, b] = g.op<"Split">(x, attr::axis_i(normalize_axis(dim, x.rank())), outputs<2>);
        return gated(g, a, b);
    });

} // namespace detail

inline constexpr auto activation =
    table(detail::relu, detail::relu6, detail::hardtanh, detail::leaky_relu, detail::prelu, detail::prelu_kernel,
          detail::rrelu, detail::rrelu_with_noise, detail::elu, detail::selu, detail::celu, detail::gelu,
          detail::gelu_until_19, detail::silu, detail::mish, detail::softplus, detail::log_sigmoid,
          detail::log_sigmoid_forward, detail::hardsigmoid, detail::hardswish, detail::hardswish_until_13,
          detail::softshrink, detail::hardshrink, detail::threshold_row, detail::glu, detail::glu_until_17);

} // namespace ATON_NAMESPACE::mappings
