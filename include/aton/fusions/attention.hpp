// SPDX-License-Identifier: MIT
// Attention over four dimensions (batch, heads, positions, size of a head), as mappings and models write it with
// products and Softmax.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include <aton/core/exactly_equal.hpp>
#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

inline constexpr auto transposed = [](auto p, auto k) {
    return p.template op<"Transpose">(k, attr::perm_i({0, 1, 3, 2}));
};

// The scaled products of queries and keys.

/// (q * c) (k^T * c), which does not overflow in half precision.
struct scaled_both {
    static constexpr auto scores = [](auto p, auto q, auto k, auto c) {
        return p.template op<"MatMul">(p.template op<"Mul">(q, c), p.template op<"Mul">(transposed(p, k), c));
    };
    static double scale(double c) { return c * c; }
};
/// (q * c) k^T.
struct scaled_queries {
    static constexpr auto scores = [](auto p, auto q, auto k, auto c) {
        return p.template op<"MatMul">(p.template op<"Mul">(q, c), transposed(p, k));
    };
    static double scale(double c) { return c; }
};
/// (q k^T) * c.
struct scaled_product {
    static constexpr auto scores = [](auto p, auto q, auto k, auto c) {
        return p.template op<"Mul">(p.template op<"MatMul">(q, transposed(p, k)), c);
    };
    static double scale(double c) { return c; }
};
/// (q k^T) / c.
struct divided_product {
    static constexpr auto scores = [](auto p, auto q, auto k, auto c) {
        return p.template op<"Div">(p.template op<"MatMul">(q, transposed(p, k)), c);
    };
    static double scale(double c) { return 1 / c; }
};

// What a mask does to them.

struct boolean_mask {
    static constexpr auto masked = [](auto p, auto scores, auto mask) {
        return p.template op<"Where">(mask, scores, -std::numeric_limits<double>::infinity());
    };
};
struct added_mask {
    static constexpr auto masked = [](auto p, auto scores, auto mask) { return p.template op<"Add">(scores, mask); };
};

inline constexpr auto weighted = [](auto p, auto scores, auto v, capture<std::int64_t> axis) {
    return p.template op<"MatMul">(p.template op<"Softmax">(scores, attr::axis_i(axis)), v);
};
/// Zeros where the score is -infinity, as ATen's attention has them: the row of a query that sees no key would be NaN.
inline constexpr auto safely_weighted = [](auto p, auto scores, auto v, capture<std::int64_t> axis) {
    auto const hidden = p.template op<"Equal">(scores, -std::numeric_limits<double>::infinity());
    return p.template op<"MatMul">(
        p.template op<"Where">(hidden, 0, p.template op<"Softmax">(scores, attr::axis_i(axis))), v);
};

template <class Scaled>
inline constexpr auto attention_pattern =
    [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<double> c,
       capture<std::int64_t> axis) { return weighted(p, Scaled::scores(p, q, k, c), v, axis); };
template <class Scaled, class Mask, bool Safe>
inline constexpr auto masked_attention_pattern = [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v,
                                                    capture<double> c, capture<std::int64_t> axis,
                                                    capture<value> mask) {
    auto const scores = Mask::masked(p, Scaled::scores(p, q, k, c), mask);
    if constexpr (Safe) return safely_weighted(p, scores, v, axis);
    else return weighted(p, scores, v, axis);
};

inline constexpr auto unscaled_attention_pattern = [](pattern<23> p, capture<value> q, capture<value> k,
                                                      capture<value> v, capture<std::int64_t> axis) {
    return weighted(p, p.op<"MatMul">(q, transposed(p, k)), v, axis);
};
template <class Mask, bool Safe>
inline constexpr auto masked_unscaled_attention_pattern = [](pattern<23> p, capture<value> q, capture<value> k,
                                                             capture<value> v, capture<std::int64_t> axis,
                                                             capture<value> mask) {
    auto const scores = Mask::masked(p, p.op<"MatMul">(q, transposed(p, k)), mask);
    if constexpr (Safe) return safely_weighted(p, scores, v, axis);
    else return weighted(p, scores, v, axis);
};

