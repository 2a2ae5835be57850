// SPDX-License-Identifier: MIT
// ONNX operators: attention.
#include "runtime/compute/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The mask, padded from version 24 on to the number of keys; missing entries hide keys.
tensor widened_mask(call const& c, tensor const& mask, std::int64_t keys) {
    if (c.opset() < 24 || mask.rank() == 0 || mask.size(mask.rank() - 1) >= keys) return mask;
    sizes const before(mask.rank(), 0);
    sizes after(mask.rank(), 0);
    after.back() = keys - mask.size(mask.rank() - 1);
    return pad(mask, before, after, mask.dtype() == dtype::bool_ ? scalar(false) : scalar(-infinity));
}

/// The bias of the scores [.., L, S]; may be empty.
tensor bias_of(call const& c, tensor const& q, std::int64_t keys, std::int64_t past) {
    tensor seen; // bool
    auto const narrow = [&](tensor const& more) { seen = seen ? logical_and(seen, more) : more; };
    tensor added;
    if (c.has(3)) {
        tensor const mask = c.in(3).dtype() == dtype::bool_ ? c.in(3) : widened(cast(c.in(3), q.dtype()));
        if (mask.dtype() == dtype::bool_) narrow(widened_mask(c, mask, keys));
        else added = widened_mask(c, mask, keys);
    }
    tensor offset = full(static_cast<long long>(past), dtype::int64, {}, q.where());
    tensor counts;
    if (c.has(6)) {
        counts = c.in(6);
        if (counts.sizes() != sizes{q.size(0)} || counts.dtype() != dtype::int64)
            throw error("nonpad_kv_seqlen must have one int64 for each of " + std::to_string(q.size(0)) + " samples");
        if (!c.has(4)) offset = counts - scalar(static_cast<long long>(q.size(2)));
    }
    auto const side = [&](char const* name) {
        std::int64_t const n = c.i(name, -1);
        if (n < -1) throw error(std::string(name) + " is " + std::to_string(n));
        return n;
    };
    std::int64_t const left = side("left_window_size");
    std::int64_t right = side("right_window_size");
    if (c.i("is_causal", 0) != 0) right = 0;
    if (left >= 0 || right >= 0) narrow(attention_window(q.size(2), keys, offset, left, right));
    if (counts) {
        tensor const each = reshape(counts, {counts.count(), 1, 1, 1});
        narrow(less(range(keys, 0, 1, q.where()), each));
    }
    if (!seen) return added;
    if (!added) added = full(0.0, q.dtype() == dtype::float64 ? dtype::float64 : dtype::float32, {}, q.where());
    return where(seen, added, scalar(-infinity));
}

results attention(call const& c) {
    tensor q = c.in(0);
    tensor k = c.in(1);
    tensor v = c.in(2);
    bool const flat = q.rank() == 3;
    if (flat) {
        q = by_heads(q, c.i("q_num_heads"));
        k = by_heads(k, c.i("kv_num_heads"));
        v = by_heads(v, c.i("kv_num_heads"));
    }
    if (q.rank() != 4) throw error("queries must have rank 4, not shape " + to_string(q.sizes()));
    if (c.has(4) != c.has(5)) throw error("past_key and past_value must be given together");
    std::int64_t past = 0;
    if (c.has(4)) {
        std::vector<tensor> const keys = {c.in(4), k};
        std::vector<tensor> const values = {c.in(5), v};
        if (c.in(4).rank() == 4) past = c.in(4).size(2);
        k = concat(keys, 2);
        v = concat(values, 2);
    }
    if (k.rank() != 4) throw error("keys must have rank 4, not shape " + to_string(k.sizes()));
    attention_rules rules;
    double const scale = c.f("scale", 1 / std::sqrt(static_cast<double>(q.size(3))));
    rules.query_scale = rules.key_scale = std::sqrt(scale);
    rules.softcap = c.f("softcap", 0);
    rules.softmax_type = c.type("softmax_precision", q.dtype());
    attention_steps steps;
    bool const traces = c.wants(3);
    tensor const y = attend(q, k, v, bias_of(c, q, k.size(2), past), rules, traces ? &steps : nullptr);
    tensor const each[] = {steps.scores, steps.capped, steps.biased, steps.weights};
    std::int64_t const mode = c.i("qk_matmul_output_mode", 0);
    if (mode < 0 || mode > 3) throw error("qk_matmul_output_mode is " + std::to_string(mode));
    return {flat ? joined_heads(y) : y, contiguous(k), contiguous(v), each[mode]};
}

