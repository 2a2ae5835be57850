// SPDX-License-Identifier: MIT
// Patterns of the masks of decoders: the keys up to a token, of a window of tokens if there is one, without padding.
// Internal header.
#pragma once

#include <cstdint>

#include <aton/dsl/rewrite.hpp>

namespace ATON_NAMESPACE::targets::detail::generator {

using namespace dsl; // NOLINT(google-build-using-namespace): the patterns are written in this language

// The mask as transformers computes it. Its parts are those of all layers.

/// Values that are sizes: the number of new tokens, and the length of the cache `earlier`, (1).
inline constexpr auto new_tokens = [](auto p, auto ids) {
    return p.shared(p.template op<"Squeeze">(p.shared(p.template op<"Shape">(ids, attr::start_i(1)))));
};
inline constexpr auto past_tokens = [](auto p, auto earlier) {
    return p.shared(p.template op<"Shape">(earlier, attr::start_i(2), attr::end_i(3)));
};
/// The places of all keys, (1, 1, 1, past + new).
inline constexpr auto places_of_keys = [](auto p, auto fresh, auto past) {
    auto const before = p.shared(p.template op<"Squeeze">(past));
    auto const all = p.shared(p.template op<"Range">(0, p.shared(p.template op<"Add">(before, fresh)), 1));
    return p.shared(p.template op<"Reshape">(all, p.ints({1, 1, 1, -1})));
};
/// Which keys are not later than the queries, (1, 1, new, past + new).
inline constexpr auto causal = [](auto p, auto keys, auto fresh, auto past) {
    auto const places = p.shared(p.template op<"Add">(p.shared(p.template op<"Range">(0, fresh, 1)), past));
    auto const queries = p.shared(p.template op<"Reshape">(places, p.ints({1, 1, -1, 1})));
    return p.shared(p.template op<"LessOrEqual">(keys, queries));
};
/// Which keys are no padding, (batch, 1, 1, past + new).
inline constexpr auto is_token = [](auto p, auto tokens, auto ids, auto keys) {
    auto const visible = p.shared(p.template op<"Cast">(tokens, attr::to_i(dtype_c<dtype::bool_>)));
    auto const rows = p.shared(p.template op<"Shape">(ids, attr::end_i(1)));
    auto const width = p.shared(p.template op<"Shape">(keys, attr::start_i(3)));
    auto const ends = p.shared(p.template op<"Concat">(rows, width, attr::axis_i(0)));
    auto const part = p.shared(p.template op<"Slice">(visible, p.ints({0, 0}), ends, p.ints({0, 1})));
    return p.either(p.shared(p.template op<"Unsqueeze">(part, p.ints({1, 2}))),
                    p.shared(p.template op<"Reshape">(visible, p.ints({0, 1, 1, -1}))));
};
inline constexpr auto visible_keys = [](auto p, auto tokens, auto ids, auto earlier) {
    auto const fresh = new_tokens(p, ids);
    auto const past = past_tokens(p, earlier);
    auto const keys = places_of_keys(p, fresh, past);
    return p.shared(p.template op<"And">(causal(p, keys, fresh, past), is_token(p, tokens, ids, keys)));
};
/// The same of keys that are less than `window` tokens before the query.
inline constexpr auto visible_keys_of_window = [](auto p, auto tokens, auto ids, auto earlier, auto window) {
    auto const fresh = new_tokens(p, ids);
    auto const past = past_tokens(p, earlier);
    auto const keys = places_of_keys(p, fresh, past);
    auto const counted =
        p.shared(p.template op<"Unsqueeze">(p.shared(p.template op<"CumSum">(tokens, 1)), p.ints({1})));
    auto const first = p.shared(p.template op<"Reshape">(p.shared(p.template op<"Neg">(fresh)), p.ints({1})));
    auto const last = p.shared(p.template op<"Slice">(counted, first, p.ints({INT64_MAX}), p.ints({2})));
    auto const distance = p.shared(p.template op<"Sub">(p.shared(p.template op<"Unsqueeze">(last, p.ints({3}))),
                                                        p.shared(p.template op<"Unsqueeze">(counted, p.ints({2})))));
    auto const near = p.shared(p.template op<"Less">(distance, window));
    auto const seen = p.shared(p.template op<"And">(near, causal(p, keys, fresh, past)));
    return p.shared(p.template op<"And">(seen, is_token(p, tokens, ids, keys)));
};

} // namespace ATON_NAMESPACE::targets::detail::generator
