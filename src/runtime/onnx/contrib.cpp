// SPDX-License-Identifier: MIT
// Operators of ONNX Runtime (com.microsoft) that `aton export --target onnxruntime` writes, as its CPU kernels compute
// them.
#include "runtime/compute/attention.hpp"
#include "runtime/compute/normalization.hpp"

#include <cmath>
#include <string>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

constexpr std::string_view microsoft = "com.microsoft";

/// A bias, which must be one number per element of the last axis of `x`.
tensor const& row_of(tensor const& x, tensor const& bias) {
    if (x.rank() == 0 || bias.rank() != 1 || bias.size(0) != x.size(x.rank() - 1))
        throw error("a bias of shape " + to_string(bias.sizes()) + " does not fit " + to_string(x.sizes()));
    return bias;
}

results contrib_gelu(call const& c) { return unary(unary_op::gelu, c.in(0)); }
results bias_gelu(call const& c) { return unary(unary_op::gelu, c.in(0) + row_of(c.in(0), c.in(1))); }
results fast_gelu(call const& c) {
    return unary(unary_op::gelu_tanh, c.has(1) ? c.in(0) + row_of(c.in(0), c.in(1)) : c.in(0));
}
results quick_gelu(call const& c) { return unary(unary_op::swish, c.in(0), {c.f("alpha", 1.702F), 0, 0}); }

/// An operand of FusedMatMul: its last two axes are swapped if the attribute says so.
tensor matrix(call const& c, std::size_t i, char const* transposed, char const* batch) {
    if (c.i(batch, 0) != 0) throw error(std::string(batch) + " is not supported");
    tensor const& x = c.in(i);
    if (c.i(transposed, 0) == 0 || x.rank() < 2) return x;
    return transpose(x, static_cast<std::int64_t>(x.rank()) - 2, static_cast<std::int64_t>(x.rank()) - 1);
}
results fused_mat_mul(call const& c) {
    tensor const y = matmul(matrix(c, 0, "transA", "transBatchA"), matrix(c, 1, "transB", "transBatchB"));
    return y * scalar(c.f("alpha", 1));
}

constexpr double small_epsilon = 1e-12F;

/// input + skip + bias.
tensor skipped_sum(call const& c, std::size_t bias) {
    tensor const sum = c.in(0) + c.in(1);
    return c.has(bias) ? sum + row_of(sum, c.in(bias)) : sum;
}
void refuse_statistics(call const& c) {
    if (c.wants(1) || c.wants(2)) throw error("statistics as results are not supported");
}
results skip_layer_normalization(call const& c) {
    refuse_statistics(c);
    tensor const sum = skipped_sum(c, 4);
    standardized const s = standardize(widened(sum), {-1}, c.f("epsilon", small_epsilon));
    tensor y = cast(s.values, sum.dtype()) * row_of(sum, c.in(2));
    if (c.has(3)) y = y + row_of(sum, c.in(3));
    return {y, tensor(), tensor(), sum};
}
results skip_simplified_layer_normalization(call const& c) {
    refuse_statistics(c);
    tensor const sum = skipped_sum(c, 3);
    tensor const y = divide_by_rms(widened(sum), {-1}, c.f("epsilon", small_epsilon));
    return {cast(y, sum.dtype()) * row_of(sum, c.in(2)), tensor(), tensor(), sum};
}

/// Queries, keys and values of three dimensions; only the result without the keys and values of a cache.
results multi_head_attention(call const& c) {
    for (std::size_t i = 3; i != c.inputs(); ++i)
        if (c.has(i)) throw error("input " + std::to_string(i) + " is not supported");
    if (c.i("unidirectional", 0) != 0 || c.wants(1) || c.wants(2) || c.wants(3))
        throw error("causal masks and caches are not supported");
    std::int64_t const heads = c.i("num_heads");
    tensor const q = by_heads(c.in(0), heads);
    double const scale = c.f("scale", 1 / std::sqrt(static_cast<double>(q.size(3))));
    attention_rules rules;
    rules.query_scale = scale;
    return joined_heads(attend(q, by_heads(c.in(1), heads), by_heads(c.in(2), heads), tensor(), rules));
}

} // namespace

rows contrib() {
    static constexpr row all[] = {
        {"BiasGelu", bias_gelu, microsoft},
        {"FastGelu", fast_gelu, microsoft},
        {"FusedMatMul", fused_mat_mul, microsoft},
        {"Gelu", contrib_gelu, microsoft},
        {"MultiHeadAttention", multi_head_attention, microsoft},
        {"QuickGelu", quick_gelu, microsoft},
        {"SkipLayerNormalization", skip_layer_normalization, microsoft},
        {"SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization, microsoft},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
