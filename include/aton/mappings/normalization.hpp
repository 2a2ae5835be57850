// SPDX-License-Identifier: MIT
// Batch, layer, group, instance, RMS and weight normalization.
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/norm.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// A weight or bias for the channels (dimension 1) of x in dtype `type`; `fallback` for all channels if absent.
inline value channel_parameter(graph<13> g, optional_value given, value x, double fallback, dtype type) {
    if (given) return g.cast(*given, type);
    sym_int const channels = g.size(x, 1);
    return filled(g, safe_span(&channels, 1), fallback, type);
}

/// [C] as [C, 1, ...], which broadcasts along dimension 1 of a tensor of this rank.
inline value along_channels(graph<13> g, value p, std::int64_t rank) {
    safe_vector<std::int64_t> const axes = all_but(0, rank - 1);
    return axes.empty() ? p : unsqueeze(g, p, axes);
}

/// 1 / sqrt(variance + eps)
inline value inverse_deviation(graph<13> g, value variance, double eps) {
    return g.op<"Reciprocal">(g.op<"Sqrt">(g.op<"Add">(variance, rounded_constant(g, eps, variance.dtype()))));
}

/// x * scale + bias; either may be absent.
inline value affine(graph<13> g, value x, optional_value scale, optional_value bias) {
    if (scale) x = g.op<"Mul">(x, g.cast(*scale, x.dtype()));
    return bias ? value(g.op<"Add">(x, g.cast(*bias, x.dtype()))) : x;
}

/// x * scale + bias with one scale and one bias per channel (dimension 1).
inline value channel_affine(graph<13> g, value x, optional_value scale, optional_value bias) {
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

inline batch_statistics batch_norm_statistics(graph<13> g, value x, optional_value running_mean,
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
inline value batch_norm_with(graph<13> g, value x, optional_value weight, optional_value bias, value mean,
                             value variance, double eps) {
    dtype const widest =
        aten::promote_types(x.dtype(), aten::promote_types(parameter_dtype(x, weight, bias), mean.dtype()));
    dtype const type = g.opset() < 14 ? opmath_type(widest) : widest; // bfloat16 is supported since opset 14
    variance = g.cast(variance, type);
    if (double const rest = lost_as_float(eps); type == dtype::float64 && rest != 0)
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

inline batch_norm_results batch_norm(graph<13> g, value x, optional_value weight, optional_value bias,
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

inline value no_reserve(graph<13> g) { return g.constant(tensor{dtype::uint8, {0}, {}}); }

/// The last n axes.
inline safe_vector<std::int64_t> last_axes(std::int64_t rank, std::size_t n) {
    if (n > static_cast<std::size_t>(rank))
        throw unsupported_error("a normalized_shape with more dimensions than the input");
    safe_vector<std::int64_t> axes = iota(rank);
    axes.erase(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(n));
    return axes;
}

/// (x - mean) / sqrt(variance + eps) over the axes, in the dtype of x.
inline value standardized(graph<13> g, value x, axis_list axes, double eps) {
    value const centered = g.op<"Sub">(x, reduce<"ReduceMean">(g, x, axes, true));
    value const variance = reduce<"ReduceMean">(g, g.op<"Mul">(centered, centered), axes, true);
    return g.op<"Div">(centered, g.op<"Sqrt">(g.op<"Add">(variance, rounded_constant(g, eps, variance.dtype()))));
}

inline value layer_norm(graph<13> g, value x, safe_span<sym_int const> shape, optional_value weight,
                        optional_value bias, double eps) {
    dtype const type = aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias));
    // LayerNormalization computes its statistics in float32, so float64 is decomposed.
    if (g.opset() >= 17 && type != dtype::float64) {
        value const scale = weight ? g.cast(*weight, type) : filled(g, shape, 1, type);
        optional_value const shift = bias ? optional_value(g.cast(*bias, type)) : optional_value();
        value const y = g.within<17>().op<"LayerNormalization">(g.cast(x, type),
                                                                scale,
                                                                shift,
                                                                attr::axis_i(-static_cast<std::int64_t>(shape.size())),
                                                                attr::epsilon_f(eps));
        return g.cast(y, x.dtype());
    }
    value const y = standardized(g, g.cast(x, opmath_type(type)), last_axes(x.rank(), shape.size()), eps);
    return g.cast(affine(g, y, weight, bias), x.dtype());
}

/// x reshaped to [N, groups, -1].
inline value grouped(graph<13> g, value x, std::int64_t groups) { return g.op<"Reshape">(x, g.ints({0, groups, -1})); }

inline value group_norm(graph<13> g, value x, std::int64_t groups, optional_value weight, optional_value bias,
                        double eps) {
    if (x.shape().element_count() == 0) return x;
    dtype const type = aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias));
    // Up to opset 20, GroupNormalization has one scale per group. Its statistics are float32, so float64 is decomposed.
    if (g.opset() >= 21 && type != dtype::float64) {
        value const y = g.within<21>().op<"GroupNormalization">(g.cast(x, type),
                                                                channel_parameter(g, weight, x, 1, type),
                                                                channel_parameter(g, bias, x, 0, type),
                                                                attr::num_groups_i(groups),
                                                                attr::epsilon_f(eps));
        return g.cast(y, x.dtype());
    }
    dtype const wide = opmath_type(type);
    value const in_groups = grouped(g, g.cast(x, wide), groups);
    value standard = in_groups;
    if (wide == dtype::float64) { // the epsilon of InstanceNormalization is float32
        standard = standardized(g, in_groups, std::array<std::int64_t, 1>{2}, eps);
    } else {
        std::array const per_group{sym_int(groups)};
        standard = g.op<"InstanceNormalization">(
            in_groups, filled(g, per_group, 1, wide), filled(g, per_group, 0, wide), attr::epsilon_f(eps));
    }
    return g.cast(channel_affine(g, g.op<"Reshape">(standard, g.shape_of(x)), weight, bias), x.dtype());
}

