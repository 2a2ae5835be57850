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

#include <aton/mappings/detail/batch_norm.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/moments.hpp>
#include <aton/mappings/norm.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The last n axes.
inline safe_vector<std::int64_t> last_axes(std::int64_t rank, std::size_t n) {
    if (n > static_cast<std::size_t>(rank))
        throw unsupported_error("a normalized_shape with more dimensions than the input");
    safe_vector<std::int64_t> axes = iota(rank);
    axes.erase(axes.begin(), axes.end() - static_cast<std::ptrdiff_t>(n));
    return axes;
}

/// (x - mean) / sqrt(variance + eps) over the axes, in the dtype of x.
inline value standardized(graph<7> g, value x, axis_list axes, double eps) {
    value const centered = g.op<"Sub">(x, reduce<"ReduceMean">(g, x, axes, true));
    value const variance = reduce<"ReduceMean">(g, g.op<"Mul">(centered, centered), axes, true);
    return g.op<"Div">(centered, g.op<"Sqrt">(g.op<"Add">(variance, rounded_constant(g, eps, variance.dtype()))));
}

/// layer_norm without LayerNormalization.
inline value composed_layer_norm(graph<7> g, value x, safe_span<sym_int const> shape, optional_value weight,
                                 optional_value bias, double eps) {
    dtype const type = opmath_type(aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias)));
    value const y = standardized(g, g.cast(x, type), last_axes(x.rank(), shape.size()), eps);
    return g.cast(affine(g, y, weight, bias), x.dtype());
}

/// LayerNormalization was added in opset 17. It computes its statistics in float32, so float64 is decomposed.
inline value layer_norm_of(graph<17> g, value x, safe_span<sym_int const> shape, optional_value weight,
                           optional_value bias, double eps) {
    dtype const type = aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias));
    if (type == dtype::float64) return composed_layer_norm(g, x, shape, weight, bias, eps);
    value const scale = weight ? g.cast(*weight, type) : filled(g, shape, 1, type);
    optional_value const shift = bias ? optional_value(g.cast(*bias, type)) : optional_value();
    value const y = g.op<"LayerNormalization">(
        g.cast(x, type), scale, shift, attr::axis_i(-static_cast<std::int64_t>(shape.size())), attr::epsilon_f(eps));
    return g.cast(y, x.dtype());
}
inline value layer_norm_of(graph<7, 16> g, value x, safe_span<sym_int const> shape, optional_value weight,
                           optional_value bias, double eps) {
    return composed_layer_norm(g, x, shape, weight, bias, eps);
}

/// x reshaped to [N, groups, elements of a group]. A dynamic N, which may be 0, is the only unknown size if the others
/// are constant.
inline value grouped(graph<7> g, value x, std::int64_t groups) {
    std::int64_t count = 1;
    for (std::int64_t i = 1; i != x.rank() && count != 0; ++i)
        count = x.size(i).is_static() ? std::int64_t{checked_int(count) * x.size(i).size()} : 0;
    bool const is_known = count != 0 && !x.size(0).is_static();
    return g.op<"Reshape">(x, is_known ? g.ints({-1, groups, count / groups}) : g.ints({0, groups, -1}));
}

/// group_norm without GroupNormalization.
inline value composed_group_norm(graph<7> g, value x, std::int64_t groups, optional_value weight, optional_value bias,
                                 double eps) {
    if (is_empty(x)) return x;
    dtype const type = opmath_type(aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias)));
    value const in_groups = grouped(g, g.cast(x, type), groups);
    value standard = in_groups;
    if (type == dtype::float64) { // the epsilon of InstanceNormalization is float32
        standard = standardized(g, in_groups, std::array<std::int64_t, 1>{2}, eps);
    } else {
        std::array const per_group{sym_int(groups)};
        standard = g.op<"InstanceNormalization">(
            in_groups, filled(g, per_group, 1, type), filled(g, per_group, 0, type), attr::epsilon_f(eps));
    }
    return g.cast(channel_affine(g, g.op<"Reshape">(standard, g.shape_of(x)), weight, bias), x.dtype());
}

/// GroupNormalization has one scale per channel since opset 21, and one per group before. Its statistics are float32,
/// so float64 is decomposed.
inline value group_norm_of(graph<21> g, value x, std::int64_t groups, optional_value weight, optional_value bias,
                           double eps) {
    dtype const type = aten::promote_types(x.dtype(), parameter_dtype(x, weight, bias));
    if (is_empty(x) || type == dtype::float64) return composed_group_norm(g, x, groups, weight, bias, eps);
    value const y = g.op<"GroupNormalization">(g.cast(x, type),
                                               channel_parameter(g, weight, x, 1, type),
                                               channel_parameter(g, bias, x, 0, type),
                                               attr::num_groups_i(groups),
                                               attr::epsilon_f(eps));
    return g.cast(y, x.dtype());
}
inline value group_norm_of(graph<7, 20> g, value x, std::int64_t groups, optional_value weight, optional_value bias,
                           double eps) {
    return composed_group_norm(g, x, groups, weight, bias, eps);
}

