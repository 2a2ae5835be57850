// SPDX-License-Identifier: MIT
// Attention with a cache: the operator appends new keys and values to earlier ones itself, and returns both.
// Public header.
#pragma once

#include <cstdint>
#include <tuple>

#include <aton/fusions/attention.hpp>
#include <aton/fusions/detail/common.hpp>
#include <aton/fusions/heads.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// (batch, positions, heads, size) as (batch, heads, positions, size), rotated.
inline constexpr auto rotated_heads = [](auto p, auto x, auto cosines, auto sines, auto interleaved, auto rotated) {
    return p.template op<"RotaryEmbedding">(p.template op<"Transpose">(x, attr::perm_i({0, 2, 1, 3})),
                                            cosines,
                                            sines,
                                            attr::interleaved_i(interleaved),
                                            attr::rotary_embedding_dim_i(rotated));
};

/// Whether attention over rotated heads of queries and keys (batch, positions, heads, size) is what Attention computes
/// from three dimensions.
inline bool is_attention_of_rotated_heads(value q, value k, value v, integers const& v_sizes, integers const& merged) {
    if (q.rank() != 4 || k.rank() != 4) return false;
    dim const& heads = q.size(2);
    dim const& groups = k.size(2);
    if (!heads.is_static() || !groups.is_static() || !q.size(3).is_static() || q.size(3) != k.size(3)) return false;
    if (heads.size() == 0 || groups.size() == 0 || heads.size() % groups.size() != 0 ||
        heads_of(v, v_sizes) != groups.size())
        return false;
    std::int64_t const width = heads.size() * (v.size(2).size() / groups.size());
    return merged.size() == 3 && keeps_two_axes(q, merged) && (merged[2] == width || merged[2] == -1);
}

/// The last two axes as one, rotated.
inline constexpr auto rotated_rows = [](auto g, value x, value cosines, value sines, std::int64_t interleaved,
                                        std::int64_t rotated) {
    std::int64_t const heads = x.size(2).size();
    value const rows = g.template op<"Reshape">(x, g.ints({0, 0, heads * x.size(3).size()}));
    return g.template op<"RotaryEmbedding">(rows,
                                            cosines,
                                            sines,
                                            attr::num_heads_i(heads),
                                            attr::interleaved_i(interleaved),
                                            attr::rotary_embedding_dim_i(rotated));
};

} // namespace detail

