// SPDX-License-Identifier: MIT
// Scaled dot product attention as two MatMuls around a Softmax, with ATen's masks, causality and grouped heads.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <aton/mappings/activation.hpp>
#include <aton/mappings/detail/draws.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/normalization.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

struct attention_options {
    optional_value mask;
    double dropout_p = 0;
    bool is_causal = false;
    std::optional<double> scale;
    bool enable_gqa = false;
    /// Add a bool mask to the scores as 0 and 1, as _scaled_dot_product_attention_math does, instead of hiding keys.
    bool adds_bool_mask = false;
};

/// Repeats each head of (..., n, S, E) to get `heads` of them, in the order of repeat_interleave: h0, h0, h1, h1.
inline value repeat_heads(graph<7> g, value x, sym_int heads) {
    sym_int const own = g.size(x, -3);
    if (own.is_constant() && heads.is(own.constant())) return x;
    std::int64_t const times = checked_int(heads.constant()) / own.constant();
    safe_vector<sym_int> wide = g.sizes(x);
    safe_vector<sym_int> flat = wide;
    std::size_t const at = wide.size() - 3;
    flat[at] = heads;
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(at) + 1, times);
    return g.op<"Reshape">(expand_by(g, unsqueeze(g, x, static_cast<std::int64_t>(at) + 1), g.ints(wide)),
                           g.ints(flat));
}

/// The causal mask (L, S): query i attends to key j if j <= i, aligned at the top left corner for every L and S.
inline value causal_mask(graph<7> g, value query, value key) {
    bool const has_range = g.opset() >= 11;
    value const zero = has_range ? g.scalar(0, dtype::int64) : value();
    value const one = has_range ? g.scalar(1, dtype::int64) : value();
    auto const up_to = [&](sym_int n) -> value {
        return has_range ? g.within<11>().op<"Range">(zero, g.to_value(n), one) : arithmetic_sequence(g, 0, n);
    };
    value const rows = up_to(g.size(query, -2));
    value const columns = up_to(g.size(key, -2));
    return g.op<"Not">(is_greater(g, unsqueeze(g, columns, std::int64_t{0}), unsqueeze(g, rows, 1)));
}

/// Softmax that returns zeros instead of NaN for rows that are masked out entirely. Masked elements of other rows are 0
/// anyway.
inline value masked_softmax(graph<9> g, value scores) {
    value const weights = along_axis<"Softmax">(g, scores, -1);
    value const hidden = is_equal(g, scores, g.scalar(-std::numeric_limits<double>::infinity(), scores.dtype()));
    return g.op<"Where">(hidden, g.scalar(0, scores.dtype()), weights);
}

/// size^(-1/4): the root of the default scale.
inline value inverse_fourth_root(graph<9> g, sym_int const& size, dtype t) {
    return g.cast(g.op<"Pow">(g.cast(g.to_value(size), dtype::float64), g.scalar(-0.25, dtype::float64)), t);
}

