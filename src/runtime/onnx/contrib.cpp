// SPDX-License-Identifier: MIT
// Operators of ONNX Runtime (com.microsoft) that `aton export --target onnxruntime` writes, as its CPU kernels compute
// them.
#include "runtime/compute/attention.hpp"
#include "runtime/compute/normalization.hpp"

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

/// The numbers in bytes of `bits` bits, the first in the lowest bits, along the last axis.
tensor unpacked(tensor const& bytes, std::int64_t bits) {
    if (bits == 8) return bytes;
    std::vector<tensor> parts;
    for (std::int64_t shift = 0; shift != 8; shift += bits)
        parts.push_back(binary(binary_op::bitwise_and,
                               binary(binary_op::shift_right, bytes, scalar(shift)),
                               scalar((std::int64_t{1} << bits) - 1)));
    sizes to = bytes.sizes();
    to.back() *= 8 / bits;
    return reshape(stack(parts, -1), to);
}

/// [N, blocks], of packed rows; what fills up the last byte is left out.
tensor n_bits_zero_points(call const& c, std::int64_t rows, std::int64_t blocks, std::int64_t bits) {
    if (!c.has(3)) return full(scalar(std::int64_t{1} << (bits - 1)), dtype::uint8, {});
    if (c.in(3).dtype() != dtype::uint8) throw error("zero points that are not uint8 are not supported");
    tensor const all = unpacked(reshape(c.in(3), {rows, (blocks * bits + 7) / 8}), bits);
    return reshape(all.sliced(1, 0, blocks), {rows, blocks, 1});
}

/// A weight whose rows are blocks of integers. Without rounding the other operand, whatever the accuracy level allows.
results mat_mul_n_bits(call const& c) {
    std::int64_t const bits = c.i("bits", 4);
    std::int64_t const block = c.i("block_size");
    std::int64_t const rows = c.i("N");
    std::int64_t const length = c.i("K");
    if (bits != 2 && bits != 4 && bits != 8)
        throw error("integers of " + std::to_string(bits) + " bits are not supported");
    if (c.has(4)) throw error("an order of the groups is not supported");
    tensor const& b = c.in(1);
    if (rows < 1 || length < 1 || block < 16 || length > (std::int64_t{1} << 40))
        throw error("the sizes are out of range");
    std::int64_t const blocks = (length - 1) / block + 1;
    if (b.dtype() != dtype::uint8 || b.sizes() != sizes{rows, blocks, block / 8 * bits})
        throw error("the weight of shape " + to_string(b.sizes()) + " does not fit the attributes");
    dtype const type = c.in(0).dtype();
    tensor const numbers = cast(unpacked(b, bits), dtype::float32);
    tensor const scales = cast(reshape(c.in(2), {rows, blocks, 1}), dtype::float32);
    tensor const w = (numbers - cast(n_bits_zero_points(c, rows, blocks, bits), dtype::float32)) * scales;
    tensor const matrix = cast(reshape(w, {rows, blocks * block}).sliced(1, 0, length), type);
    tensor const y = matmul(c.in(0), transpose(matrix, 0, 1));
    return c.has(5) ? y + row_of(y, c.in(5)) : y;
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
        {"MatMulNBits", mat_mul_n_bits, microsoft},
        {"MultiHeadAttention", multi_head_attention, microsoft},
        {"QuickGelu", quick_gelu, microsoft},
        {"SkipLayerNormalization", skip_layer_normalization, microsoft},
        {"SkipSimplifiedLayerNormalization", skip_simplified_layer_normalization, microsoft},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
