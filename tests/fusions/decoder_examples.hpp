// SPDX-License-Identifier: MIT
// Examples of the rewrites of the target onnxruntime-genai, whose inputs are what a generator feeds: no padding, and either no cache, one text, or
// one new token of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "examples.hpp"

namespace fusion_tests {

/// A tensor whose sizes have these names; without a name, a size is known.
inline part named(std::vector<std::pair<std::string, std::int64_t>> const& sizes, dtype type = dtype::float32,
                  std::vector<std::int64_t> all = {}) {
    std::vector<aton::dim> dims;
    std::vector<std::int64_t> run;
    for (auto const& [name, size] : sizes) {
        dims.push_back(name.empty() ? aton::dim(size) : aton::dim(name));
        run.push_back(size);
    }
    return {true, {type, aton::shape(dims), run, std::move(all)}};
}

/// What a decoder of 4 heads in groups of 2, each of 16 elements, is fed.
struct fed {
    std::int64_t texts = 1;
    std::int64_t fresh = 3;
    std::int64_t past = 6;

    [[nodiscard]] part rows(std::int64_t width) const { return named({{"texts", texts}, {"new", fresh}, {"", width}}); }
    [[nodiscard]] part cache(std::int64_t size = 16) const {
        return named({{"texts", texts}, {"", 2}, {"past", past}, {"", size}});
    }
    [[nodiscard]] part tokens() const {
        std::vector<std::int64_t> const ones(static_cast<std::size_t>(texts * (past + fresh)), 1);
        return named({{"texts", texts}, {"all", past + fresh}}, dtype::int64, ones);
    }
    [[nodiscard]] part ids(std::string const& length = "new") const {
        return named({{"texts", texts}, {length, fresh}}, dtype::int64);
    }
    [[nodiscard]] part lengths() const {
        std::vector<std::int64_t> const last(static_cast<std::size_t>(texts), past + fresh - 1);
        return named({{"texts", texts}}, dtype::int32, last);
    }
    [[nodiscard]] part longest() const { return elements({1}, {past + fresh}, dtype::int32); }
    [[nodiscard]] part places() const {
        std::vector<std::int64_t> all;
        for (std::int64_t t = 0; t != texts; ++t)
            for (std::int64_t i = 0; i != fresh; ++i) all.push_back(past + i);
        return named({{"texts", texts}, {"new", fresh}}, dtype::int64, all);
    }
    static part table(std::int64_t size) { return tensor({12, size}); }