/// instance_norm with the statistics of each channel of each instance.
inline value instance_norm(graph<13> g, value x, optional_value weight, optional_value bias, double eps) {
    dtype const type = opmath_type(aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias)));
    value const wide = g.cast(x, type);
    if (type == dtype::float64) { // the epsilon of InstanceNormalization is float32
        value const y = standardized(g, wide, last_axes(x.rank(), static_cast<std::size_t>(x.rank()) - 2), eps);
        return g.cast(channel_affine(g, y, weight, bias), x.dtype());
    }
    value const y = g.op<"InstanceNormalization">(
        wide, channel_parameter(g, weight, x, 1, type), channel_parameter(g, bias, x, 0, type), attr::epsilon_f(eps));
    return g.cast(y, x.dtype());
}

/// The mean and the inverse standard deviation over normalized axes, which ATen returns along with the normalized tensor.
inline std::tuple<value, value> saved_statistics(graph<13> g, value x, axis_list axes, double eps, bool keepdim,
                                                 dtype type) {
    if (is_empty_along(x, axes)) { // 0, and 1 / sqrt(NaN)
        value const mean = reduce_sum(g, g.cast(x, type), axes, keepdim);
        return {mean, g.op<"Div">(mean, mean)};
    }
    moments const m = variance_and_mean(g, g.cast(x, opmath_type(x.dtype())), axes, 0, keepdim);
    return {g.cast(m.mean, type), g.cast(inverse_deviation(g, m.variance, eps), type)};
}