/// (output, attention weights).
inline std::tuple<value, value> attend(graph<9> g, value query, value key, value values, attention_options const& o) {
    if (o.is_causal && o.mask) return g.unsupported("is_causal together with attn_mask");
    if (o.enable_gqa || (query.rank() == 4 && key.size(-3).is_static() && key.size(-3).size() > 0 &&
                         query.size(-3).size_or(0) > key.size(-3).size())) {
        key = repeat_heads(g, key, g.size(query, -3));
        values = repeat_heads(g, values, g.size(query, -3));
    }
    dtype const t = query.dtype();
    dim const& width = query.size(-1);
    bool const computed = !o.scale && !width.is_static();
    // As in ATen, query and key are both multiplied by sqrt(scale), which avoids overflow.
    double const scale = o.scale ? *o.scale : computed ? 1 : 1 / std::sqrt(static_cast<double>(width.size()));
    if (o.scale && !(std::fabs(scale) <= std::min(largest_number(t), largest_number(dtype::float32))))
        return g.unsupported("a scale that does not fit the dtype");
    value const root =
        computed ? inverse_fourth_root(g, g.size(query, -1), t) : value(g.scalar(std::sqrt(std::fabs(scale)), t));
    value const left = g.op<"Mul">(query, scale < 0 ? g.scalar(-std::sqrt(-scale), t) : root);
    value scores = g.op<"MatMul">(left, g.op<"Mul">(transpose_last(g, key), root));
    optional_value mask = o.is_causal ? optional_value(causal_mask(g, query, key)) : o.mask;
    bool const hides = mask && mask->dtype() == dtype::bool_ && !(o.adds_bool_mask && o.mask);
    if (hides) scores = g.op<"Where">(*mask, scores, g.scalar(-std::numeric_limits<double>::infinity(), t));
    else if (mask) scores = g.op<"Add">(scores, g.cast(*mask, t));
    // A causal mask never hides the first key, and a bool mask that is added hides nothing.
    bool const may_hide_all = o.mask && (hides || o.mask->dtype() != dtype::bool_);
    value const all = may_hide_all ? masked_softmax(g, scores) : along_axis<"Softmax">(g, scores, -1);
    value const weights = dropout<false>(g, all, o.dropout_p, true);
    return {g.op<"MatMul">(weights, values), weights};
}

inline constexpr auto attention = symbolic<
    "aten::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)">(
    [](graph<9> g, value query, value key, value values, optional_value mask, double dropout_p, bool is_causal,
       std::optional<double> scale, bool enable_gqa) -> value {
        return std::get<0>(attend(g, query, key, values, {mask, dropout_p, is_causal, scale, enable_gqa, false}));
    });

inline constexpr auto attention_math = symbolic<
    "aten::_scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)">(
    [](graph<9> g, value query, value key, value values, optional_value mask, double dropout_p, bool is_causal,
       std::optional<double> scale, bool enable_gqa) {
        return attend(g, query, key, values, {mask, dropout_p, is_causal, scale, enable_gqa, true});
    });

/// The second result is only needed for the gradient.
inline constexpr auto flash_attention = symbolic<
    "aten::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, attn_mask, scale)">(
    [](graph<9> g, value query, value key, value values, double dropout_p, bool is_causal, optional_value mask,
       std::optional<double> scale) -> std::tuple<value, optional_value> {
        return {std::get<0>(attend(g, query, key, values, {mask, dropout_p, is_causal, scale, false, false})), absent};
    });

inline constexpr auto efficient_attention = symbolic<"aten::_scaled_dot_product_efficient_attention(query, key, value, "
                                                     "attn_bias, compute_log_sumexp, dropout_p, is_causal, scale)">(
    [](graph<9> g, value query, value key, value values, optional_value mask, bool, double dropout_p, bool is_causal,
       std::optional<double> scale) -> std::tuple<value, optional_value, optional_value, optional_value> {
        return {std::get<0>(attend(g, query, key, values, {mask, dropout_p, is_causal, scale, false, false})),
                absent,
                absent,
                absent};
    });

/// The results of CUDA's kernels beside the output and the lengths are only needed for the gradient, or for debugging.
using fused_attention_results = std::tuple<value, optional_value, optional_value, optional_value, sym_int, sym_int,
                                           optional_value, optional_value, optional_value>;
inline fused_attention_results fused_attention(graph<9> g, value query, value key, value values,
                                               attention_options const& o) {
    if (query.rank() != 4 || key.rank() != 4 || values.rank() != 4)
        return g.unsupported("queries, keys and values that are not (batch, heads, length, size)");
    return {std::get<0>(attend(g, query, key, values, o)),
            absent,
            absent,
            absent,
            g.size(query, 2),
            g.size(key, 2),
            absent,
            absent,
            absent};
}

