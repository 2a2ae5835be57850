// SPDX-License-Identifier: MIT
// Scaled dot-product attention.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

struct attention_rules {
    double query_scale = 1; ///< of the queries before their products with the keys
    double key_scale = 1;
    double softcap = 0;                    ///< scores become softcap * tanh(score / softcap); 0: they stay
    dtype softmax_type = dtype::undefined; ///< that the softmax is computed in; undefined: that of the queries
};

/// What a call went through, [B, H, L, S] each. float16 and bfloat16 are computed in float32 and rounded here.
struct attention_steps {
    tensor scores;
    tensor capped;
    tensor biased;
    tensor weights;
};

/// softmax(q k^T + bias) v: `q` [B, H, L, D], `k` [B, G, S, D], `v` [B, G, S, E], where H is a multiple of G, and neighbouring heads of
/// `q` share those of `k` and `v`. `bias`, no tensor or added to the scores, broadcasts to [B, H, L, S]; a row of it that is -inf
/// everywhere gives 0. [B, H, L, E].
[[nodiscard]] tensor attend(tensor const& q, tensor const& k, tensor const& v, tensor const& bias,
                            attention_rules const& rules, attention_steps* steps = nullptr);

/// Which keys a query may see, as bools [L, S] or [B, 1, L, S]: query i stands at i + offset, and sees the keys from `left` in front of it
/// to `right` behind it; -1: all on that side. `offset`, int64: 0-d, or [B].
[[nodiscard]] tensor attention_window(std::int64_t queries, std::int64_t keys, tensor const& offset, std::int64_t left,
                                      std::int64_t right);

} // namespace ATON_NAMESPACE::runtime
