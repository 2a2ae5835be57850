// SPDX-License-Identifier: MIT
// Helpers of normalizations: parameters of channels, and batch normalization with its statistics.
// Internal header.
#pragma once

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/moments.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// A weight or bias for the channels (dimension 1) of x in dtype `type`; `fallback` for all channels if absent.
inline value channel_parameter(graph<7> g, optional_value given, value x, double fallback, dtype type) {
    if (given) return g.cast(*given, type);
    sym_int const channels = g.size(x, 1);
    return filled(g, safe_span(&channels, 1), fallback, type);
}

/// [C] as [C, 1, ...], which broadcasts along dimension 1 of a tensor of this rank.
inline value along_channels(graph<7> g, value p, std::int64_t rank) {
    safe_vector<std::int64_t> const axes = all_but(0, rank - 1);
    return axes.empty() ? p : unsqueeze(g, p, axes);
}

/// 1 / sqrt(variance + eps)
inline value inverse_deviation(graph<7> g, value variance, double eps) {
    return g.op<"Reciprocal">(g.op<"Sqrt">(g.op<"Add">(variance, rounded_constant(g, eps, variance.dtype()))));
}

/// x * scale + bias; either may be absent.
inline value affine(graph<7> g, value x, optional_value scale, optional_value bias) {
    if (scale) x = g.op<"Mul">(x, g.cast(*scale, x.dtype()));
    return bias ? value(g.op<"Add">(x, g.cast(*bias, x.dtype()))) : x;
}

/// x * scale + bias with one scale and one bias per channel (dimension 1).
inline value channel_affine(graph<7> g, value x, optional_value scale, optional_value bias) {
    auto const parameter = [&](optional_value p) { return p ? optional_value(along_channels(g, *p, x.rank())) : p; };
    return affine(g, x, parameter(scale), parameter(bias));
}

/// The dtype of the parameters, or that of x if there are none.
inline dtype parameter_dtype(value x, optional_value weight, optional_value bias) {
    return weight ? weight->dtype() : bias ? bias->dtype() : x.dtype();
}

/// The statistics per channel that training uses, and the updated running statistics.
struct batch_statistics {
    value mean;
    value variance; ///< biased, as the normalization uses it
    value running_mean;
    value running_variance;
};

inline batch_statistics batch_norm_statistics(graph<7> g, value x, optional_value running_mean,
                                              optional_value running_var, double momentum) {
    safe_vector<std::int64_t> const axes = all_but(1, x.rank());
    value const wide = g.cast(x, opmath_type(x.dtype()));
    batch_statistics s;
    moments const m = variance_and_mean(g, wide, axes, 0, false);
    s.mean = m.mean;
    s.variance = m.variance;
    auto const updated = [&](value old, value batch) {
        value const kept = g.cast(old, aten::promote_types(old.dtype(), batch.dtype()));
        value const added = g.cast(g.op<"Mul">(batch, momentum), kept.dtype());
        return g.cast(g.op<"Add">(g.op<"Mul">(kept, 1.0 - momentum), added), old.dtype());
    };
    if (running_mean) s.running_mean = updated(*running_mean, s.mean);
    if (running_var) s.running_variance = updated(*running_var, variance_and_mean(g, wide, axes, 1, false).variance);
    return s;
}

/// The part of a float64 epsilon that a float32 attribute cannot represent.
inline double lost_as_float(double eps) { return eps - static_cast<double>(static_cast<float>(eps)); }

/// BatchNormalization with given statistics, in the dtype that all operands promote to: up to opset 14, they must have the
/// same dtype. Its epsilon is float32; for float64, the remainder is added to the variance.
inline value batch_norm_with(graph<7> g, value x, optional_value weight, optional_value bias, value mean,
                             value variance, double eps) {
    dtype const widest =
        aten::promote_types(x.dtype(), aten::promote_types(parameter_dtype(x, weight, bias), mean.dtype()));
    dtype const type = g.opset() < 14 ? opmath_type(widest) : widest; // bfloat16 is supported since opset 14
    variance = g.cast(variance, type);
    if (double const rest = lost_as_float(eps); type == dtype::float64 && !exactly_equal(rest, 0))
        variance = g.op<"Add">(variance, rounded_constant(g, rest, type));
    value const y = g.op<"BatchNormalization">(g.cast(x, type),
                                               channel_parameter(g, weight, x, 1, type),
                                               channel_parameter(g, bias, x, 0, type),
                                               g.cast(mean, type),
                                               variance,
                                               attr::epsilon_f(eps));
    return g.cast(y, x.dtype());
}

/// The result, and ATen's saved mean and inverse standard deviation, which are empty outside training, as on the CPU.
struct batch_norm_results {
    value y;
    value saved_mean;
    value saved_rstd;
    batch_statistics statistics;
};

inline batch_norm_results batch_norm_of(graph<7> g, value x, optional_value weight, optional_value bias,
                                        optional_value running_mean, optional_value running_var, bool training,
                                        double momentum, double eps) {
    dtype const saved = parameter_dtype(x, weight, bias);
    batch_norm_results r;
    if (!training && running_mean && running_var) {
        r.y = batch_norm_with(g, x, weight, bias, *running_mean, *running_var, eps);
        r.saved_mean = r.saved_rstd = g.constant(tensor{saved, {0}, {}});
        r.statistics.running_mean = *running_mean;
        r.statistics.running_variance = *running_var;
        return r;
    }
    r.statistics = batch_norm_statistics(g, x, running_mean, running_var, momentum);
    r.y = batch_norm_with(g, x, weight, bias, r.statistics.mean, r.statistics.variance, eps);
    r.saved_mean = g.cast(r.statistics.mean, saved);
    r.saved_rstd = g.cast(inverse_deviation(g, r.statistics.variance, eps), saved);
    return r;
}

inline value no_reserve(graph<7> g) { return g.constant(tensor{dtype::uint8, {0}, {}}); }

} // namespace detail

} // namespace ATON_NAMESPACE::mappings
