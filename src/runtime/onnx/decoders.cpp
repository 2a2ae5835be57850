// SPDX-License-Identifier: MIT
// com.microsoft::GroupQueryAttention, attention of decoders that append to a cache, as ONNX Runtime's CPU kernel computes it.
#include "runtime/compute/attention.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The inputs, in order.
struct input {
    enum place : std::uint8_t {
        query,
        key,
        value,
        past_key,
        past_value,
        last_tokens,
        longest_text,
        cosines,
        sines,
        position_ids,
        score_bias,
        head_sink,
        first_unsupported
    };
};

/// Queries, keys and values, [B, heads, S, D].
struct operands {
    tensor q, k, v;
};

operands operands_of(call const& c) {
    std::int64_t const heads = c.i("num_heads");
    std::int64_t const groups = c.i("kv_num_heads");
    if (groups < 1 || heads < 1 || heads > std::numeric_limits<std::int32_t>::max() || heads % groups != 0)
        throw error("num_heads, " + std::to_string(heads) + ", is not a multiple of kv_num_heads, " +
                    std::to_string(groups));
    if (c.has(input::key) != c.has(input::value)) throw error("key and value must be given together");
    operands o;
    if (c.has(input::key)) {
        o = {by_heads(c.in(input::query), heads),
             by_heads(c.in(input::key), groups),
             by_heads(c.in(input::value), groups)};
    } else { // all heads are in the query
        tensor const all = by_heads(c.in(input::query), heads + 2 * groups);
        o = {all.sliced(1, 0, heads), all.sliced(1, heads, groups), all.sliced(1, heads + groups, groups)};
    }
    sizes const of_keys = {o.q.size(0), groups, o.q.size(2), o.q.size(3)};
    if (o.k.sizes() != of_keys || o.v.sizes() != of_keys)
        throw error("queries, keys and values of shapes " + to_string(o.q.sizes()) + ", " + to_string(o.k.sizes()) +
                    " and " + to_string(o.v.sizes()) + " by heads do not match");
    if (o.q.size(0) == 0 || o.q.size(2) == 0) throw error("there are no new tokens");
    if (o.q.size(3) == 0 || o.q.size(3) % 8 != 0)
        throw error("heads of " + std::to_string(o.q.size(3)) + " elements are not a multiple of 8");
    return o;
}

void refuse_other_forms(call const& c) {
    for (std::size_t i = input::first_unsupported; i < c.inputs(); ++i)
        if (c.has(i)) throw error("input " + std::to_string(i) + " is not supported");
    for (char const* const name : {"qk_output", "sliding_window_cache"})
        if (c.i(name, 0) != 0) throw error(std::string(name) + " is not supported");
    if (c.wants(3)) throw error("the product of queries and keys as a result is not supported");
}

/// Where the tokens of each text are in the cache.
struct places {
    std::int64_t fresh = 0;            ///< new tokens of a text
    std::int64_t total = 0;            ///< tokens of the longest text, new ones included
    std::int64_t size = 0;             ///< of the resulting cache
    bool is_prompt = false;            ///< without earlier tokens, whatever the cache has
    std::vector<std::int64_t> lengths; ///< tokens of each text, padding behind them aside
    std::vector<std::int64_t> past;    ///< those before the new ones
};

/// Checks the cache, [B, groups, earlier or more, D], and returns its length.
std::int64_t earlier(call const& c, tensor const& k) {
    if (c.has(input::past_key) != c.has(input::past_value))
        throw error("past_key and past_value must be given together");
    if (!c.has(input::past_key)) return 0;
    tensor const& past = c.in(input::past_key);
    sizes expected = k.sizes();
    if (past.rank() == 4) expected[2] = past.size(2);
    if (past.sizes() != expected || c.in(input::past_value).sizes() != expected || past.dtype() != k.dtype() ||
        c.in(input::past_value).dtype() != k.dtype())
        throw error("a cache of shapes " + to_string(past.sizes()) + " and " +
                    to_string(c.in(input::past_value).sizes()) + " does not fit keys of shape " + to_string(k.sizes()) +
                    " by heads, or has another dtype");
    return past.size(2);
}

