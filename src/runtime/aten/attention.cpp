// SPDX-License-Identifier: MIT
// ATen operators: attention. Narrow dtypes are computed in float32 and rounded at the end.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// 0 for visible keys, -inf for hidden ones.
tensor as_bias(tensor const& seen, dtype type) {
    tensor const none = full(0, type, seen.sizes(), seen.where());
    return where(seen, none, scalar(-infinity));
}

/// Repeats each head of keys and values for the heads of queries that share it.
tensor repeated_heads(tensor const& x, std::int64_t heads) {
    std::size_t const axis = x.rank() - 3;
    if (x.size(axis) == 0 || heads % x.size(axis) != 0)
        throw error("the number of query heads is not a multiple of the number of key heads");
    std::int64_t const times = heads / x.size(axis);
    if (times == 1) return x;
    sizes to = x.sizes();
    to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis) + 1, times);
    tensor const wide = x.unsqueezed(axis + 1).expanded(to);
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
    to[axis] = heads;
    return reshape(wide, to);
}

struct attention_options {
    tensor bias; ///< added to the scores; may be empty
    bool causal = false;
    /// The dtype of the operands if ATen's CPU backend has a fused kernel, which scales scores, rounds exponentials
    /// before they weight the values, and divides last.
    dtype fused = dtype::undefined;
    std::optional<double> scale;
    bool repeats_heads = false;
    bool hidden_is_nan = false; ///< the result of a query without a visible key; otherwise 0
};

struct attended {
    tensor out;
    tensor weights;
    tensor logarithm; ///< of the sum of the exponentials of the scores
};

/// Operands and results are in the compute type.
attended attend(tensor const& query, tensor key, tensor value, attention_options const& o) {
    if (query.rank() < 2 || key.rank() < 2 || value.rank() < 2)
        throw error("queries, keys and values must have at least 2 dimensions");
    if (o.repeats_heads) {
        if (query.rank() < 3 || key.rank() != query.rank() || value.rank() != query.rank())
            throw error("the number of heads is 0");
        std::int64_t const heads = query.size(query.rank() - 3);
        key = repeated_heads(key, heads);
        value = repeated_heads(value, heads);
    }
    double const size = static_cast<double>(query.sizes().back());
    double const scale = o.scale.value_or(1 / std::sqrt(size));
    double const root = std::sqrt(std::abs(scale)); // applied to both operands, so that neither overflows
    bool const is_fused = o.fused != dtype::undefined;
    tensor scores = is_fused ? matmul(query, transpose(key, -1, -2)) * scalar(scale)
                             : matmul(query * scalar(scale < 0 ? -root : root), transpose(key, -1, -2) * scalar(root));
    if (o.causal) {
        tensor const rows = range(scores.size(scores.rank() - 2), 0, 1, scores.where());
        tensor const columns = range(scores.sizes().back(), 0, 1, scores.where());
        scores = scores + as_bias(less_equal(columns, rows.unsqueezed(1)), scores.dtype());
    }
    if (o.bias) scores = scores + cast(o.bias, scores.dtype());
    if (scores.count() == 0) {
        tensor const none = softmax(scores, -1);
        return {matmul(none, value), none, sum(none, {-1})};
    }
    tensor const hidden = reduce(reduce_op::all, equal(scores, scalar(-infinity)), {-1}, true);
    double const of_hidden = o.hidden_is_nan ? std::numeric_limits<double>::quiet_NaN() : 0;
    tensor const weights = where(hidden, scalar(of_hidden), softmax(scores, -1));
    tensor const highest = max(scores, {-1}, true);
    tensor const safe = where(equal(highest, scalar(-infinity)), scalar(0), highest);
    tensor const exponentials = exp(scores - safe);
    tensor const total = sum(exponentials, {-1}, true);
    tensor const logarithm = where(hidden, scalar(0), log(total) + safe);
    tensor out = matmul(weights, value);
    if (is_fused) {
        tensor const fused = matmul(cast(cast(exponentials, o.fused), value.dtype()), value) / total;
        out = where(hidden, out, fused); // 0 times an infinity is NaN
    }
    return {out, weights, logarithm.squeezed(logarithm.rank() - 1)};
}