/// Where queries and keys have different lengths, this kernel alone aligns the causal mask at the bottom right corner.
/// PyTorch calls it for equal lengths only.
inline constexpr auto cuda_flash_attention = symbolic<
    "aten::_scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, return_debug_mask, scale)">(
    [](graph<9> g, value query, value key, value values, double dropout_p, bool is_causal, bool /*return_debug_mask*/,
       std::optional<double> scale) -> fused_attention_results {
        if (is_causal && !query.size(-2).same_as(key.size(-2)))
            return g.unsupported("is_causal where queries and keys may have different lengths");
        return fused_attention(g, query, key, values, {{}, dropout_p, is_causal, scale, false, false});
    });

inline constexpr auto cudnn_attention =
    symbolic<"aten::_scaled_dot_product_cudnn_attention(query, key, value, attn_bias, compute_log_sumexp, dropout_p, "
             "is_causal, return_debug_mask, scale)">([](graph<9> g, value query, value key, value values,
                                                        optional_value bias, bool /*compute_log_sumexp*/,
                                                        double dropout_p, bool is_causal, bool /*return_debug_mask*/,
                                                        std::optional<double> scale) -> fused_attention_results {
        return fused_attention(g, query, key, values, {bias, dropout_p, is_causal, scale, false, false});
    });

/// The parameters and the mask of multi-head attention. A true element of the mask hides a key.
struct head_options {
    std::int64_t heads;
    value qkv_weight;
    value qkv_bias;
    value proj_weight;
    value proj_bias;
    optional_value mask;
    std::optional<std::int64_t> mask_type;
};

/// Queries, keys or values of all heads, (batch, heads, length, size), from (batch, length, heads * size).
inline value in_heads(graph<9> g, value x, std::int64_t heads) {
    safe_vector<sym_int> sizes = g.sizes(x);
    if (sizes.size() != 3 || heads < 1) throw unsupported_error("the input must be (batch, length, features)");
    sizes[2] = sizes[2] / heads;
    sizes.insert(sizes.begin() + 2, heads);
    return g.op<"Transpose">(reshape(g, x, sizes), attr::perm_i({0, 2, 1, 3}));
}

/// What the mask hides, broadcast to (batch, heads, length, length). ATen takes each number but 0 as true.
inline value hidden_keys(graph<9> g, head_options const& o) {
    if (!o.mask_type) throw unsupported_error("a mask without mask_type");
    value const hides = g.cast(*o.mask, dtype::bool_);
    std::int64_t const between[] = {1, 2};
    return *o.mask_type == 1 && hides.rank() == 2 ? unsqueeze(g, hides, between) : hides;
}

/// (output, weights of all heads). As in ATen, a query whose keys are all hidden gives NaN.
inline std::tuple<value, value> attend_with_heads(graph<9> g, value query, value key, value values,
                                                  head_options const& o) {
    std::int64_t const size = query.size(-1).size_or(0);
    if (o.heads < 1) throw unsupported_error("num_heads=" + std::to_string(o.heads));
    if (size < 1 || size % o.heads != 0) throw unsupported_error("a number of features that is not static");
    safe_vector<std::int64_t> const thirds(3, size);
    safe_vector<value> const weights = split(g, o.qkv_weight, thirds, 0);
    safe_vector<value> const biases = split(g, o.qkv_bias, thirds, 0);
    auto const part = [&](value x, std::size_t i) {
        return in_heads(g, linear_layer(g, x, weights[i], biases[i]), o.heads);
    };
    double const scale = 1 / std::sqrt(static_cast<double>(size / o.heads));
    value const scaled = g.op<"Mul">(part(query, 0), scale);
    value scores = g.op<"MatMul">(scaled, transpose_last(g, part(key, 1)));
    if (o.mask) {
        value const none = g.scalar(-std::numeric_limits<double>::infinity(), scores.dtype());
        scores = choose(g, hidden_keys(g, o), none, scores);
    }
    value const shares = along_axis<"Softmax">(g, scores, -1);
    value const y = g.op<"Transpose">(g.op<"MatMul">(shares, part(values, 2)), attr::perm_i({0, 2, 1, 3}));
    return {linear_layer(g, reshape(g, y, g.sizes(query)), o.proj_weight, o.proj_bias), shares};
}