/// The default eps of rms_norm: the machine epsilon of the dtype that ATen computes in.
inline double epsilon(dtype t) {
    return t == dtype::float64 ? std::numeric_limits<double>::epsilon()
                               : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// 1 / sqrt(mean(wide^2) + eps) over the last n axes.
inline value inverse_rms(graph<13> g, value wide, std::size_t n, double eps) {
    value const mean_square = reduce<"ReduceMean">(g, g.op<"Mul">(wide, wide), last_axes(wide.rank(), n), true);
    return inverse_deviation(g, mean_square, eps);
}

inline constexpr auto rms_norm = [](graph<13> g, value x, safe_span<sym_int const> shape, optional_value weight,
                                    std::optional<double> eps) -> value {
    double const e = eps.value_or(epsilon(x.dtype()));
    if (g.opset() >= 23 && x.dtype() != dtype::float64 &&
        (!weight || weight->dtype() == x.dtype())) { // statistics are float32
        // Rounded once, after the weight is applied: a small number rounded to 0 times an infinite weight would be NaN.
        dtype const type = weight ? opmath_type(x.dtype()) : x.dtype();
        value const scale = weight ? g.cast(*weight, type) : filled(g, shape, 1, type);
        value const y = g.within<23>().op<"RMSNormalization">(
            g.cast(x, type), scale, attr::axis_i(-static_cast<std::int64_t>(shape.size())), attr::epsilon_f(e));
        return g.cast(y, x.dtype());
    }
    value const wide = g.cast(x, opmath_type(x.dtype()));
    value const y = g.op<"Mul">(wide, inverse_rms(g, wide, shape.size(), e));
    if (!weight || weight->dtype() == x.dtype()) return g.cast(affine(g, y, weight, absent), x.dtype());
    dtype const type = aten::promote_types(wide.dtype(), weight->dtype());
    return g.cast(g.op<"Mul">(g.cast(y, type), g.cast(*weight, type)), x.dtype()); // the result has the input's dtype
};

/// v * g / norm, and the norm of v over all dimensions except `dim`, or over all for -1.
struct weight_norm_results {
    value weight;
    value norm;
};
inline weight_norm_results weight_norm(graph<13> g, value v, value magnitude, std::int64_t dim) {
    value const wide = g.cast(v, opmath_type(v.dtype()));
    value const size = vector_norm(
        g, wide, 2, dim == -1 ? iota(v.rank()) : all_but(normalize_axis(dim, v.rank()), v.rank()), dim != -1);
    return {g.cast(g.op<"Mul">(wide, g.op<"Div">(g.cast(magnitude, wide.dtype()), size)), v.dtype()), size};
}

inline constexpr auto batch_norm_row = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                          optional_value running_mean, optional_value running_var, bool training,
                                          double momentum, double eps, bool) {
    return batch_norm(g, input, weight, bias, running_mean, running_var, training, momentum, eps).y;
};

inline constexpr auto native_batch_norm = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                             optional_value running_mean, optional_value running_var, bool training,
                                             double momentum, double eps) -> std::tuple<value, value, value> {
    auto const r = batch_norm(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd};
};

inline constexpr auto batch_norm_no_stats = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                               bool training, double momentum,
                                               double eps) -> std::tuple<value, value, value> {
    auto const r = batch_norm(g, input, weight, bias, {}, {}, training, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd};
};

inline constexpr auto batch_norm_inference = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                                value running_mean, value running_var, double momentum,
                                                double eps) -> std::tuple<value, value, value> {
    auto const r = batch_norm(g, input, weight, bias, running_mean, running_var, false, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd};
};

inline constexpr auto batch_norm_functional = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                                 value running_mean, value running_var, bool training, double momentum,
                                                 double eps) -> std::tuple<value, value, value, value, value> {
    auto const r = batch_norm(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd, r.statistics.running_mean, r.statistics.running_variance};
};

inline constexpr auto batch_norm_update = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                             value running_mean, value running_var, double momentum,
                                             double eps) -> std::tuple<value, value, value, value, value, value> {
    auto const r = batch_norm(g, input, weight, bias, running_mean, running_var, true, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd, no_reserve(g), r.statistics.running_mean, r.statistics.running_variance};
};

inline constexpr auto batch_norm_no_update = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                                optional_value running_mean, optional_value running_var,
                                                double momentum, double eps) -> std::tuple<value, value, value, value> {
    auto const r = batch_norm(g, input, weight, bias, running_mean, running_var, false, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd, no_reserve(g)};
};

