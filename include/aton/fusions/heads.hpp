// SPDX-License-Identifier: MIT
// Operators that split their last axis into heads themselves, instead of the Reshape and Transpose before and after them.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <aton/fusions/attention.hpp>
#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// (batch, positions, heads * size) as (batch, heads, positions, size).
inline constexpr auto split_heads = [](auto p, auto x, capture<integers> sizes) {
    return p.template op<"Transpose">(p.template op<"Reshape">(x, sizes), attr::perm_i({0, 2, 1, 3}));
};
/// The same of keys and values, which may also be a result.
inline constexpr auto split_groups = [](auto p, auto x, capture<integers> sizes) {
    return p.shared(
        p.template op<"Transpose">(p.shared(p.template op<"Reshape">(x, sizes)), attr::perm_i({0, 2, 1, 3})));
};
/// (batch, heads, positions, size) as (batch, positions, heads * size).
inline constexpr auto merged_heads = [](auto p, auto x, capture<integers> sizes) {
    return p.template op<"Reshape">(p.template op<"Transpose">(x, attr::perm_i({0, 2, 1, 3})), sizes);
};

/// Whether a Reshape to these sizes keeps the first two axes of `x`, for which another size must be known; -1 may be
/// one of them.
inline bool keeps_two_axes(value x, integers const& sizes) {
    std::size_t open = 0;
    for (std::size_t i = 0; i != sizes.size(); ++i) open += sizes[i] == -1 ? 1 : 0;
    for (std::size_t i = 0; i != 2; ++i) {
        bool const same = sizes[i] == 0 || (sizes[i] > 0 && x.size(static_cast<std::int64_t>(i)) == dim(sizes[i]));
        if (!same && sizes[i] != -1) return false;
    }
    return open <= 1;
}

/// The number of heads that split_heads() makes of the last axis of `x`; 0 if that is not certain.
inline std::int64_t heads_of(value x, integers const& sizes) {
    if (x.rank() != 3 || sizes.size() != 4 || !x.size(2).is_static() || !keeps_two_axes(x, sizes)) return 0;
    std::int64_t const width = x.size(2).size();
    std::int64_t const heads = sizes[2] == -1 && sizes[3] > 0 ? width / sizes[3] : sizes[2];
    std::int64_t const size = sizes[3] == -1 && heads > 0 ? width / heads : sizes[3];
    return heads > 0 && size > 0 && heads * size == width ? heads : 0;
}

/// Whether attention over heads of these operands is what Attention computes from the operands themselves.
inline bool is_attention_of_heads(value q, value k, value v, integers const& q_sizes, integers const& k_sizes,
                                  integers const& v_sizes, integers const& merged) {
    std::int64_t const heads = heads_of(q, q_sizes);
    std::int64_t const groups = heads_of(k, k_sizes);
    if (heads == 0 || groups == 0 || heads_of(v, v_sizes) != groups || heads % groups != 0) return false;
    std::int64_t const width = heads * (v.size(2).size() / groups);
    return merged.size() == 3 && keeps_two_axes(q, merged) && (merged[2] == width || merged[2] == -1);
}

} // namespace detail

inline constexpr auto heads = rewrites(
    rewrite<"rotary_embedding_of_heads">(
        [](pattern<23> p, capture<value> x, capture<value> cosines, capture<value> sines,
           capture<detail::integers> sizes, capture<std::int64_t> interleaved, capture<std::int64_t> rotated) {
            return p.op<"RotaryEmbedding">(detail::split_heads(p, x, sizes),
                                           cosines,
                                           sines,
                                           attr::interleaved_i(interleaved),
                                           attr::rotary_embedding_dim_i(rotated));
        },
        [](value x, value, value, detail::integers const& sizes, std::int64_t, std::int64_t) {
            return detail::heads_of(x, sizes) != 0;
        },
        [](graph<23> g, value x, value cosines, value sines, detail::integers const& sizes, std::int64_t interleaved,
           std::int64_t rotated) {
            value const turned = g.op<"RotaryEmbedding">(x,
                                                         cosines,
                                                         sines,
                                                         attr::num_heads_i(detail::heads_of(x, sizes)),
                                                         attr::interleaved_i(interleaved),
                                                         attr::rotary_embedding_dim_i(rotated));
            return g.op<"Transpose">(g.op<"Reshape">(turned, g.ints(sizes)), attr::perm_i({0, 2, 1, 3}));
        }),
    rewrite<"attention_of_heads">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<double> scale,
           capture<std::int64_t> causal, capture<detail::integers> q_sizes, capture<detail::integers> k_sizes,
           capture<detail::integers> v_sizes, capture<detail::integers> merged) {
            return detail::merged_heads(p,
                                        p.op<"Attention">(detail::split_heads(p, q, q_sizes),
                                                          detail::split_groups(p, k, k_sizes),
                                                          detail::split_groups(p, v, v_sizes),
                                                          attr::scale_f(scale),
                                                          attr::is_causal_i(causal)),
                                        merged);
        },
        [](value q, value k, value v, double, std::int64_t, detail::integers const& q_sizes,
           detail::integers const& k_sizes, detail::integers const& v_sizes, detail::integers const& merged) {
            return detail::is_attention_of_heads(q, k, v, q_sizes, k_sizes, v_sizes, merged);
        },
        [](graph<23> g, value q, value k, value v, double scale, std::int64_t causal, detail::integers const& q_sizes,
           detail::integers const& k_sizes, detail::integers const&, detail::integers const&) {
            return g.op<"Attention">(q,
                                     k,
                                     v,
                                     attr::scale_f(scale),
                                     attr::is_causal_i(causal),
                                     attr::q_num_heads_i(detail::heads_of(q, q_sizes)),
                                     attr::kv_num_heads_i(detail::heads_of(k, k_sizes)));
        }),
    rewrite<"attention_of_heads_mask">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> mask,
           capture<double> scale, capture<double> cap, capture<std::int64_t> causal, capture<detail::integers> q_sizes,
           capture<detail::integers> k_sizes, capture<detail::integers> v_sizes, capture<detail::integers> merged) {
            return detail::merged_heads(p,
                                        p.op<"Attention">(detail::split_heads(p, q, q_sizes),
                                                          detail::split_groups(p, k, k_sizes),
                                                          detail::split_groups(p, v, v_sizes),
                                                          mask,
                                                          attr::scale_f(scale),
                                                          attr::softcap_f(cap),
                                                          attr::is_causal_i(causal)),
                                        merged);
        },
        [](value q, value k, value v, value, double, double, std::int64_t, detail::integers const& q_sizes,
           detail::integers const& k_sizes, detail::integers const& v_sizes, detail::integers const& merged) {
            return detail::is_attention_of_heads(q, k, v, q_sizes, k_sizes, v_sizes, merged);
        },
        [](graph<23> g, value q, value k, value v, value mask, double scale, double cap, std::int64_t causal,
           detail::integers const& q_sizes, detail::integers const& k_sizes, detail::integers const&,
           detail::integers const&) {
            return detail::capped_attention(g,
                                            cap,
                                            q,
                                            k,
                                            v,
                                            mask,
                                            attr::scale_f(scale),
                                            attr::is_causal_i(causal),
                                            attr::q_num_heads_i(detail::heads_of(q, q_sizes)),
                                            attr::kv_num_heads_i(detail::heads_of(k, k_sizes)));
        }));

} // namespace ATON_NAMESPACE::fusions
