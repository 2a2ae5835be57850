// SPDX-License-Identifier: MIT
// Activations that programs write as formulas.
// Public header.
#pragma once

#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) without the factor of 1/2.
inline constexpr auto twice_gelu_tanh = [](auto p, auto x) {
    auto const cube = p.either(p.template op<"Pow">(x, 3), p.template op<"Mul">(x, p.template op<"Mul">(x, x)));
    auto const argument = p.template op<"Add">(x, p.template op<"Mul">(cube, 0.044715));
    return p.template op<"Add">(p.template op<"Tanh">(p.template op<"Mul">(argument, 0.7978845608028654)), 1);
};
/// The same as 1 + tanh((sqrt(2 / pi) * x) * (1 + (0.044715 * x) * x)).
inline constexpr auto twice_factored_gelu_tanh = [](auto p, auto x) {
    auto const square = p.either(p.template op<"Mul">(p.template op<"Mul">(x, 0.044715), x),
                                 p.template op<"Mul">(p.template op<"Mul">(x, x), 0.044715));
    auto const argument =
        p.template op<"Mul">(p.template op<"Mul">(x, 0.7978845608028654), p.template op<"Add">(square, 1));
    return p.template op<"Add">(p.template op<"Tanh">(argument), 1);
};

/// 1 + erf(x / sqrt(2)).
inline constexpr auto twice_normal_cdf = [](auto p, auto x) {
    auto const scaled =
        p.either(p.template op<"Div">(x, 1.4142135623730951), p.template op<"Mul">(x, 0.7071067811865476));
    return p.template op<"Add">(p.template op<"Erf">(scaled), 1);
};

/// 0.5 * x * factor, however it is grouped.
inline constexpr auto half_product = [](auto p, auto x, auto factor) {
    return p.either(p.template op<"Mul">(p.template op<"Mul">(x, 0.5), factor),
                    p.template op<"Mul">(p.template op<"Mul">(x, factor), 0.5),
                    p.template op<"Mul">(x, p.template op<"Mul">(factor, 0.5)));
};

inline constexpr auto is_single = [](value x) { return computes_in_float32(x); };

} // namespace detail

inline constexpr auto activation = rewrites(
    rewrite<"hard_swish">(
        [](pattern<14> p, capture<value> x) { return p.op<"Mul">(x, p.op<"HardSigmoid">(x, attr::alpha_f(1.0 / 6))); },
        detail::is_single, [](graph<14> g, value x) { return g.op<"HardSwish">(x); }),
    rewrite<"mish">([](pattern<18> p, capture<value> x) { return p.op<"Mul">(x, p.op<"Tanh">(p.op<"Softplus">(x))); },
                    [](graph<18> g, value x) { return g.op<"Mish">(x); }),
    rewrite<"gelu">(
        [](pattern<20> p, capture<value> x) { return detail::half_product(p, x, detail::twice_normal_cdf(p, x)); },
        [](graph<20> g, value x) { return g.op<"Gelu">(x); }),
    rewrite<"gelu_tanh">(
        [](pattern<20> p, capture<value> x) { return detail::half_product(p, x, detail::twice_gelu_tanh(p, x)); },
        [](graph<20> g, value x) { return g.op<"Gelu">(x, attr::approximate_s("tanh")); }),
    rewrite<"gelu_tanh_factored">(
        [](pattern<20> p, capture<value> x) {
            return detail::half_product(p, x, detail::twice_factored_gelu_tanh(p, x));
        },
        [](graph<20> g, value x) { return g.op<"Gelu">(x, attr::approximate_s("tanh")); }),
    // ONNX Runtime 1.31 has no kernel for Swish, and expands it only in models of opset 24 and 25.
    rewrite<"swish">([](pattern<24, 25> p, capture<value> x) { return p.op<"Mul">(x, p.op<"Sigmoid">(x)); },
                     [](graph<24, 25> g, value x) { return g.op<"Swish">(x); }),
    rewrite<"scaled_swish">(
        [](pattern<24, 25> p, capture<value> x, capture<double> alpha) {
            return p.op<"Mul">(x, p.op<"Sigmoid">(p.op<"Mul">(x, alpha)));
        },
        [](value x, double) { return detail::computes_in_float32(x); },
        [](graph<24, 25> g, value x, double alpha) { return g.op<"Swish">(x, attr::alpha_f(alpha)); }));

} // namespace ATON_NAMESPACE::fusions
