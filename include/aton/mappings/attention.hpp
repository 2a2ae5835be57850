// SPDX-License-Identifier: MIT
// Scaled dot product attention as two MatMuls around a Softmax, with ATen's masks, causality and grouped heads.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <aton/mappings/detail/draws.hpp>
#include <aton/mappings/matrix_product.hpp>

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
    value const rows = arithmetic_sequence(g, 0, g.size(query, -2));
    value const columns = arithmetic_sequence(g, 0, g.size(key, -2));
    return g.op<"Not">(is_greater(g, unsqueeze(g, columns, std::int64_t{0}), unsqueeze(g, rows, 1)));
}

/// Softmax that returns zeros instead of NaN for rows that are masked out entirely. Masked elements of other rows are 0 anyway.
inline value masked_softmax(graph<9> g, value scores) {
    value const weights = along_axis<"Softmax">(g, scores, -1);
    value const hidden = is_equal(g, scores, g.scalar(-std::numeric_limits<double>::infinity(), scores.dtype()));
    return g.op<"Where">(hidden, g.scalar(0, scores.dtype()), weights);
}

/// (output, attention weights).
inline std::tuple<value, value> attend(graph<9> g, value query, value key, value values, attention_options const& o) {
    if (o.is_causal && o.mask) return g.unsupported("is_causal together with attn_mask");
    if (o.enable_gqa || (query.rank() == 4 && key.size(-3).size() > 0 && query.size(-3).size() > key.size(-3).size())) {
        key = repeat_heads(g, key, g.size(query, -3));
        values = repeat_heads(g, values, g.size(query, -3));
    }
    dtype const t = query.dtype();
    dim const& width = query.size(-1);
    if (!o.scale && !width.is_static()) return g.unsupported("a dynamic head size without an explicit scale");
    // As in ATen, query and key are both multiplied by sqrt(scale), which avoids overflow.
    double const scale = o.scale ? *o.scale : 1 / std::sqrt(static_cast<double>(width.size()));
    double const max_scale = t == dtype::float16 ? 65504 : static_cast<double>(std::numeric_limits<float>::max());
    if (o.scale && !(std::fabs(scale) <= max_scale)) return g.unsupported("a scale that does not fit the dtype");
    value const root = g.scalar(std::sqrt(std::fabs(scale)), t);
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

inline constexpr auto attention_row = [](graph<9> g, value query, value key, value values, optional_value mask,
                                         double dropout_p, bool is_causal, std::optional<double> scale,
                                         bool enable_gqa) -> value {
    return std::get<0>(attend(g, query, key, values, {mask, dropout_p, is_causal, scale, enable_gqa, false}));
};

inline constexpr auto attention_math = [](graph<9> g, value query, value key, value values, optional_value mask,
                                          double dropout_p, bool is_causal, std::optional<double> scale,
                                          bool enable_gqa) {
    return attend(g, query, key, values, {mask, dropout_p, is_causal, scale, enable_gqa, true});
};

/// The second result is only needed for the gradient.
inline constexpr auto flash_attention = [](graph<9> g, value query, value key, value values, double dropout_p,
                                           bool is_causal, optional_value mask,
                                           std::optional<double> scale) -> std::tuple<value, optional_value> {
    return {std::get<0>(attend(g, query, key, values, {mask, dropout_p, is_causal, scale, false, false})), absent};
};

inline constexpr auto efficient_attention =
    [](graph<9> g, value query, value key, value values, optional_value mask, bool, double dropout_p, bool is_causal,
       std::optional<double> scale) -> std::tuple<value, optional_value, optional_value, optional_value> {
    return {std::get<0>(attend(g, query, key, values, {mask, dropout_p, is_causal, scale, false, false})),
            absent,
            absent,
            absent};
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto attention = table(
    symbolic<"aten::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)">(detail::attention_row),
    symbolic<"aten::_scaled_dot_product_attention_math(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)">(detail::attention_math),
    symbolic<"aten::_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p, is_causal, attn_mask, scale)">(detail::flash_attention),
    symbolic<"aten::_scaled_dot_product_efficient_attention(query, key, value, attn_bias, compute_log_sumexp, dropout_p, is_causal, scale)">(detail::efficient_attention));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