places places_of(call const& c, operands const& o) {
    for (std::size_t const i : {input::last_tokens, input::longest_text})
        if (c.in(i).dtype() != dtype::int32) throw error("seqlens_k and total_sequence_length must be int32");
    places at;
    at.fresh = o.q.size(2);
    std::int64_t const texts = o.q.size(0);
    std::int64_t const past = earlier(c, o.k);
    std::vector<std::int64_t> const total = c.integers(input::longest_text);
    if (total.size() != 1 || c.in(input::longest_text).rank() > 1 || total[0] < at.fresh ||
        (total[0] != past + at.fresh && total[0] > past))
        throw error("total_sequence_length must be one number, the tokens of the longest text, which a cache of " +
                    std::to_string(past) + " and " + std::to_string(at.fresh) + " new ones can be");
    at.total = total[0];
    at.size = std::max(at.total, past);
    at.is_prompt = at.fresh == at.total;
    if (!at.is_prompt && at.fresh > 1 && texts > 1)
        throw error("several texts with a past continue with one token each");
    for (std::int64_t const last : c.integers(input::last_tokens)) {
        std::int64_t const before = at.is_prompt ? 0 : last + 1 - at.fresh;
        if (last < 0 || last >= at.size || before < 0)
            throw error("seqlens_k has " + std::to_string(last) + ", which is not the place of a last token");
        at.lengths.push_back(last + 1);
        at.past.push_back(before);
    }
    if (static_cast<std::int64_t>(at.lengths.size()) != texts)
        throw error("seqlens_k must have one number for each of " + std::to_string(texts) + " texts");
    return at;
}

/// The positions of the new tokens, [B, S], in tables with this many rows.
tensor positions_of(call const& c, places const& at, std::int64_t texts, std::int64_t rows) {
    tensor const steps = range(at.fresh, 0, 1);
    if (!c.has(input::position_ids)) return reshape(tensor::of_integers(at.past), {texts, 1}) + steps;
    tensor const given = to_host(c.in(input::position_ids));
    if (given.sizes() != sizes{texts, at.fresh})
        throw error("position_ids must have shape " + to_string(sizes{texts, at.fresh}) + ", not " +
                    to_string(given.sizes()));
    std::vector<std::int64_t> const all = c.integers(input::position_ids);
    auto const [least, greatest] = std::minmax_element(all.begin(), all.end());
    if (*least < 0 || *greatest >= rows)
        throw error("position_ids has a number that is not one of " + std::to_string(rows) + " rows of the tables");
    if (!at.is_prompt) return given;
    tensor const first = given.sliced(0, 0, 1).sliced(1, 0, 1); // the kernel reads no other
    return (first + steps).expanded({texts, at.fresh});
}

void rotate(call const& c, operands& o, places const& at) {
    if (c.has(input::cosines) != c.has(input::sines)) throw error("cos_cache and sin_cache must be given together");
    if (!c.has(input::cosines)) throw error("do_rotary needs cos_cache and sin_cache");
    tensor const& table = c.in(input::cosines);
    bool const fits = table.rank() == 2 && table.sizes() == c.in(input::sines).sizes() && table.size(0) >= at.total;
    if (!fits || o.q.size(3) % 16 != 0 || table.size(1) == 0 || table.size(1) % 8 != 0 ||
        2 * table.size(1) > o.q.size(3))
        throw error("tables of shapes " + to_string(table.sizes()) + " and " + to_string(c.in(input::sines).sizes()) +
                    " do not rotate " + std::to_string(at.total) + " tokens in heads of " +
                    std::to_string(o.q.size(3)) +
                    " elements: the kernel takes multiples of 8 in heads of a multiple of 16");
    tensor const where = to_device(positions_of(c, at, o.q.size(0), table.size(0)), o.q.where());
    tensor const cosine = index_select(table, 0, where).unsqueezed(1);
    tensor const sine = index_select(c.in(input::sines), 0, where).unsqueezed(1);
    bool const interleaved = c.i("rotary_interleaved", 0) == 1;
    o.q = rotated(o.q, cosine, sine, interleaved);
    o.k = rotated(o.k, cosine, sine, interleaved);
}