inline constexpr auto batch_norm_index = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                            optional_value running_mean, optional_value running_var, bool training,
                                            double momentum, double eps,
                                            bool) -> std::tuple<value, value, value, value, sym_int> {
    auto const r = batch_norm(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
    return {r.y, r.saved_mean, r.saved_rstd, no_reserve(g), 0};
};

inline constexpr auto layer_norm_row = [](graph<13> g, value input, safe_span<size const> shape, optional_value weight,
                                          optional_value bias, double eps,
                                          bool) -> value { return layer_norm(g, input, shape, weight, bias, eps); };

inline constexpr auto native_layer_norm = [](graph<13> g, value input, safe_span<size const> shape,
                                             optional_value weight, optional_value bias,
                                             double eps) -> std::tuple<value, value, value> {
    dtype const saved = parameter_dtype(input, weight, bias);
    auto const [mean, rstd] = saved_statistics(g, input, last_axes(input.rank(), shape.size()), eps, true, saved);
    return {layer_norm(g, input, shape, weight, bias, eps), mean, rstd};
};

inline constexpr auto group_norm_row = [](graph<13> g, value input, std::int64_t groups, optional_value weight,
                                          optional_value bias, double eps,
                                          bool) -> value { return group_norm(g, input, groups, weight, bias, eps); };

inline constexpr auto native_group_norm = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                             size n, size, size, std::int64_t group,
                                             double eps) -> std::tuple<value, value, value> {
    dtype const saved = parameter_dtype(input, weight, bias);
    if (n.is(0)) {
        value const none = filled(g, std::array{n, sym_int(group)}, 0, saved);
        return {input, none, none};
    }
    auto const [mean, rstd] =
        saved_statistics(g, grouped(g, input, group), std::array<std::int64_t, 1>{2}, eps, false, saved);
    return {group_norm(g, input, group, weight, bias, eps), mean, rstd};
};

inline constexpr auto instance_norm_row = [](graph<13> g, value input, optional_value weight, optional_value bias,
                                             optional_value running_mean, optional_value running_var,
                                             bool use_input_stats, double momentum, double eps, bool) -> value {
    if (!use_input_stats) return batch_norm(g, input, weight, bias, running_mean, running_var, false, momentum, eps).y;
    return instance_norm(g, input, weight, bias, eps);
};

inline constexpr auto fused_rms_norm = [](graph<13> g, value input, safe_span<size const> shape, optional_value weight,
                                          std::optional<double> eps) -> std::tuple<value, value> {
    value const wide = g.cast(input, opmath_type(input.dtype()));
    return {rms_norm(g, input, shape, weight, eps),
            inverse_rms(g, wide, shape.size(), eps.value_or(epsilon(input.dtype())))};
};

inline constexpr auto weight_norm_row = [](graph<13> g, value v, value magnitude, std::int64_t dim) {
    return weight_norm(g, v, magnitude, dim).weight;
};

inline constexpr auto weight_norm_interface = [](graph<13> g, value v, value magnitude,
                                                 std::int64_t dim) -> std::tuple<value, value> {
    auto const r = weight_norm(g, v, magnitude, dim);
    return {r.weight, r.norm};
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto normalization = table(
    symbolic<"aten::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)">(detail::batch_norm_row),
    symbolic<"aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)">(detail::native_batch_norm),
    symbolic<"aten::_native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps)">(detail::batch_norm_no_stats),
    symbolic<"aten::_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps)">(detail::batch_norm_inference),
    symbolic<"aten::_native_batch_norm_legit_functional(input, weight, bias, running_mean, running_var, training, momentum, eps)">(detail::batch_norm_functional),
    symbolic<"aten::_batch_norm_with_update_functional(input, weight, bias, running_mean, running_var, momentum, eps)">(detail::batch_norm_update),
    symbolic<"aten::_batch_norm_no_update(input, weight, bias, running_mean, running_var, momentum, eps)">(detail::batch_norm_no_update),
    symbolic<"aten::_batch_norm_impl_index(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)">(detail::batch_norm_index),
    symbolic<"aten::layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)">(detail::layer_norm_row),
    symbolic<"aten::native_layer_norm(input, normalized_shape, weight, bias, eps)">(detail::native_layer_norm),
    symbolic<"aten::group_norm(input, num_groups, weight, bias, eps, cudnn_enabled)">(detail::group_norm_row),
    symbolic<"aten::native_group_norm(input, weight, bias, N, C, HxW, group, eps)">(detail::native_group_norm),
    symbolic<"aten::instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled)">(detail::instance_norm_row),
    symbolic<"aten::rms_norm(input, normalized_shape, weight, eps)">(detail::rms_norm),
    symbolic<"aten::_fused_rms_norm(input, normalized_shape, weight, eps)">(detail::fused_rms_norm),
    symbolic<"aten::_weight_norm(v, g, dim)">(detail::weight_norm_row),
    symbolic<"aten::_weight_norm_interface(v, g, dim)">(detail::weight_norm_interface));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
