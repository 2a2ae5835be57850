// SPDX-License-Identifier: MIT
// Operators of ONNX Runtime that are not part of ONNX, for rows and rewrites that only ONNX Runtime has to run:
//   [](graph<13, domains::com_microsoft> g, value x) { return g.op<"com.microsoft::QuickGelu">(x); }
// Declared as ONNX Runtime 1.31 registers them; tests/targets compares all of them with its list.
// Public header.
#pragma once

#include <aton/dsl/domain.hpp>

namespace ATON_NAMESPACE::domains {

namespace detail {

using dsl::op;

// clang-format off: one operator per line
using gelu = op<"Gelu(T X) -> (T Y = like(X))", "T: float16, float, double, bfloat16">;
using bias_gelu = op<"BiasGelu(T A, T B) -> (T C = like(A))", "T: float16, float, double, bfloat16">;
using fast_gelu = op<"FastGelu(T X, T? bias) -> (T Y = like(X))", "T: float, double, float16, bfloat16">;
using quick_gelu = op<"QuickGelu(T X, float alpha=1.702) -> (T Y = like(X))", "T: float16, float, double, bfloat16">;
using fused_mat_mul = op<"FusedMatMul(T A, T B, float alpha=1.0, int transA=0, int transB=0, int transBatchA=0, int transBatchB=0) -> (T Y)", "T: float16, float, double, bfloat16">;
using skip_layer_normalization = op<"SkipLayerNormalization(T input, T skip, T gamma, T? beta, T? bias, float epsilon=1e-12) -> (T output = like(input), U? mean, U? inv_std_var, T? input_skip_bias_sum)", "T: float, float16, bfloat16; U: float">;
using skip_simplified_layer_normalization = op<"SkipSimplifiedLayerNormalization(T input, T skip, T gamma, T? bias, float epsilon=1e-12) -> (T output = like(input), U? mean, U? inv_std_var, T? input_skip_bias_sum)", "T: float, float16, bfloat16; U: float">;
using rotary_embedding = op<"RotaryEmbedding(T input, M position_ids, T cos_cache, T sin_cache, int? interleaved, int? is_packed_batching, int? num_heads, int? rotary_embedding_dim, float? scale) -> (T output = like(input))", "T: float, float16, bfloat16; M: int64">;
using multi_head_attention = op<"MultiHeadAttention(T query, T? key, T? value, T? bias, M? key_padding_mask, T? attention_bias, T? past_key, T? past_value, M? past_sequence_length, M? cache_indirection, int num_heads, float? scale, float? mask_filter_value, int unidirectional=0) -> (T output, T? present_key, T? present_value, QK? qk)", "T: float, float16, bfloat16; QK: float, float16, bfloat16; M: int32">;
using group_query_attention = op<"GroupQueryAttention(T query, T? key, T? value, C? past_key, C? past_value, M seqlens_k, M total_sequence_length, T? cos_cache, T? sin_cache, I? position_ids, T? attention_bias, T? head_sink, S? k_scale, S? v_scale, T? q_norm_weight, T? k_norm_weight, int? causal, int? do_rotary, string? k_quant_type, int? kv_cache_bit_width, int kv_num_heads, int? local_window_size, int num_heads, float? qk_norm_epsilon, int? qk_output, int? rotary_interleaved, float? scale, int? sliding_window_cache, int? smooth_softmax, float? softcap, string? v_quant_type) -> (T output, C? present_key, C? present_value, T? output_qk)", "T: float16, bfloat16, float; C: float, float16, bfloat16, uint8, int8, float8e4m3fn; S: float; M: int32; I: int64">;
using mat_mul_n_bits = op<"MatMulNBits(T1 A, T2 B, T1 scales, T3? zero_points, T4? g_idx, T1? bias, int K, int N, int block_size, int bits=4, int accuracy_level=0, int weight_prepacked=0) -> (T1 Y)", "T1: float, float16, bfloat16; T2: uint8; T3: uint8, float16, float, bfloat16; T4: int32">;
using dynamic_quantize_mat_mul = op<"DynamicQuantizeMatMul(T1 A, T2 B, T1 b_scale, T2? b_zero_point, T1? bias) -> (T1 Y)", "T1: float; T2: int8, uint8">;
using mat_mul_integer_to_float = op<"MatMulIntegerToFloat(T1 A, T2 B, T3 a_scale, T3 b_scale, T1? a_zero_point, T2? b_zero_point, T3? bias) -> (T3 Y)", "T1: int8, uint8; T2: int8, uint8; T3: float, float16">;
using inverse = op<"Inverse(T X) -> (T Y = like(X))", "T: float16, float, double">;
using rfft = op<"Rfft(T X, int signal_ndim=1, int normalized=0, int onesided=1) -> (T Y)", "T: float, double, float16">;
using irfft = op<"Irfft(T X, int signal_ndim, int normalized=0, int onesided=1) -> (T Y)", "T: float, double, float16">;
// clang-format on

} // namespace detail

/// The operators of the domain com.microsoft, version 1, that mappings and rewrites may use. A model with them runs in ONNX Runtime only.
inline constexpr auto com_microsoft =
    dsl::domain<"com.microsoft", 1, detail::gelu, detail::bias_gelu, detail::fast_gelu, detail::quick_gelu,
                detail::fused_mat_mul, detail::skip_layer_normalization, detail::skip_simplified_layer_normalization,
                detail::rotary_embedding, detail::multi_head_attention, detail::group_query_attention,
                detail::mat_mul_n_bits, detail::dynamic_quantize_mat_mul, detail::mat_mul_integer_to_float,
                detail::inverse, detail::rfft, detail::irfft>{};

} // namespace ATON_NAMESPACE::domains