/// Whether the operator Attention takes these operands, as runtimes implement it: nothing is broadcast. The products
/// demand that heads have one size, and that there are as many values as keys.
inline constexpr auto is_attention = [](value q, value k, value v, double c, std::int64_t axis) {
    bool const usable = q.dtype() == dtype::float32 && q.rank() == 4 && k.rank() == 4 && v.rank() == 4 &&
                        (axis == -1 || axis == 3) && c > 0 && c < std::numeric_limits<double>::infinity();
    return usable && is_same(q.size(0), k.size(0)) && is_same(q.size(0), v.size(0)) && is_same(q.size(1), k.size(1)) &&
           is_same(q.size(1), v.size(1));
};
inline constexpr auto is_masked_attention = [](value q, value k, value v, double c, std::int64_t axis, value mask) {
    if (!is_attention(q, k, v, c, axis) || mask.rank() < 2 || mask.rank() > 4) return false;
    for (std::int64_t i = -mask.rank(); i != -2; ++i) // batch and heads may be the same for all
        if (!is_same(mask.size(i), q.size(i)) && mask.size(i) != dim(1)) return false;
    return is_same(mask.size(-2), q.size(2)) && is_same(mask.size(-1), k.size(2)) && k.size(2) != dim(0);
};

template <class Scaled>
inline constexpr auto fused = [](graph<23> g, value q, value k, value v, double c, std::int64_t) {
    return g.op<"Attention">(q, k, v, attr::scale_f(Scaled::scale(c)));
};
/// Attention with a soft cap of the scores, unless that is 0.
inline constexpr auto capped_attention = [](auto g, double cap, auto const&... each) {
    return exactly_equal(cap, 0) ? g.template op<"Attention">(each...)
                                 : g.template op<"Attention">(each..., attr::softcap_f(cap));
};
/// Of a query that sees no key, Attention returns zeros; Softmax of only -infinity is NaN.
template <class Scaled, bool Safe>
inline constexpr auto fused_with_mask =
    [](graph<23> g, value q, value k, value v, double c, std::int64_t, value mask) -> value {
    value const y = g.op<"Attention">(q, k, v, mask, attr::scale_f(Scaled::scale(c)));
    if (Safe) return y;
    value const best = g.op<"ReduceMax">(mask, g.ints({-1}), attr::keepdims_i(1));
    value const nan = g.scalar_like(std::numeric_limits<double>::quiet_NaN(), y);
    if (mask.dtype() == dtype::bool_) return g.op<"Where">(best, y, nan);
    return g.op<"Where">(g.op<"Equal">(best, g.scalar_like(-std::numeric_limits<double>::infinity(), mask)), nan, y);
};

inline constexpr auto is_unscaled_attention = [](value q, value k, value v, std::int64_t axis) {
    return is_attention(q, k, v, 1, axis);
};
inline constexpr auto is_masked_unscaled_attention = [](value q, value k, value v, std::int64_t axis, value mask) {
    return is_masked_attention(q, k, v, 1, axis, mask);
};
inline constexpr auto fused_unscaled = [](graph<23> g, value q, value k, value v, std::int64_t) {
    return g.op<"Attention">(q, k, v, attr::scale_f(1));
};
template <bool Safe>
inline constexpr auto fused_unscaled_with_mask =
    [](graph<23> g, value q, value k, value v, std::int64_t axis, value mask) {
        return fused_with_mask<scaled_product, Safe>(g, q, k, v, 1, axis, mask);
    };

// Keys and values of groups: every head of them serves several heads of the queries.

/// (batch, groups, positions, size) as (batch, heads, positions, size): each head is repeated.
inline constexpr auto repeated_heads = [](auto p, auto x, auto repeats, auto sizes) {
    auto const expanded =
        p.shared(p.template op<"Expand">(p.shared(p.template op<"Unsqueeze">(x, p.ints({2}))), repeats));
    return p.shared(p.template op<"Reshape">(expanded, sizes));
};

