// SPDX-License-Identifier: MIT
// The gradients of batch, layer and group normalization.
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>

#include <aton/mappings/detail/batch_norm.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/unary.hpp>
#include <aton/mappings/normalization.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

using masked_gradients = std::tuple<optional_value, optional_value, optional_value>;

/// The gradients of values that were standardized over `axes`; the other two are still to be summed over the elements
/// that share a scale.
struct standardized_gradients {
    value of_values;
    value scales;
};
inline standardized_gradients gradients_of_standardized(graph<7> g, value d, value x, value mean, value rstd,
                                                        optional_value scale, axis_list axes) {
    value const standard = g.op<"Mul">(g.op<"Sub">(x, mean), rstd);
    value const weighted = scale ? value(g.op<"Mul">(d, *scale)) : d;
    value const along = reduce<"ReduceMean">(g, weighted, axes, true);
    value const across = reduce<"ReduceMean">(g, g.op<"Mul">(weighted, standard), axes, true);
    value const centered = g.op<"Sub">(g.op<"Sub">(weighted, along), g.op<"Mul">(standard, across));
    return {g.op<"Mul">(centered, rstd), g.op<"Mul">(d, standard)};
}

inline void expect_weight(bool requested, optional_value weight) {
    if (requested && !weight) throw unsupported_error("the gradient of a weight or bias that is None");
}

inline constexpr auto native_layer_norm_backward = symbolic<
    "aten::native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask)">(
    [](graph<7> g, value grad, value input, safe_span<size const> shape, value mean, value rstd, optional_value weight,
       optional_value bias, safe_span<bool const> mask) -> masked_gradients {
        expect_weight(mask[1], weight);
        expect_weight(mask[2], bias);
        dtype const wide = opmath_type(input.dtype());
        safe_vector<std::int64_t> const axes = last_axes(input.rank(), shape.size());
        value const d = g.cast(grad, wide);
        if (is_empty_along(input, axes)) return g.unsupported("a normalized_shape without elements");
        optional_value const scale = weight ? optional_value(g.cast(*weight, wide)) : weight;
        standardized_gradients const all =
            gradients_of_standardized(g, d, g.cast(input, wide), g.cast(mean, wide), g.cast(rstd, wide), scale, axes);
        safe_vector<std::int64_t> const outer = iota(input.rank() - static_cast<std::int64_t>(shape.size()));
        masked_gradients out;
        if (mask[0]) std::get<0>(out) = g.cast(all.of_values, input.dtype());
        if (mask[1]) std::get<1>(out) = g.cast(reduce_sum(g, all.scales, outer, false), weight->dtype());
        if (mask[2]) std::get<2>(out) = g.cast(reduce_sum(g, d, outer, false), bias->dtype());
        return out;
    });

/// As [N, groups, C / groups, H * W].
inline constexpr auto native_group_norm_backward =
    symbolic<"aten::native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask)">(
        [](graph<7> g, value grad, value input, value mean, value rstd, optional_value weight, size n, size c, size hxw,
           std::int64_t group, safe_span<bool const> mask) -> masked_gradients {
            expect_weight(mask[1], weight);
            dtype const wide = opmath_type(input.dtype());
            dtype const of_parameters = weight ? weight->dtype() : input.dtype();
            if (group < 1) return g.unsupported("fewer than one group");
            masked_gradients out;
            if (is_empty(input)) {
                value const zeros = filled(g, safe_span<sym_int const>(&c, 1), 0, of_parameters);
                if (mask[0]) std::get<0>(out) = input;
                if (mask[1]) std::get<1>(out) = zeros;
                if (mask[2]) std::get<2>(out) = zeros;
                return out;
            }
            auto const grouped = [&](value x) { return reshape(g, g.cast(x, wide), {n, group, c / group, hxw}); };
            auto const of_group = [&](value x) { return reshape(g, g.cast(x, wide), {n, group, 1, 1}); };
            optional_value const scale =
                weight ? optional_value(reshape(g, g.cast(*weight, wide), {group, c / group, 1})) : weight;
            value const d = grouped(grad);
            standardized_gradients const all = gradients_of_standardized(
                g, d, grouped(input), of_group(mean), of_group(rstd), scale, safe_vector<std::int64_t>{2, 3});
            auto const of_channels = [&](value each) {
                return g.cast(reshape(g, reduce_sum(g, each, safe_vector<std::int64_t>{0, 3}, false), {c}),
                              of_parameters);
            };
            if (mask[0]) std::get<0>(out) = g.cast(reshape(g, all.of_values, g.sizes(input)), input.dtype());
            if (mask[1]) std::get<1>(out) = of_channels(all.scales);
            if (mask[2]) std::get<2>(out) = of_channels(d);
            return out;
        });

/// In training, the gradient flows through the statistics of the batch; in evaluation, these are constants.
inline constexpr auto native_batch_norm_backward =
    symbolic<"aten::native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, "
             "save_invstd, train, eps, output_mask)">(
        [](graph<7> g, value grad, value input, optional_value weight, optional_value running_mean,
           optional_value running_var, optional_value save_mean, optional_value save_invstd, bool train, double eps,
           safe_span<bool const> mask) -> masked_gradients {
            dtype const wide = opmath_type(input.dtype());
            dtype const of_parameters = weight ? weight->dtype() : input.dtype();
            std::int64_t const rank = input.rank();
            safe_vector<std::int64_t> const axes = all_but(1, rank);
            if (is_empty_along(input, axes)) return g.unsupported("a batch without elements");
            auto const of_channels = [&](value x) { return along_channels(g, g.cast(x, wide), rank); };
            value const mean = of_channels(train ? *save_mean : *running_mean);
            value const rstd =
                of_channels(train ? *save_invstd : inverse_deviation(g, g.cast(*running_var, wide), eps));
            optional_value const scale = weight ? optional_value(of_channels(*weight)) : weight;
            value const d = g.cast(grad, wide);
            value const x = g.cast(input, wide);
            masked_gradients out;
            value scales = d;
            if (train) {
                // As in ATen, the scale comes last: an infinite one times a gradient of 0 is NaN, but not times their sum.
                standardized_gradients const all = gradients_of_standardized(g, d, x, mean, rstd, absent, axes);
                scales = all.scales;
                value const scaled = scale ? value(g.op<"Mul">(all.of_values, *scale)) : all.of_values;
                if (mask[0]) std::get<0>(out) = g.cast(scaled, input.dtype());
            } else {
                if (mask[1]) scales = g.op<"Mul">(d, g.op<"Mul">(g.op<"Sub">(x, mean), rstd));
                value const factor = scale ? value(g.op<"Mul">(rstd, *scale)) : rstd;
                if (mask[0]) std::get<0>(out) = g.cast(g.op<"Mul">(d, factor), input.dtype());
            }
            if (mask[1]) std::get<1>(out) = g.cast(reduce_sum(g, scales, axes, false), of_parameters);
            if (mask[2]) std::get<2>(out) = g.cast(reduce_sum(g, d, axes, false), of_parameters);
            return out;
        });

} // namespace detail

inline constexpr auto normalization_backward =
    table(detail::native_layer_norm_backward, detail::native_group_norm_backward, detail::native_batch_norm_backward);

} // namespace ATON_NAMESPACE::mappings
