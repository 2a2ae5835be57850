// SPDX-License-Identifier: MIT
// Scaled dot-product attention.
#include "runtime/compute/attention.hpp"

#include <limits>
#include <string>

#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

namespace {

void check_operands(tensor const& q, tensor const& k, tensor const& v) {
    bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4;
    fits = fits && q.size(0) == k.size(0) && q.size(0) == v.size(0) && k.size(1) == v.size(1) && k.size(2) == v.size(2);
    fits = fits && q.size(3) == k.size(3) && (k.size(1) == 0 ? q.size(1) == 0 : q.size(1) % k.size(1) == 0);
    if (!fits)
        throw error("the shapes of queries, keys and values do not match: " + to_string(q.sizes()) + ", " +
                    to_string(k.sizes()) + " and " + to_string(v.sizes()));
}

/// Of scores [B, H, L, S], with one more of each head.
tensor softmax_with(tensor const& sinks, tensor const& scores) {
    if (!sinks) return softmax(scores, -1);
    sizes column = scores.sizes();
    column.back() = 1;
    if (sinks.sizes() != sizes{column[1]})
        throw error("sinks of shape " + to_string(sinks.sizes()) + " do not fit " + std::to_string(column[1]) +
                    " heads");
    tensor const all[] = {scores, reshape(cast(sinks, scores.dtype()), {column[1], 1, 1}).expanded(column)};
    return softmax(concat(all, 3), -1).sliced(3, 0, scores.size(3));
}

} // namespace

tensor by_heads(tensor const& x, std::int64_t heads) {
    if (x.rank() != 3 || heads < 1 || x.size(2) % heads != 0)
        throw error(std::to_string(heads) + " heads do not fit shape " + to_string(x.sizes()));
    return transpose(reshape(x, {x.size(0), x.size(1), heads, x.size(2) / heads}), 1, 2);
}

tensor joined_heads(tensor const& x) {
    return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

tensor rotated(tensor const& x, tensor const& cosine, tensor const& sine, bool interleaved) {
    std::int64_t const pairs = cosine.size(cosine.rank() - 1);
    tensor const out = clone(x);
    auto const half = [&](tensor const& t, std::int64_t which) {
        return interleaved ? t.sliced(3, which, pairs, 2) : t.sliced(3, which * pairs, pairs);
    };
    tensor const a = half(x, 0);
    tensor const b = half(x, 1);
    tensor const real = cosine * a - sine * b;
    if (real.sizes() != a.sizes()) throw error("the caches do not fit " + to_string(x.sizes()));
    if (real.count() != 0) {
        copy(real, half(out, 0));
        copy(sine * a + cosine * b, half(out, 1));
    }
    return out;
}

tensor attend(tensor const& q, tensor const& k, tensor const& v, tensor const& bias, attention_rules const& rules,
              attention_steps* steps) {
    check_operands(q, k, v);
    std::int64_t const heads = q.size(1);
    std::int64_t const shared = k.size(1) == 0 ? 1 : heads / k.size(1);
    // Query heads that share a key head become rows of one matrix.
    sizes const rows = {q.size(0), k.size(1), shared * q.size(2)};
    auto const with = [](sizes of, std::int64_t last) {
        of.push_back(last);
        return of;
    };
    auto const scaled = [](tensor const& t, double by) { return by == 1 ? t : t * scalar(by); };
    tensor const query = reshape(scaled(widened(q), rules.query_scale), with(rows, q.size(3)));
    tensor const key = scaled(widened(k), rules.key_scale);
    sizes const to = {q.size(0), heads, q.size(2), k.size(2)};
    tensor const scores = reshape(matmul(query, transpose(key, 2, 3)), to);
    tensor const capped = rules.softcap == 0 ? scores : tanh(scores / scalar(rules.softcap)) * scalar(rules.softcap);
    tensor const biased = bias ? capped + cast(bias, capped.dtype()) : capped;
    if (biased.sizes() != to)
        throw error("a bias of shape " + to_string(bias.sizes()) + " does not fit " + to_string(to));
    dtype const precise = rules.softmax_type == dtype::undefined ? q.dtype() : rules.softmax_type;
    tensor weights = biased;
    if (k.size(2) != 0) {
        weights = softmax_with(rules.sinks, cast(biased, precise == dtype::float64 ? precise : biased.dtype()));
        constexpr double infinity = std::numeric_limits<double>::infinity();
        if (bias && bias.count() != 0) {
            tensor const whole = bias.rank() == 0 ? bias.unsqueezed(0) : bias;
            weights = where(equal(max(whole, {-1}, true), scalar(-infinity)), scalar(0), weights);
        }
    }
    if (steps != nullptr)
        *steps = {cast(scores, q.dtype()), cast(capped, q.dtype()), cast(biased, q.dtype()), cast(weights, q.dtype())};
    tensor const value = widened(v);
    tensor const y = matmul(reshape(cast(weights, value.dtype()), with(rows, k.size(2))), value);
    return cast(reshape(y, {q.size(0), heads, q.size(2), v.size(3)}), q.dtype());
}

tensor attention_window(std::int64_t queries, std::int64_t keys, tensor const& offset, std::int64_t left,
                        std::int64_t right) {
    device const here = offset.where();
    tensor const steps = reshape(range(queries, 0, 1, here), {queries, 1}) - range(keys, 0, 1, here);
    tensor const shift = offset.rank() == 0 ? offset : reshape(offset, {offset.count(), 1, 1, 1});
    tensor const ahead = steps + shift; // query position minus key position
    tensor sees;
    if (left >= 0) sees = less_equal(ahead, scalar(static_cast<long long>(left)));
    if (right >= 0) {
        tensor const before = greater_equal(ahead, scalar(-static_cast<long long>(right)));
        sees = sees ? logical_and(sees, before) : before;
    }
    return sees ? sees : full(true, dtype::bool_, ahead.sizes(), here);
}

} // namespace ATON_NAMESPACE::runtime
