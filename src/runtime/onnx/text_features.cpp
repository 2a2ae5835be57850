// SPDX-License-Identifier: MIT
// ONNX operators: TfIdfVectorizer, which counts n-grams on the host.
#include "call.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// The n-grams to count, with their indices.
template <class Token>
using gram_table = std::map<std::vector<Token>, std::size_t>;

/// The starts of the n-grams of lengths 1, 2, ... in the pool, and the end of the last ones.
std::vector<std::size_t> starts_of(call const& c, std::size_t pool) {
    std::vector<std::size_t> out;
    for (std::int64_t start : c.ints("ngram_counts")) {
        if (start < 0 || static_cast<std::size_t>(start) > pool ||
            (!out.empty() && static_cast<std::size_t>(start) < out.back()))
            throw error("ngram_counts does not match the pool");
        out.push_back(static_cast<std::size_t>(start));
    }
    out.push_back(pool);
    return out;
}

template <class Token>
gram_table<Token> table_of(call const& c, std::vector<Token> const& pool, std::size_t grams) {
    std::vector<std::size_t> const starts = starts_of(c, pool.size());
    gram_table<Token> out;
    std::size_t number = 0;
    for (std::size_t n = 1; n < starts.size(); ++n) {
        if ((starts[n] - starts[n - 1]) % n != 0) throw error("the pool ends in the middle of an n-gram");
        for (std::size_t at = starts[n - 1]; at != starts[n]; at += n) {
            auto const first = pool.begin() + static_cast<std::ptrdiff_t>(at);
            out.emplace(std::vector<Token>(first, first + static_cast<std::ptrdiff_t>(n)), number++);
        }
    }
    if (number != grams) throw error("ngram_indexes does not match the pool");
    return out;
}

/// The number of occurrences of each n-gram in a row, with up to `skips` elements between consecutive ones.
template <class Token>
std::vector<std::int64_t> counts_of(std::span<Token const> row, gram_table<Token> const& table, std::size_t grams,
                                    std::span<std::size_t const> lengths, std::size_t skips) {
    std::vector<std::int64_t> out(grams);
    std::vector<Token> gram;
    for (std::size_t n = lengths[0]; n <= lengths[1] && n <= row.size(); ++n)
        for (std::size_t step = 1; step <= (n == 1 ? 1 : skips + 1); ++step) {
            if (n > 1 && step > (row.size() - 1) / (n - 1)) break; // longer than the row
            for (std::size_t first = 0; first + (n - 1) * step < row.size(); ++first) {
                gram.clear();
                for (std::size_t k = 0; k != n; ++k) gram.push_back(row[first + k * step]);
                auto const found = table.find(gram);
                if (found != table.end()) ++out[found->second];
            }
        }
    return out;
}

std::size_t at_least(call const& c, char const* name, std::int64_t minimum) {
    std::int64_t const value = c.i(name);
    if (value < minimum) throw error(std::string(name) + " is less than " + std::to_string(minimum));
    return static_cast<std::size_t>(value);
}

template <class Token>
tensor vectorized(call const& c, std::span<Token const> tokens, std::vector<Token> const& pool) {
    std::vector<std::int64_t> const places = c.ints("ngram_indexes");
    std::vector<float> const weights = c.floats("weights");
    std::string const mode = c.s("mode");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF") throw error("unknown mode '" + mode + "'");
    if (!weights.empty() && weights.size() != places.size()) throw error("weights does not match ngram_indexes");
    gram_table<Token> table = table_of(c, pool, places.size());
    std::size_t const lengths[] = {at_least(c, "min_gram_length", 1), at_least(c, "max_gram_length", 1)};
    std::size_t const skips = at_least(c, "max_skip_count", 0);
    std::int64_t width = 0;
    for (std::int64_t place : places) {
        if (place < 0 || place == std::numeric_limits<std::int64_t>::max())
            throw error("an element of ngram_indexes is out of range");
        width = std::max(width, place + 1);
    }
    sizes to = c.in(0).sizes();
    std::int64_t const length = to.back();
    to.back() = width;
    tensor const out = tensor::empty(dtype::float32, to);
    std::int64_t const rows = to.size() == 2 ? to[0] : 1;
    for (std::int64_t r = 0; r != rows; ++r) {
        std::span const row(out.data<float>() + r * width, static_cast<std::size_t>(width));
        std::ranges::fill(row, 0.0F);
        auto const of_row = tokens.subspan(static_cast<std::size_t>(r * length), static_cast<std::size_t>(length));
        std::vector<std::int64_t> const counts = counts_of(of_row, table, places.size(), lengths, skips);
        for (std::size_t i = 0; i != counts.size(); ++i) {
            if (counts[i] == 0) continue;
            float const weight = mode == "TF" || weights.empty() ? 1.0F : weights[i];
            row[static_cast<std::size_t>(places[i])] = (mode == "IDF" ? 1.0F : static_cast<float>(counts[i])) * weight;
        }
    }
    return to_device(out, c.where());
}

results tf_idf_vectorizer(call const& c) {
    tensor const& x = c.in(0);
    if (x.rank() != 1 && x.rank() != 2) throw error("the input must have shape [C] or [N, C]");
    if (x.is_strings()) {
        tensor const from = x.contiguous();
        std::span<std::string const> const tokens = from.strings();
        return vectorized<std::string>(c, tokens, c.strings("pool_strings"));
    }
    std::vector<std::int64_t> const tokens = c.integers(0);
    return vectorized<std::int64_t>(c, tokens, c.ints("pool_int64s"));
}

} // namespace

rows text_features() {
    static constexpr row all[] = {
        {"TfIdfVectorizer", tf_idf_vectorizer},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
