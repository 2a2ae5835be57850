// SPDX-License-Identifier: MIT
// Normalizations over the last axis that programs write as formulas.
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// ReduceMean over captured axes, which are an attribute up to opset 17.
inline constexpr auto mean_over = []<int Since, auto... More>(pattern<Since, More...> p, auto x,
                                                              capture<std::vector<std::int64_t>> axes) {
    if constexpr (pattern<Since, More...>::until <= 17) return p.template op<"ReduceMean">(x, attr::axes_i(axes));
    else return p.template op<"ReduceMean">(x, axes);
};

inline constexpr auto squared = [](auto p, auto x) {
    return p.either(p.template op<"Pow">(x, 2), p.template op<"Mul">(x, x));
};

/// x / sqrt(mean_square + epsilon).
inline constexpr auto divided_by_root = [](auto p, auto x, auto mean_square, capture<double> epsilon) {
    auto const root = p.template op<"Sqrt">(p.template op<"Add">(mean_square, epsilon));
    return p.either(p.template op<"Mul">(x, p.template op<"Reciprocal">(root)), p.template op<"Div">(x, root));
};

/// x / sqrt(mean(x^2) + epsilon).
inline constexpr auto root_mean_square_normalized = [](auto p, auto x, capture<std::vector<std::int64_t>> axes,
                                                       capture<double> epsilon) {
    return divided_by_root(p, x, mean_over(p, squared(p, x), axes), epsilon);
};

/// (x - mean(x)) / sqrt(variance(x) + epsilon) * scale.
inline constexpr auto layer_normalized = [](auto p, auto x, auto scale, capture<std::vector<std::int64_t>> axes,
                                            capture<double> epsilon) {
    auto const centered = p.template op<"Sub">(x, mean_over(p, x, axes));
    auto const variance = mean_over(p, squared(p, centered), axes);
    return p.template op<"Mul">(divided_by_root(p, centered, variance, epsilon), scale);
};

inline constexpr auto is_normalization = [](value x, value scale, std::vector<std::int64_t> const& axes,
                                            double epsilon) {
    return x.dtype() == dtype::float32 && is_last_axis(x, axes) && is_per_last_axis(x, scale) && epsilon > 0;
};

inline constexpr auto layer_normalization = [](graph<17> g, value x, value scale, std::vector<std::int64_t> const&,
                                               double epsilon) {
    return g.op<"LayerNormalization">(x, scale, attr::epsilon_f(epsilon));
};

} // namespace detail

inline constexpr auto normalization = rewrites(
    rewrite<"rms_normalization">(
        [](pattern<23> p, capture<value> x, capture<value> scale, capture<std::vector<std::int64_t>> axes,
           capture<double> epsilon) {
            return p.op<"Mul">(detail::root_mean_square_normalized(p, x, axes, epsilon), scale);
        },
        detail::is_normalization,
        [](graph<23> g, value x, value scale, std::vector<std::int64_t> const&, double epsilon) {
            return g.op<"RMSNormalization">(x, scale, attr::epsilon_f(epsilon));
        }),
    // Half precision, normalized in float32: scale * cast(normalized(cast(x))).
    rewrite<"rms_normalization_of_half">(
        [](pattern<23> p, capture<value> x, capture<value> scale, capture<std::vector<std::int64_t>> axes,
           capture<double> epsilon, capture<dtype> type) {
            auto const wide = p.op<"Cast">(x, attr::to_i(dtype_c<dtype::float32>));
            auto const normalized = detail::root_mean_square_normalized(p, wide, axes, epsilon);
            return p.op<"Mul">(p.op<"Cast">(normalized, attr::to_i(type)), scale);
        },
        [](value x, value scale, std::vector<std::int64_t> const& axes, double epsilon, dtype type) {
            return x.dtype() != dtype::float32 && detail::computes_in_float32(x) && type == x.dtype() &&
                   detail::is_last_axis(x, axes) && detail::is_per_last_axis(x, scale) && epsilon > 0;
        },
        [](graph<23> g, value x, value scale, std::vector<std::int64_t> const&, double epsilon, dtype) {
            return g.op<"RMSNormalization">(x, scale, attr::epsilon_f(epsilon));
        }),
    rewrite<"layer_normalization">(
        [](pattern<17, 17> p, capture<value> x, capture<value> scale, capture<std::vector<std::int64_t>> axes,
           capture<double> epsilon) { return detail::layer_normalized(p, x, scale, axes, epsilon); },
        detail::is_normalization, detail::layer_normalization),
    rewrite<"layer_normalization">(
        [](pattern<18> p, capture<value> x, capture<value> scale, capture<std::vector<std::int64_t>> axes,
           capture<double> epsilon) { return detail::layer_normalized(p, x, scale, axes, epsilon); },
        detail::is_normalization, detail::layer_normalization),
    rewrite<"layer_normalization_bias">(
        [](pattern<17> p, capture<value> x, capture<value> scale, capture<double> epsilon, capture<value> bias) {
            return p.op<"Add">(p.op<"LayerNormalization">(x, scale, attr::epsilon_f(epsilon)), bias);
        },
        [](value x, value scale, double, value bias) {
            return detail::is_per_last_axis(x, scale) && detail::is_per_last_axis(x, bias) &&
                   bias.dtype() == scale.dtype();
        },
        [](graph<17> g, value x, value scale, double epsilon, value bias) {
            return g.op<"LayerNormalization">(x, scale, bias, attr::epsilon_f(epsilon));
        }),
    // Without its mean, a value has the mean square that is its variance.
    rewrite<"centered_normalization">(
        [](pattern<23> p, capture<value> x, capture<value> scale, capture<std::vector<std::int64_t>> axes,
           capture<double> epsilon) {
            auto const centered = p.op<"Sub">(x, detail::mean_over(p, x, axes));
            return p.op<"RMSNormalization">(centered, scale, attr::epsilon_f(epsilon));
        },
        detail::is_normalization,
        [](graph<23> g, value x, value scale, std::vector<std::int64_t> const&, double epsilon) {
            return g.op<"LayerNormalization">(x, scale, attr::epsilon_f(epsilon));
        }));

} // namespace ATON_NAMESPACE::fusions