/// Whether repeated_heads() makes the heads of `q` from those of `x`.
inline bool repeats_heads(value q, value x, integers const& repeats, integers const& sizes) {
    if (q.rank() != 4 || x.rank() != 4 || repeats.size() != 5 || sizes.size() != 4) return false;
    dim const heads = q.size(1);
    dim const groups = x.size(1);
    dim const size = x.size(3);
    if (!heads.is_static() || !groups.is_static() || !size.is_static() || groups.size() == 0) return false;
    auto const keeps = [](std::int64_t repeat, std::int64_t s) { return repeat == 1 || repeat == s; };
    auto const repeat_of = [](std::int64_t repeat, dim const& d, bool or_one = true) {
        return (or_one && repeat == 1) || (d.is_static() && d.size() == repeat);
    };
    bool const only_heads = repeat_of(repeats[0], x.size(0)) && keeps(repeats[1], groups.size()) &&
                            repeat_of(repeats[3], x.size(2)) && keeps(repeats[4], size.size()) &&
                            repeats[2] * groups.size() == heads.size();
    // Batch and positions stay; of the sizes, one may be left to the runtime.
    bool const keeps_batch = sizes[0] == 0 || repeat_of(sizes[0], x.size(0), false);
    bool const keeps_positions = sizes[2] == -1 || repeat_of(sizes[2], x.size(2), false);
    return only_heads && keeps_batch && sizes[1] == heads.size() && keeps_positions && sizes[3] == size.size();
}

} // namespace detail

