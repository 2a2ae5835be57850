// SPDX-License-Identifier: MIT
// Scaled dot-product attention.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// [B, L, heads * D] as [B, heads, L, D]. Throws aton::error if the heads do not fit.
[[nodiscard]] tensor by_heads(tensor const& x, std::int64_t heads);
/// The inverse of by_heads.
[[nodiscard]] tensor joined_heads(tensor const& x);

/// `x` [B, heads, S, D] with pairs of its elements turned: the first 2 n of the last axis, where `cosine` and `sine` broadcast to
/// [B, heads, S, n]. The elements of a pair are neighbors if `interleaved`, otherwise n apart.
[[nodiscard]] tensor rotated(tensor const& x, tensor const& cosine, tensor const& sine, bool interleaved);

struct attention_rules {
    double query_scale = 1; ///< applied to the queries before the product with the keys
    double key_scale = 1;
    double softcap = 0;                    ///< scores become softcap * tanh(score / softcap); 0: no change
    dtype softmax_type = dtype::undefined; ///< dtype of the softmax; undefined: that of the queries
    tensor sinks;                          ///< [H]: one more score of each head, whose value is zeros; empty: none
};

/// Intermediate results, [B, H, L, S] each. float16 and bfloat16 are computed in float32 and rounded here.
struct attention_steps {
    tensor scores;
    tensor capped;
    tensor biased;
    tensor weights;
};

/// softmax(q k^T + bias) v as [B, H, L, E], where `q` is [B, H, L, D], `k` [B, G, S, D] and `v` [B, G, S, E]. H is a
/// multiple of G; neighboring heads of `q` share a head of `k` and `v`. `bias` is empty or broadcasts to [B, H, L, S]
/// and is added to the scores; rows in which it is -inf everywhere give 0.
[[nodiscard]] tensor attend(tensor const& q, tensor const& k, tensor const& v, tensor const& bias,
                            attention_rules const& rules, attention_steps* steps = nullptr);

/// The keys that are visible to each query, as bools [L, S] or [B, 1, L, S]: query i is at position i + offset and sees
/// the keys from `left` before it to `right` after it; -1: no limit on that side. `offset` is int64, 0-d or [B].
[[nodiscard]] tensor attention_window(std::int64_t queries, std::int64_t keys, tensor const& offset, std::int64_t left,
                                      std::int64_t right);

} // namespace ATON_NAMESPACE::runtime