inline constexpr auto multi_head_attention =
    symbolic<"aten::_native_multi_head_attention(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias, "
             "proj_weight, proj_bias, mask, need_weights, average_attn_weights, mask_type)">(
        [](graph<9> g, value query, value key, value values, std::int64_t /*embed_dim*/, std::int64_t num_head,
           value qkv_weight, value qkv_bias, value proj_weight, value proj_bias, optional_value mask, bool need_weights,
           bool average_attn_weights, std::optional<std::int64_t> mask_type) -> std::tuple<value, optional_value> {
            head_options const o{num_head, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, mask_type};
            auto const [y, shares] = attend_with_heads(g, query, key, values, o);
            if (!need_weights || is_empty(query)) return {y, absent};
            std::int64_t const over_heads[] = {1};
            return {y, average_attn_weights ? reduce<"ReduceMean">(g, shares, over_heads, false) : shares};
        });

/// Attention and two linear layers, each with a residual connection and normalization before or after.
template <class Graph>
inline constexpr auto transformer_layer =
    [](Graph g, value src, std::int64_t embed_dim, std::int64_t num_heads, value qkv_weight, value qkv_bias,
       value proj_weight, value proj_bias, bool use_gelu, bool norm_first, double eps, value norm_weight_1,
       value norm_bias_1, value norm_weight_2, value norm_bias_2, value ffn_weight_1, value ffn_bias_1,
       value ffn_weight_2, value ffn_bias_2, optional_value mask, std::optional<std::int64_t> mask_type) -> value {
    head_options const o{num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, mask_type};
    sym_int const features[] = {embed_dim};
    using norm_graph = std::conditional_t<std::is_same_v<Graph, graph<9, 16>>, graph<7, 16>, graph<17>>;
    auto const normalized = [&](value x, value weight, value bias) {
        return layer_norm_of(norm_graph(g), x, features, weight, bias, eps);
    };
    auto const attended = [&](value x) { return std::get<0>(attend_with_heads(g, x, x, x, o)); };
    auto const fed_forward = [&](value x) -> value {
        value y = linear_layer(g, x, ffn_weight_1, ffn_bias_1);
        if (!use_gelu) y = without_bfloat16(g, y, [&](value v) -> value { return g.template op<"Relu">(v); });
        else if constexpr (std::is_same_v<Graph, graph<20>>) y = gelu(g, y, "none");
        else y = gelu_until_19(g, y, "none");
        return linear_layer(g, y, ffn_weight_2, ffn_bias_2);
    };
    auto const added = [&](value a, value b) -> value { return g.template op<"Add">(a, b); };
    if (norm_first) {
        value const y = added(src, attended(normalized(src, norm_weight_1, norm_bias_1)));
        return added(y, fed_forward(normalized(y, norm_weight_2, norm_bias_2)));
    }
    value const y = normalized(added(src, attended(src)), norm_weight_1, norm_bias_1);
    return normalized(added(y, fed_forward(y)), norm_weight_2, norm_bias_2);
};

} // namespace detail

inline constexpr auto attention =
    table(detail::attention, detail::attention_math, detail::flash_attention, detail::efficient_attention,
          detail::cuda_flash_attention, detail::cudnn_attention, detail::multi_head_attention,
          symbolic<"aten::_transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, "
                   "proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, "
                   "ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type)">(
              detail::transformer_layer<graph<20>>),
          symbolic<"aten::_transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, "
                   "proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, "
                   "ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type)">(
              detail::transformer_layer<graph<17, 19>>),
          symbolic<"aten::_transformer_encoder_layer_fwd(src, embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, "
                   "proj_bias, use_gelu, norm_first, eps, norm_weight_1, norm_bias_1, norm_weight_2, norm_bias_2, "
                   "ffn_weight_1, ffn_bias_1, ffn_weight_2, ffn_bias_2, mask, mask_type)">(
              detail::transformer_layer<graph<9, 16>>));

} // namespace ATON_NAMESPACE::mappings