inline constexpr auto attention = rewrites(
    rewrite<"attention.both">(detail::attention_pattern<detail::scaled_both>, detail::is_attention,
                              detail::fused<detail::scaled_both>),
    rewrite<"attention.queries">(detail::attention_pattern<detail::scaled_queries>, detail::is_attention,
                                 detail::fused<detail::scaled_queries>),
    rewrite<"attention.product">(detail::attention_pattern<detail::scaled_product>, detail::is_attention,
                                 detail::fused<detail::scaled_product>),
    rewrite<"attention.divided">(detail::attention_pattern<detail::divided_product>, detail::is_attention,
                                 detail::fused<detail::divided_product>),
    rewrite<"attention.both_boolean">(
        detail::masked_attention_pattern<detail::scaled_both, detail::boolean_mask, false>, detail::is_masked_attention,
        detail::fused_with_mask<detail::scaled_both, false>),
    rewrite<"attention.both_boolean_safe">(
        detail::masked_attention_pattern<detail::scaled_both, detail::boolean_mask, true>, detail::is_masked_attention,
        detail::fused_with_mask<detail::scaled_both, true>),
    rewrite<"attention.both_added">(detail::masked_attention_pattern<detail::scaled_both, detail::added_mask, false>,
                                    detail::is_masked_attention, detail::fused_with_mask<detail::scaled_both, false>),
    rewrite<"attention.both_added_safe">(
        detail::masked_attention_pattern<detail::scaled_both, detail::added_mask, true>, detail::is_masked_attention,
        detail::fused_with_mask<detail::scaled_both, true>),
    rewrite<"attention.queries_boolean">(
        detail::masked_attention_pattern<detail::scaled_queries, detail::boolean_mask, false>,
        detail::is_masked_attention, detail::fused_with_mask<detail::scaled_queries, false>),
    rewrite<"attention.queries_added">(
        detail::masked_attention_pattern<detail::scaled_queries, detail::added_mask, false>,
        detail::is_masked_attention, detail::fused_with_mask<detail::scaled_queries, false>),
    rewrite<"attention.product_boolean">(
        detail::masked_attention_pattern<detail::scaled_product, detail::boolean_mask, false>,
        detail::is_masked_attention, detail::fused_with_mask<detail::scaled_product, false>),
    rewrite<"attention.product_added">(
        detail::masked_attention_pattern<detail::scaled_product, detail::added_mask, false>,
        detail::is_masked_attention, detail::fused_with_mask<detail::scaled_product, false>),
    rewrite<"attention.divided_boolean">(
        detail::masked_attention_pattern<detail::divided_product, detail::boolean_mask, false>,
        detail::is_masked_attention, detail::fused_with_mask<detail::divided_product, false>),
    rewrite<"attention.divided_added">(
        detail::masked_attention_pattern<detail::divided_product, detail::added_mask, false>,
        detail::is_masked_attention, detail::fused_with_mask<detail::divided_product, false>),
    rewrite<"attention.unscaled">(detail::unscaled_attention_pattern, detail::is_unscaled_attention,
                                  detail::fused_unscaled),
    rewrite<"attention.unscaled_boolean">(detail::masked_unscaled_attention_pattern<detail::boolean_mask, false>,
                                          detail::is_masked_unscaled_attention,
                                          detail::fused_unscaled_with_mask<false>),
    rewrite<"attention.unscaled_boolean_safe">(detail::masked_unscaled_attention_pattern<detail::boolean_mask, true>,
                                               detail::is_masked_unscaled_attention,
                                               detail::fused_unscaled_with_mask<true>),
    rewrite<"attention.unscaled_added">(detail::masked_unscaled_attention_pattern<detail::added_mask, false>,
                                        detail::is_masked_unscaled_attention, detail::fused_unscaled_with_mask<false>),
    rewrite<"attention.unscaled_added_safe">(detail::masked_unscaled_attention_pattern<detail::added_mask, true>,
                                             detail::is_masked_unscaled_attention,
                                             detail::fused_unscaled_with_mask<true>),
    rewrite<"grouped_attention">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<double> scale,
           capture<std::int64_t> causal, capture<detail::integers> repeats, capture<detail::integers> key_sizes,
           capture<detail::integers> value_sizes) {
            return p.op<"Attention">(q,
                                     detail::repeated_heads(p, k, repeats, key_sizes),
                                     detail::repeated_heads(p, v, repeats, value_sizes),
                                     attr::scale_f(scale),
                                     attr::is_causal_i(causal));
        },
        [](value q, value k, value v, double, std::int64_t, detail::integers const& repeats,
           detail::integers const& key_sizes, detail::integers const& value_sizes) {
            return detail::repeats_heads(q, k, repeats, key_sizes) && detail::repeats_heads(q, v, repeats, value_sizes);
        },
        [](graph<23> g, value q, value k, value v, double scale, std::int64_t causal, detail::integers const&,
           detail::integers const&, detail::integers const&) {
            return g.op<"Attention">(q, k, v, attr::scale_f(scale), attr::is_causal_i(causal));
        }),
    rewrite<"grouped_attention_mask">(
        [](pattern<23> p, capture<value> q, capture<value> k, capture<value> v, capture<value> mask,
           capture<double> scale, capture<double> cap, capture<std::int64_t> causal, capture<detail::integers> repeats,
           capture<detail::integers> key_sizes, capture<detail::integers> value_sizes) {
            return p.op<"Attention">(q,
                                     detail::repeated_heads(p, k, repeats, key_sizes),
                                     detail::repeated_heads(p, v, repeats, value_sizes),
                                     mask,
                                     attr::scale_f(scale),
                                     attr::softcap_f(cap),
                                     attr::is_causal_i(causal));
        },
        [](value q, value k, value v, value, double, double, std::int64_t, detail::integers const& repeats,
           detail::integers const& key_sizes, detail::integers const& value_sizes) {
            return detail::repeats_heads(q, k, repeats, key_sizes) && detail::repeats_heads(q, v, repeats, value_sizes);
        },
        [](graph<23> g, value q, value k, value v, value mask, double scale, double cap, std::int64_t causal,
           detail::integers const&, detail::integers const&, detail::integers const&) {
            return detail::capped_attention(g, cap, q, k, v, mask, attr::scale_f(scale), attr::is_causal_i(causal));
        }));

} // namespace ATON_NAMESPACE::fusions