/// The cache with the new tokens behind the earlier ones of each text, and zeros behind them.
tensor appended(tensor const& past, tensor const& fresh, places const& at) {
    sizes of = fresh.sizes();
    of[2] = at.size;
    tensor out = clone(full(0, fresh.dtype(), of, fresh.where()));
    for (std::size_t text = 0; text != at.past.size(); ++text) {
        auto const one = [&](tensor const& t) { return t.sliced(0, static_cast<std::int64_t>(text), 1); };
        std::int64_t const before = at.past[text];
        if (before != 0) copy(one(past).sliced(2, 0, before), one(out).sliced(2, 0, before));
        copy(one(fresh), one(out).sliced(2, before, at.fresh));
    }
    return out;
}

/// The bias of the scores, [B, 1 or heads, S, keys]: -inf for what a query does not see.
tensor bias_of(call const& c, operands const& o, places const& at, std::int64_t keys) {
    std::int64_t const window = c.i("local_window_size", -1);
    bool const causal = c.i("causal", 1) != 0;
    if (window == 0 || (!causal && window > 0)) throw error("local_window_size is " + std::to_string(window));
    device const here = o.q.where();
    tensor const offsets = to_device(tensor::of_integers(at.past), here);
    tensor const lengths = to_device(tensor::of_integers(at.lengths), here);
    tensor seen = less(range(keys, 0, 1, here), reshape(lengths, {lengths.count(), 1, 1, 1}));
    if (causal) seen = logical_and(attention_window(at.fresh, keys, offsets, window > 0 ? window - 1 : -1, 0), seen);
    tensor added = full(0.0, dtype::float32, {}, here);
    if (c.has(input::score_bias)) {
        tensor const& given = c.in(input::score_bias);
        bool const fits = given.rank() == 4 && (given.size(0) == 1 || given.size(0) == o.q.size(0)) &&
                          (given.size(1) == 1 || given.size(1) == o.q.size(1)) && given.size(2) == at.fresh &&
                          given.size(3) == at.total && keys <= at.total;
        if (!fits) throw error("attention_bias has shape " + to_string(given.sizes()));
        added = cast(given.sliced(3, 0, keys), dtype::float32);
    }
    return where(seen, added, scalar(-std::numeric_limits<double>::infinity()));
}

results group_query_attention(call const& c) {
    refuse_other_forms(c);
    operands o = operands_of(c);
    places const at = places_of(c, o);
    if (c.i("do_rotary", 0) == 1) rotate(c, o, at);
    tensor const k = appended(c.maybe(input::past_key), o.k, at);
    tensor const v = appended(c.maybe(input::past_value), o.v, at);
    std::int64_t const keys = *std::max_element(at.lengths.begin(), at.lengths.end());
    attention_rules rules;
    double const scale = c.f("scale", 0);
    rules.query_scale = scale == 0 ? 1 / std::sqrt(static_cast<double>(o.q.size(3))) : scale;
    rules.softcap = std::max(c.f("softcap", 0), 0.0);
    if (c.has(input::head_sink)) rules.sinks = c.in(input::head_sink);
    else if (c.i("smooth_softmax", 0) == 1) rules.sinks = full(0, o.q.dtype(), {o.q.size(1)}, o.q.where());
    tensor const y = attend(o.q, k.sliced(2, 0, keys), v.sliced(2, 0, keys), bias_of(c, o, at, keys), rules);
    return {joined_heads(y), k, v};
}

} // namespace

rows decoders() {
    static constexpr row all[] = {{"GroupQueryAttention", group_query_attention, "com.microsoft"}};
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