/// instance_norm with the statistics of each channel of each instance.
inline value instance_norm_of(graph<7> g, value x, optional_value weight, optional_value bias, double eps) {
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
inline std::tuple<value, value> saved_statistics(graph<7> g, value x, axis_list axes, double eps, bool keepdim,
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
inline value inverse_rms(graph<7> g, value wide, std::size_t n, double eps) {
    safe_vector<std::int64_t> const axes = last_axes(wide.rank(), n);
    value const squares = g.op<"Mul">(wide, wide);
    if (is_empty_along(wide, axes)) { // NaN, 0 / 0; the ReduceMean of no elements is undefined
        value const none = reduce_sum(g, squares, axes, true);
        return g.op<"Div">(none, none);
    }
    value const mean_square = reduce<"ReduceMean">(g, squares, axes, true);
    return inverse_deviation(g, mean_square, eps);
}

/// rms_norm without RMSNormalization.
inline value composed_rms_norm(graph<7> g, value x, safe_span<sym_int const> shape, optional_value weight, double eps) {
    value const wide = g.cast(x, opmath_type(x.dtype()));
    value const y = g.op<"Mul">(wide, inverse_rms(g, wide, shape.size(), eps));
    if (!weight || weight->dtype() == x.dtype()) return g.cast(affine(g, y, weight, absent), x.dtype());
    dtype const type = aten::promote_types(wide.dtype(), weight->dtype());
    return g.cast(g.op<"Mul">(g.cast(y, type), g.cast(*weight, type)), x.dtype()); // the result has the input's dtype
}

/// RMSNormalization was added in opset 23. It computes its statistics in float32, so float64 is decomposed.
inline value rms_norm_of(graph<23> g, value x, safe_span<sym_int const> shape, optional_value weight, double eps) {
    if (x.dtype() == dtype::float64 || (weight && weight->dtype() != x.dtype()))
        return composed_rms_norm(g, x, shape, weight, eps);
    // Rounded once, after the weight is applied: a small number rounded to 0 times an infinite weight would be NaN.
    dtype const type = weight ? opmath_type(x.dtype()) : x.dtype();
    value const scale = weight ? g.cast(*weight, type) : filled(g, shape, 1, type);
    value const y = g.op<"RMSNormalization">(
        g.cast(x, type), scale, attr::axis_i(-static_cast<std::int64_t>(shape.size())), attr::epsilon_f(eps));
    return g.cast(y, x.dtype());
}
inline value rms_norm_of(graph<7, 22> g, value x, safe_span<sym_int const> shape, optional_value weight, double eps) {
    return composed_rms_norm(g, x, shape, weight, eps);
}

/// v * g / norm, and the norm of v over all dimensions except `dim`, or over all for -1.
struct weight_norm_results {
    value weight;
    value norm;
};
inline weight_norm_results weight_norm_of(graph<9> g, value v, value magnitude, std::int64_t dim) {
    value const wide = g.cast(v, opmath_type(v.dtype()));
    value const size = vector_norm(
        g, wide, 2, dim == -1 ? iota(v.rank()) : all_but(normalize_axis(dim, v.rank()), v.rank()), dim != -1);
    return {g.cast(g.op<"Mul">(wide, g.op<"Div">(g.cast(magnitude, wide.dtype()), size)), v.dtype()), size};
}

inline constexpr auto batch_norm = symbolic<
    "aten::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled)">(
    [](graph<7> g, value input, optional_value weight, optional_value bias, optional_value running_mean,
       optional_value running_var, bool training, double momentum, double eps,
       bool) { return batch_norm_of(g, input, weight, bias, running_mean, running_var, training, momentum, eps).y; });

inline constexpr auto native_batch_norm =
    symbolic<"aten::native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)">(
        [](graph<7> g, value input, optional_value weight, optional_value bias, optional_value running_mean,
           optional_value running_var, bool training, double momentum, double eps) -> std::tuple<value, value, value> {
            auto const r = batch_norm_of(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
            return {r.y, r.saved_mean, r.saved_rstd};
        });

inline constexpr auto batch_norm_no_stats =
    symbolic<"aten::_native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps)">(
        [](graph<7> g, value input, optional_value weight, optional_value bias, bool training, double momentum,
           double eps) -> std::tuple<value, value, value> {
            auto const r = batch_norm_of(g, input, weight, bias, {}, {}, training, momentum, eps);
            return {r.y, r.saved_mean, r.saved_rstd};
        });

inline constexpr auto batch_norm_inference = symbolic<
    "aten::_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, momentum, eps)">(
    [](graph<7> g, value input, optional_value weight, optional_value bias, value running_mean, value running_var,
       double momentum, double eps) -> std::tuple<value, value, value> {
        auto const r = batch_norm_of(g, input, weight, bias, running_mean, running_var, false, momentum, eps);
        return {r.y, r.saved_mean, r.saved_rstd};
    });

inline constexpr auto batch_norm_functional = symbolic<"aten::_native_batch_norm_legit_functional(input, weight, bias, "
                                                       "running_mean, running_var, training, momentum, eps)">(
    [](graph<7> g, value input, optional_value weight, optional_value bias, value running_mean, value running_var,
       bool training, double momentum, double eps) -> std::tuple<value, value, value, value, value> {
        auto const r = batch_norm_of(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
        return {r.y, r.saved_mean, r.saved_rstd, r.statistics.running_mean, r.statistics.running_variance};
    });

inline constexpr auto batch_norm_update =
    symbolic<"aten::_batch_norm_with_update_functional(input, weight, bias, running_mean, running_var, momentum, eps)">(
        [](graph<7> g, value input, optional_value weight, optional_value bias, value running_mean, value running_var,
           double momentum, double eps) -> std::tuple<value, value, value, value, value, value> {
            auto const r = batch_norm_of(g, input, weight, bias, running_mean, running_var, true, momentum, eps);
            return {r.y,
                    r.saved_mean,
                    r.saved_rstd,
                    no_reserve(g),
                    r.statistics.running_mean,
                    r.statistics.running_variance};
        });

inline constexpr auto batch_norm_no_update =
    symbolic<"aten::_batch_norm_no_update(input, weight, bias, running_mean, running_var, momentum, eps)">(
        [](graph<7> g, value input, optional_value weight, optional_value bias, optional_value running_mean,
           optional_value running_var, double momentum, double eps) -> std::tuple<value, value, value, value> {
            auto const r = batch_norm_of(g, input, weight, bias, running_mean, running_var, false, momentum, eps);
            return {r.y, r.saved_mean, r.saved_rstd, no_reserve(g)};
        });

inline constexpr auto batch_norm_index = symbolic<"aten::_batch_norm_impl_index(input, weight, bias, running_mean, "
                                                  "running_var, training, momentum, eps, cudnn_enabled)">(
    [](graph<7> g, value input, optional_value weight, optional_value bias, optional_value running_mean,
       optional_value running_var, bool training, double momentum, double eps,
       bool) -> std::tuple<value, value, value, value, sym_int> {
        auto const r = batch_norm_of(g, input, weight, bias, running_mean, running_var, training, momentum, eps);
        return {r.y, r.saved_mean, r.saved_rstd, no_reserve(g), 0};
    });

/// What cuDNN stores for the gradient in training, the fourth result, has no meaning outside of it.
inline constexpr auto cudnn_batch_norm = symbolic<"aten::cudnn_batch_norm(input, weight, bias, running_mean, "
                                                  "running_var, training, exponential_average_factor, epsilon)">(
    [](graph<7> g, value input, value weight, optional_value bias, optional_value running_mean,
       optional_value running_var, bool training, double exponential_average_factor,
       double epsilon) -> std::tuple<value, value, value, value> {
        if (!training && (!running_mean || !running_var))
            return g.unsupported("no running statistics outside training");
        auto const r = batch_norm_of(
            g, input, weight, bias, running_mean, running_var, training, exponential_average_factor, epsilon);
        return {r.y, r.saved_mean, r.saved_rstd, no_reserve(g)};
    });

template <class Graph>
inline constexpr auto layer_norm = [](Graph g, value input, safe_span<size const> shape, optional_value weight,
                                      optional_value bias, double eps,
                                      bool) -> value { return layer_norm_of(g, input, shape, weight, bias, eps); };

template <class Graph>
inline constexpr auto native_layer_norm = [](Graph g, value input, safe_span<size const> shape, optional_value weight,
                                             optional_value bias, double eps) -> std::tuple<value, value, value> {
    dtype const saved = parameter_dtype(input, weight, bias);
    auto const [mean, rstd] = saved_statistics(g, input, last_axes(input.rank(), shape.size()), eps, true, saved);
    return {layer_norm_of(g, input, shape, weight, bias, eps), mean, rstd};
};

template <class Graph>
inline constexpr auto group_norm = [](Graph g, value input, std::int64_t groups, optional_value weight,
                                      optional_value bias, double eps,
                                      bool) -> value { return group_norm_of(g, input, groups, weight, bias, eps); };

template <class Graph>
inline constexpr auto native_group_norm = [](Graph g, value input, optional_value weight, optional_value bias, size n,
                                             size, size, std::int64_t group,
                                             double eps) -> std::tuple<value, value, value> {
    dtype const saved = parameter_dtype(input, weight, bias);
    if (n.is(0)) {
        value const none = filled(g, std::array{n, sym_int(group)}, 0, saved);
        return {input, none, none};
    }
    auto const [mean, rstd] =
        saved_statistics(g, grouped(g, input, group), std::array<std::int64_t, 1>{2}, eps, false, saved);
    return {group_norm_of(g, input, group, weight, bias, eps), mean, rstd};
};

inline constexpr auto instance_norm = symbolic<"aten::instance_norm(input, weight, bias, running_mean, running_var, "
                                               "use_input_stats, momentum, eps, cudnn_enabled)">(
    [](graph<7> g, value input, optional_value weight, optional_value bias, optional_value running_mean,
       optional_value running_var, bool use_input_stats, double momentum, double eps, bool) -> value {
        if (!use_input_stats)
            return batch_norm_of(g, input, weight, bias, running_mean, running_var, false, momentum, eps).y;
        return instance_norm_of(g, input, weight, bias, eps);
    });

template <class Graph>
inline constexpr auto rms_norm =
    [](Graph g, value input, safe_span<size const> shape, optional_value weight, std::optional<double> eps) -> value {
    return rms_norm_of(g, input, shape, weight, eps.value_or(epsilon(input.dtype())));
};

template <class Graph>
inline constexpr auto fused_rms_norm = [](Graph g, value input, safe_span<size const> shape, optional_value weight,
                                          std::optional<double> eps) -> std::tuple<value, value> {
    double const e = eps.value_or(epsilon(input.dtype()));
    value const wide = g.cast(input, opmath_type(input.dtype()));
    return {rms_norm_of(g, input, shape, weight, e), inverse_rms(g, wide, shape.size(), e)};
};

inline constexpr auto weight_norm = symbolic<"aten::_weight_norm(v, g, dim)">(
    [](graph<9> g, value v, value magnitude, std::int64_t dim) { return weight_norm_of(g, v, magnitude, dim).weight; });

inline constexpr auto weight_norm_interface = symbolic<"aten::_weight_norm_interface(v, g, dim)">(
    [](graph<9> g, value v, value magnitude, std::int64_t dim) -> std::tuple<value, value> {
        auto const r = weight_norm_of(g, v, magnitude, dim);
        return {r.weight, r.norm};
    });

} // namespace detail

inline constexpr auto normalization = table(
    detail::batch_norm, detail::native_batch_norm, detail::batch_norm_no_stats, detail::batch_norm_inference,
    detail::batch_norm_functional, detail::batch_norm_update, detail::batch_norm_no_update, detail::batch_norm_index,
    detail::cudnn_batch_norm,
    symbolic<"aten::layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)">(
        detail::layer_norm<graph<17>>),
    symbolic<"aten::layer_norm(input, normalized_shape, weight, bias, eps, cudnn_enable)">(
        detail::layer_norm<graph<7, 16>>),
    symbolic<"aten::native_layer_norm(input, normalized_shape, weight, bias, eps)">(
        detail::native_layer_norm<graph<17>>),
    symbolic<"aten::native_layer_norm(input, normalized_shape, weight, bias, eps)">(
        detail::native_layer_norm<graph<7, 16>>),
    symbolic<"aten::group_norm(input, num_groups, weight, bias, eps, cudnn_enabled)">(detail::group_norm<graph<21>>),
    symbolic<"aten::group_norm(input, num_groups, weight, bias, eps, cudnn_enabled)">(detail::group_norm<graph<7, 20>>),
    symbolic<"aten::native_group_norm(input, weight, bias, N, C, HxW, group, eps)">(
        detail::native_group_norm<graph<21>>),
    symbolic<"aten::native_group_norm(input, weight, bias, N, C, HxW, group, eps)">(
        detail::native_group_norm<graph<7, 20>>),
    detail::instance_norm,
    symbolic<"aten::rms_norm(input, normalized_shape, weight, eps)">(detail::rms_norm<graph<23>>),
    symbolic<"aten::rms_norm(input, normalized_shape, weight, eps)">(detail::rms_norm<graph<7, 22>>),
    symbolic<"aten::_fused_rms_norm(input, normalized_shape, weight, eps)">(detail::fused_rms_norm<graph<23>>),
    symbolic<"aten::_fused_rms_norm(input, normalized_shape, weight, eps)">(detail::fused_rms_norm<graph<7, 22>>),
    detail::weight_norm, detail::weight_norm_interface);

} // namespace ATON_NAMESPACE::mappings