/// `adds_bools`: a bool mask is added as 0 and 1, as in ATen's private variant.
attended attend(call const& c, bool adds_bools) {
    tensor const query = c.t("query");
    dtype const type = query.dtype();
    if (!is_floating(type)) throw error("queries, keys and values must have a floating-point dtype");
    dtype const in = compute_type(type);
    attention_options o;
    std::string_view const mask = c.has_argument("attn_bias") ? "attn_bias" : "attn_mask";
    if (c.has_argument(mask)) o.bias = c.maybe(mask);
    o.causal = c.b("is_causal");
    if (o.bias && o.bias.dtype() == dtype::bool_) o.bias = adds_bools ? cast(o.bias, in) : as_bias(o.bias, in);
    if (o.bias && o.causal) throw error("is_causal cannot be combined with a mask");
    o.scale = c.maybe_f("scale");
    bool const is_fused = c.overload().find("flash") != std::string_view::npos;
    o.repeats_heads = is_fused || (c.has_argument("enable_gqa") && c.b("enable_gqa"));
    tensor const values = c.t("value");
    bool const fits = query.rank() == 4 && values.rank() != 0 && values.sizes().back() == query.sizes().back();
    if (!adds_bools && fits) o.fused = type;
    attended a = attend(cast(query, in), cast(c.t("key"), in), cast(c.t("value"), in), o);
    if (double const p = c.f("dropout_p"); p > 0) {
        tensor const kept = greater_equal(uniform(a.weights.sizes(), c.seed(), query.where()), scalar(p));
        a.weights = dropped(a.weights, kept, p);
        tensor const value = cast(c.t("value"), in);
        a.out = matmul(a.weights, o.repeats_heads ? repeated_heads(value, query.size(query.rank() - 3)) : value);
    }
    a.out = cast(a.out, type);
    return a;
}

results scaled_dot_product_attention(call const& c) { return attend(c, false).out; }

results attention_math(call const& c) {
    attended const a = attend(c, true);
    return {a.out, cast(a.weights, c.t("query").dtype())};
}
results flash_attention_for_cpu(call const& c) {
    attended const a = attend(c, false);
    return {a.out, a.logarithm};
}
results efficient_attention(call const& c) {
    attended const a = attend(c, false);
    auto const none = [&] { return constant(c, scalar(0), dtype::int64); };
    tensor const logarithm =
        c.b("compute_log_sumexp") ? a.logarithm : tensor::empty(dtype::float32, {0}, kernels_of(c.where()).memory());
    return {a.out, logarithm, none(), none()};
}

/// CUDA's kernels. None for the lengths of packed sequences and the mask; the state of the generator is not that of CUDA.
results cuda_attention(call const& c) {
    tensor const query = c.t("query");
    tensor const key = c.t("key");
    if (query.rank() != 4 || key.rank() != 4 || c.t("value").rank() != 4)
        throw error("queries, keys and values must have 4 dimensions");
    bool const is_flash = !c.has_argument("attn_bias");
    if (is_flash && c.b("is_causal") && query.size(2) != key.size(2))
        throw error("is_causal requires queries and keys of the same length");
    attended const a = attend(c, false);
    auto const number = [&](std::int64_t n) { return constant(c, scalar(n), dtype::int64); };
    return {a.out,
            a.logarithm,
            value(),
            value(),
            number(query.size(2)),
            number(key.size(2)),
            number(0),
            number(0),
            tensor::empty(query.dtype(), {0}, kernels_of(c.where()).memory())};
}

/// x [..., I] times weight [O, I], plus a bias.
term linear(term const& x, tensor const& weight, tensor const& bias) {
    dtype const in = compute_type(x->dtype());
    return cast(matmul(cast(*x, in), transpose(cast(weight, in), 0, 1)) + cast(bias, in), x->dtype());
}

/// [B, T, H * D] as [B, H, T, D], and back.
tensor with_heads(tensor const& x, std::int64_t heads) {
    return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}