results flex_attention(call const& c) {
    tensor const& q = c.in(0);
    dtype const precise = c.type("softmax_precision", q.dtype() == dtype::float64 ? dtype::float64 : dtype::float32);
    tensor k = c.in(1);
    tensor v = c.in(2);
    if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4) throw error("queries, keys and values must have rank 4");
    if (k.size(1) == 0 || q.size(1) % k.size(1) != 0 || v.size(1) != k.size(1))
        throw error("the numbers of heads do not match");
    auto const repeated = [&](tensor const& t) { // repeated for the query heads that share it
        tensor const one = t.unsqueezed(2);
        sizes to = one.sizes();
        to[2] = q.size(1) / t.size(1);
        return reshape(one.expanded(to), {t.size(0), q.size(1), t.size(2), t.size(3)});
    };
    k = repeated(k);
    v = repeated(v);
    double const scale = std::sqrt(c.f("scale", 1 / std::sqrt(static_cast<double>(q.size(3)))));
    auto const modified = [&](tensor const& t, char const* name) {
        if (!c.has_attribute(name)) return t;
        std::vector<value> const out = c.run(c.graph(name), {t});
        if (out.size() != 1 || !out[0].is_tensor()) throw error(std::string(name) + " must return one tensor");
        return out[0].one();
    };
    tensor const scores = cast(matmul(q * scalar(scale), transpose(k, 2, 3) * scalar(scale)), precise);
    tensor const weights = modified(softmax(modified(scores, "score_mod"), -1), "prob_mod");
    return cast(matmul(weights, cast(v, weights.dtype())), q.dtype());
}

results rotary_embedding(call const& c) {
    tensor x = c.in(0);
    bool const flat = x.rank() == 3;
    if (flat) x = by_heads(x, c.i("num_heads"));
    if (x.rank() != 4) throw error("[B, heads, S, D] or [B, S, heads * D] is expected, not " + to_string(x.sizes()));
    std::int64_t const given = c.i("rotary_embedding_dim", 0);
    std::int64_t const size = given == 0 ? x.size(3) : given;
    if (size < 0 || size > x.size(3) || size % 2 != 0) throw error("rotary_embedding_dim is " + std::to_string(size));
    auto const cache = [&](std::size_t i) { // [B, 1, S, size / 2]
        tensor const t = c.has(3) ? index_select(c.in(i), 0, c.in(3)) : c.in(i);
        if (t.rank() != 3 || t.size(2) < size / 2) throw error("a cache has shape " + to_string(c.in(i).sizes()));
        return t.sliced(2, 0, size / 2).unsqueezed(1);
    };
    tensor const out = rotated(x, cache(1), cache(2), c.i("interleaved", 0) != 0);
    return flat ? joined_heads(out) : out;
}

/// One step at a time: the state [B, G, K, V] decays, adds the product of key and value, and is multiplied by the
/// query.
results linear_attention(call const& c) {
    std::int64_t const heads = c.i("q_num_heads");
    std::int64_t const groups = c.i("kv_num_heads");
    if (groups < 1 || heads < groups || heads % groups != 0)
        throw error("q_num_heads is not a multiple of kv_num_heads");
    std::string const rule = c.s("update_rule", "gated_delta");
    bool const forgets = rule == "gated" || rule == "gated_delta";
    bool const corrects = rule == "delta" || rule == "gated_delta";
    if (!forgets && !corrects && rule != "linear") throw error("update_rule is '" + rule + "'");
    if (forgets != c.has(4) || corrects != c.has(5))
        throw error("update_rule '" + rule + "' does not match the inputs");
    auto const wide = [&](std::size_t i) { return cast(c.in(i), dtype::float32); };
    tensor const q = by_heads(wide(0), heads);
    tensor const k = by_heads(wide(1), groups);
    tensor const v = by_heads(wide(2), groups);
    std::int64_t const batch = q.size(0);
    std::int64_t const length = q.size(2);
    if (k.size(0) != batch || v.size(0) != batch || k.size(2) != length || v.size(2) != length ||
        k.size(3) != q.size(3))
        throw error("the shapes of queries, keys and values do not match");
    sizes const of_state = {batch, groups, k.size(3), v.size(3)};
    tensor state = c.has(3) ? wide(3) : full(0, dtype::float32, of_state, q.where());
    if (state.sizes() != of_state) throw error("past_state has shape " + to_string(state.sizes()));
    double const given = c.f("scale", 0);
    double const scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(q.size(3)));
    tensor const kept = forgets ? exp(by_heads(wide(4), groups)) : tensor(); // [B, G, T, K or 1]
    tensor const rate = corrects ? by_heads(wide(5), c.in(5).rank() == 3 ? c.in(5).size(2) : 1) : tensor();
    tensor const out = tensor::empty(dtype::float32, {batch, heads, length, v.size(3)}, kernels_of(q.where()).memory());
    for (std::int64_t t = 0; t != length; ++t) {
        auto const at = [&](tensor const& all) { return all.sliced(2, t, 1); }; // [B, heads, 1, size]
        if (forgets) state = state * transpose(at(kept), 2, 3);
        tensor entering = at(v);
        if (corrects) entering = (entering - matmul(at(k), state)) * at(rate);
        state = state + transpose(at(k), 2, 3) * entering;
        tensor const read = reshape(at(q), {batch, groups, heads / groups, q.size(3)});
        tensor const y = reshape(matmul(read, state) * scalar(scale), {batch, heads, 1, v.size(3)});
        if (y.count() != 0) kernels_of(q.where()).copy(y, at(out));
    }
    return {cast(joined_heads(out), c.in(0).dtype()),
            cast(contiguous(state), c.has(3) ? c.in(3).dtype() : c.in(0).dtype())};
}

} // namespace

rows attention() {
    static constexpr row all[] = {
        {"Attention", attention},
        {"FlexAttention", flex_attention, "ai.onnx.preview"},
        {"LinearAttention", linear_attention},
        {"RotaryEmbedding", rotary_embedding},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