    [[nodiscard]] std::vector<part> decoder(double cap) const {
        return {rows(64),
                rows(32),
                rows(32),
                cache(),
                cache(),
                tokens(),
                ids(),
                cache(),
                number(0.3),
                number(cap),
                integer(4),
                integer(2)};
    }
    [[nodiscard]] std::vector<part> window(std::int64_t size) const {
        std::vector<part> all = decoder(0);
        all.push_back(integer(size));
        return all;
    }
    [[nodiscard]] std::vector<part> rotary(std::int64_t window, std::int64_t interleaved, std::int64_t rotated,
                                           std::int64_t given) const {
        return {rows(64),
                rows(32),
                rows(32),
                cache(),
                cache(),
                lengths(),
                longest(),
                table(rotated),
                table(rotated),
                places(),
                integer(4),
                integer(2),
                integer(window),
                number(0.3),
                number(1.5),
                integer(interleaved),
                integer(given)};
    }
    [[nodiscard]] std::vector<part> packed(std::int64_t window) const {
        return {rows(128),
                list({64, 32, 32}),
                cache(),
                cache(),
                lengths(),
                longest(),
                table(8),
                table(8),
                integer(4),
                integer(2),
                integer(window),
                number(0.3),
                number(0),
                integer(0)};
    }
    [[nodiscard]] std::vector<part> sliced(std::int64_t first, std::int64_t second) const {
        return {rows(128),
                list({first}),
                list({second}),
                list({999}),
                list({2}),
                cache(),
                cache(),
                lengths(),
                longest(),
                table(8),
                table(8),
                integer(4),
                integer(2),
                integer(-1),
                number(0.3),
                number(0),
                integer(0)};
    }
};

/// Captures with another one at a place.
inline std::vector<part> with(std::vector<part> all, std::size_t place, part other) {
    all[place] = std::move(other);
    return all;
}

// clang-format off: one example per line
inline std::vector<example> decoder_examples() {
    constexpr fed one{1, 3, 6};
    constexpr fed prompts{2, 5, 0};
    constexpr fed steps{3, 1, 7};
    part const half = list({4});
    return {
        {"onnxruntime-genai.rotary_embedding", {batch({3, 5, 8}), batch({5, 4}), batch({5, 4}), half, list({8}), list({3}), integer(3), integer(2)}},
        {"onnxruntime-genai.rotary_embedding", {tensor({2, 3, 5, 8}), tensor({2, 5, 4}), tensor({2, 5, 4}), half, list({999}), list({3}), integer(-1), integer(-1)}},
        {"onnxruntime-genai.rotary_embedding", {tensor({2, 3, 5, 8}), tensor({1, 5, 4}), tensor({2, 5, 4}), half, list({8}), list({3}), integer(3), integer(2)}, false},
        {"onnxruntime-genai.rotary_embedding", {tensor({2, 3, 5, 8}, dtype::float64), tensor({2, 5, 4}, dtype::float64), tensor({2, 5, 4}, dtype::float64), half, list({8}), list({3}), integer(3), integer(2)}, false},
        {"onnxruntime-genai.decoder", one.decoder(0)}, {"onnxruntime-genai.decoder", prompts.decoder(1.5)}, {"onnxruntime-genai.decoder", steps.decoder(0)},
        {"onnxruntime-genai.decoder", with(one.decoder(0), 6, one.ids("other")), false},
        {"onnxruntime-genai.decoder", with(one.decoder(0), 7, named({{"texts", 1}, {"", 2}, {"earlier", 6}, {"", 16}})), false},
        {"onnxruntime-genai.decoder", with(with(one.decoder(0), 2, one.rows(12)), 4, one.cache(6)), false},
        {"onnxruntime-genai.decoder", with(with(with(with(with(one.decoder(0), 0, one.rows(48)), 1, one.rows(24)), 2, one.rows(24)), 3, one.cache(12)), 4, one.cache(12)), false},
        {"onnxruntime-genai.decoder_window", one.window(4)}, {"onnxruntime-genai.decoder_window", prompts.window(2)}, {"onnxruntime-genai.decoder_window", steps.window(5)},
        {"onnxruntime-genai.decoder_window", with(one.window(4), 6, one.ids("other")), false},
        {"onnxruntime-genai.decoder_rotary", one.rotary(-1, 0, 8, 0)}, {"onnxruntime-genai.decoder_rotary", prompts.rotary(2, 1, 8, 16)}, {"onnxruntime-genai.decoder_rotary", steps.rotary(5, 0, 8, 16)},
        {"onnxruntime-genai.decoder_rotary", steps.rotary(5, 0, 2, 4), false},
        {"onnxruntime-genai.decoder_rotary", one.rotary(-1, 0, 2, 8), false},
        {"onnxruntime-genai.decoder_rotary", with(with(one.rotary(-1, 0, 4, 0), 0, one.rows(32)), 1, one.rows(16)), false},
        {"onnxruntime-genai.packed_decoder", one.packed(-1)}, {"onnxruntime-genai.packed_decoder", prompts.packed(3)}, {"onnxruntime-genai.packed_decoder", steps.packed(-1)},
        {"onnxruntime-genai.packed_decoder_slices", one.sliced(64, 96)}, {"onnxruntime-genai.packed_decoder_slices", prompts.sliced(64, 96)},
        {"onnxruntime-genai.packed_decoder_slices", one.sliced(32, 80), false}, {"onnxruntime-genai.packed_decoder_slices", with(one.sliced(64, 96), 3, list({127})), false},
        {"onnxruntime-genai.attention_capped", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({2, 1, 5, 7}), number(-3e38), number(1.5)}},
        {"onnxruntime-genai.attention_capped", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({2, 1, 5, 7}), number(-100), number(1.5)}, false},
        {"onnxruntime-genai.attention_capped", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({2, 1, 1, 7}), number(-3e38), number(1.5)}, false},
    };
}
// clang-format on

} // namespace fusion_tests