inline constexpr auto cache = rewrites(
    rewrite<"attention_cache">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> past_k,
           capture<value> past_v, capture<double> scale) {
            auto const keys = p.op<"Concat">(past_k, k, attr::axis_i(2));
            auto const values = p.op<"Concat">(past_v, v, attr::axis_i(2));
            return std::tuple(p.op<"Attention">(q, keys, values, attr::scale_f(scale)), keys, values);
        },
        [](graph<23> g, value q, value k, value v, value past_k, value past_v, double scale) {
            return g.op<"Attention">(q, k, v, absent, past_k, past_v, attr::scale_f(scale), outputs<3>);
        }),
    rewrite<"attention_cache_mask">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> mask,
           capture<value> past_k, capture<value> past_v, capture<double> scale, capture<double> cap) {
            auto const keys = p.op<"Concat">(past_k, k, attr::axis_i(2));
            auto const values = p.op<"Concat">(past_v, v, attr::axis_i(2));
            return std::tuple(
                p.op<"Attention">(q, keys, values, mask, attr::scale_f(scale), attr::softcap_f(cap)), keys, values);
        },
        [](graph<23> g, value q, value k, value v, value mask, value past_k, value past_v, double scale, double cap) {
            return detail::capped_attention(g, cap, q, k, v, mask, past_k, past_v, attr::scale_f(scale), outputs<3>);
        }),
    rewrite<"attention_of_heads_cache">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> past_k,
           capture<value> past_v, capture<double> scale, capture<detail::integers> q_sizes,
           capture<detail::integers> k_sizes, capture<detail::integers> v_sizes, capture<detail::integers> merged) {
            auto const [y, keys, values] = p.op<"Attention">(detail::split_heads(p, q, q_sizes),
                                                             detail::split_groups(p, k, k_sizes),
                                                             detail::split_groups(p, v, v_sizes),
                                                             absent,
                                                             past_k,
                                                             past_v,
                                                             attr::scale_f(scale),
                                                             outputs<3>);
            return std::tuple(detail::merged_heads(p, y, merged), keys, values);
        },
        [](value q, value k, value v, value, value, double, detail::integers const& q_sizes,
           detail::integers const& k_sizes, detail::integers const& v_sizes, detail::integers const& merged) {
            return detail::is_attention_of_heads(q, k, v, q_sizes, k_sizes, v_sizes, merged);
        },
        [](graph<23> g, value q, value k, value v, value past_k, value past_v, double scale,
           detail::integers const& q_sizes, detail::integers const& k_sizes, detail::integers const&,
           detail::integers const&) {
            return g.op<"Attention">(q,
                                     k,
                                     v,
                                     absent,
                                     past_k,
                                     past_v,
                                     attr::scale_f(scale),
                                     attr::q_num_heads_i(detail::heads_of(q, q_sizes)),
                                     attr::kv_num_heads_i(detail::heads_of(k, k_sizes)),
                                     outputs<3>);
        }),
    rewrite<"attention_of_heads_cache_mask">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> mask,
           capture<value> past_k, capture<value> past_v, capture<double> scale, capture<double> cap,
           capture<detail::integers> q_sizes, capture<detail::integers> k_sizes, capture<detail::integers> v_sizes,
           capture<detail::integers> merged) {
            auto const [y, keys, values] = p.op<"Attention">(detail::split_heads(p, q, q_sizes),
                                                             detail::split_groups(p, k, k_sizes),
                                                             detail::split_groups(p, v, v_sizes),
                                                             mask,
                                                             past_k,
                                                             past_v,
                                                             attr::scale_f(scale),
                                                             attr::softcap_f(cap),
                                                             outputs<3>);
            return std::tuple(detail::merged_heads(p, y, merged), keys, values);
        },
        [](value q, value k, value v, value, value, value, double, double, detail::integers const& q_sizes,
           detail::integers const& k_sizes, detail::integers const& v_sizes, detail::integers const& merged) {
            return detail::is_attention_of_heads(q, k, v, q_sizes, k_sizes, v_sizes, merged);
        },
        [](graph<23> g, value q, value k, value v, value mask, value past_k, value past_v, double scale, double cap,
           detail::integers const& q_sizes, detail::integers const& k_sizes, detail::integers const&,
           detail::integers const&) {
            return detail::capped_attention(g,
                                            cap,
                                            q,
                                            k,
                                            v,
                                            mask,
                                            past_k,
                                            past_v,
                                            attr::scale_f(scale),
                                            attr::q_num_heads_i(detail::heads_of(q, q_sizes)),
                                            attr::kv_num_heads_i(detail::heads_of(k, k_sizes)),
                                            outputs<3>);
        }),
    // The queries and keys are normalized by heads before they are rotated.
    rewrite<"attention_of_rotated_heads_cache_mask">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> cosines,
           capture<value> sines, capture<value> mask, capture<value> past_k, capture<value> past_v,
           capture<double> scale, capture<double> cap, capture<std::int64_t> interleaved, capture<std::int64_t> rotated,
           capture<detail::integers> v_sizes, capture<detail::integers> merged) {
            auto const [y, keys, values] =
                p.op<"Attention">(detail::rotated_heads(p, q, cosines, sines, interleaved, rotated),
                                  detail::rotated_heads(p, k, cosines, sines, interleaved, rotated),
                                  detail::split_groups(p, v, v_sizes),
                                  mask,
                                  past_k,
                                  past_v,
                                  attr::scale_f(scale),
                                  attr::softcap_f(cap),
                                  outputs<3>);
            return std::tuple(detail::merged_heads(p, y, merged), keys, values);
        },
        [](value q, value k, value v, value, value, value, value, value, double, double, std::int64_t, std::int64_t,
           detail::integers const& v_sizes,
           detail::integers const& merged) { return detail::is_attention_of_rotated_heads(q, k, v, v_sizes, merged); },
        [](graph<23> g, value q, value k, value v, value cosines, value sines, value mask, value past_k, value past_v,
           double scale, double cap, std::int64_t interleaved, std::int64_t rotated, detail::integers const&,
           detail::integers const&) {
            return detail::capped_attention(g,
                                            cap,
                                            detail::rotated_rows(g, q, cosines, sines, interleaved, rotated),
                                            detail::rotated_rows(g, k, cosines, sines, interleaved, rotated),
                                            v,
                                            mask,
                                            past_k,
                                            past_v,
                                            attr::scale_f(scale),
                                            attr::q_num_heads_i(q.size(2).size()),
                                            attr::kv_num_heads_i(k.size(2).size()),
                                            outputs<3>);
        }));

} // namespace ATON_NAMESPACE::fusions