tensor without_heads(tensor const& x) {
    return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// True entries of the mask hide keys: a matrix [T, T], the padding of each sequence [B, T], or both at once [B, H, T,
/// T].
tensor mask_bias(call const& c, dtype type) {
    tensor mask = c.maybe("mask");
    if (!mask) return mask;
    mask = cast(mask, dtype::bool_);
    if (!c.maybe_i("mask_type")) throw error("a mask without mask_type");
    if (c.maybe_i("mask_type") == 1 && mask.rank() == 2) mask = mask.unsqueezed(1).unsqueezed(1);
    return as_bias(logical_not(mask), type);
}

struct multi_head {
    term out;
    tensor weights; ///< [B, H, T, T]
};
multi_head attend_with_heads(call const& c, term const& query, term const& key, term const& value, std::int64_t heads) {
    tensor const weight = c.t("qkv_weight");
    tensor const bias = c.t("qkv_bias");
    std::int64_t const size = c.i("embed_dim");
    if (query->rank() != 3 || query->size(2) != size || heads < 1 || size % heads != 0 ||
        weight.sizes() != sizes{3 * size, size})
        throw error("the sizes of the queries and weights do not match the number of heads");
    dtype const type = query->dtype();
    dtype const in = compute_type(type);
    auto const part = [&](term const& x, std::int64_t which) {
        term const y = linear(x, weight.sliced(0, which * size, size), bias.sliced(0, which * size, size));
        return with_heads(cast(*y, in), heads);
    };
    attention_options o;
    o.bias = mask_bias(c, in);
    o.hidden_is_nan = true;
    attended const a = attend(part(query, 0), part(key, 1), part(value, 2), o);
    return {linear(cast(without_heads(a.out), type), c.t("proj_weight"), c.t("proj_bias")), cast(a.weights, type)};
}

results native_multi_head_attention(call const& c) {
    multi_head const m = attend_with_heads(c, c.t("query"), c.t("key"), c.t("value"), c.i("num_head"));
    // Without queries, ATen returns no weights.
    if (!c.b("need_weights") || c.t("query").count() == 0) return {*m.out, value()};
    return {*m.out, c.b("average_attn_weights") ? *average(m.weights, {1}) : m.weights};
}

/// Attention and two linear layers, each with a residual connection and normalization before or after.
results transformer_encoder_layer(call const& c) {
    auto const normalized = [&](term const& x, std::string const& which) -> term {
        dtype const in = compute_type(x->dtype());
        tensor const wide = cast(*x, in);
        tensor const centered = wide - mean(wide, {-1}, true);
        tensor const deviation = sqrt(mean(square(centered), {-1}, true) + scalar(c.f("eps")));
        return cast(centered / deviation * cast(c.t("norm_weight_" + which), in) + cast(c.t("norm_bias_" + which), in),
                    x->dtype());
    };
    auto const fed_forward = [&](term const& x) {
        term const inner = linear(x, c.t("ffn_weight_1"), c.t("ffn_bias_1"));
        return linear(
            apply(c.b("use_gelu") ? unary_op::gelu : unary_op::relu, inner), c.t("ffn_weight_2"), c.t("ffn_bias_2"));
    };
    auto const attended_to = [&](term const& x) { return attend_with_heads(c, x, x, x, c.i("num_heads")).out; };
    term const x = c.t("src");
    if (c.b("norm_first")) {
        term const y = x + attended_to(normalized(x, "1"));
        return *(y + fed_forward(normalized(y, "2")));
    }
    term const y = normalized(x + attended_to(x), "1");
    return *normalized(y + fed_forward(y), "2");
}

} // namespace

rows attention() {
    static constexpr row all[] = {
        {"scaled_dot_product_attention", scaled_dot_product_attention},
        {"_scaled_dot_product_attention_math", attention_math},
        {"_scaled_dot_product_flash_attention_for_cpu", flash_attention_for_cpu},
        {"_scaled_dot_product_efficient_attention", efficient_attention},
        {"_scaled_dot_product_flash_attention", cuda_attention},
        {"_scaled_dot_product_cudnn_attention", cuda_attention},
        {"_native_multi_head_attention", native_multi_head_attention},
        {"_transformer_encoder_layer_fwd", transformer_encoder_layer},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
