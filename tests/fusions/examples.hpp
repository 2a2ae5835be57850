// SPDX-License-Identifier: MIT
// What the patterns of the built-in rewrites may capture: at least one example for each, and similar ones that are not rewritten.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/shape.hpp>
#include <aton/ir/pattern.hpp>

namespace fusion_tests {

using aton::captured;
using aton::dtype;

/// A captured value, which becomes an input of the graph. `shape` may have symbols; `sizes` are those of a run.
struct input {
    dtype type;
    aton::shape shape;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> elements = {}; ///< of a run; empty: random
};

/// One capture: a value, or anything else.
struct part {
    bool is_value = false;
    input value = {};
    captured other = {};
};

inline part tensor(std::vector<std::int64_t> const& sizes, dtype type = dtype::float32) {
    return {true, {type, aton::shape(sizes), sizes}};
}
/// A tensor whose first size is the symbol "batch", 3 in the run.
inline part batch(std::vector<std::int64_t> const& rest, dtype type = dtype::float32) {
    std::vector<aton::dim> dims{aton::dim("batch")};
    dims.insert(dims.end(), rest.begin(), rest.end());
    std::vector<std::int64_t> sizes{3};
    sizes.insert(sizes.end(), rest.begin(), rest.end());
    return {true, {type, aton::shape(dims), sizes}};
}
inline part elements(std::vector<std::int64_t> const& sizes, std::vector<std::int64_t> all, dtype type) {
    return {true, {type, aton::shape(sizes), sizes, std::move(all)}};
}
/// Rows of a mask that show every key but one, and the first row none.
inline part mask(std::vector<std::int64_t> const& sizes) {
    std::int64_t count = 1;
    for (std::int64_t s : sizes) count *= s;
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i != count; ++i) all.push_back(i < sizes.back() || i % (sizes.back() + 1) == 0 ? 0 : 1);
    return elements(sizes, std::move(all), dtype::bool_);
}
/// The same without the row that shows no key.
inline part open_mask(std::vector<std::int64_t> const& sizes) {
    part m = mask(sizes);
    m.value.elements[1] = 1;
    return m;
}
inline part number(double n) {
    part p;
    p.other.number = aton::scalar(n);
    return p;
}
inline part integer(std::int64_t n) {
    part p;
    p.other.number = aton::scalar(n);
    return p;
}
inline part list(std::vector<std::int64_t> integers) {
    part p;
    p.other.integers = std::move(integers);
    return p;
}
inline part text(std::string t) {
    part p;
    p.other.text = std::move(t);
    return p;
}
inline part type(dtype t) {
    part p;
    p.other.type = t;
    return p;
}

struct example {
    std::string rewrite;
    std::vector<part> captures;
    bool applies = true; ///< otherwise the nodes must stay
};

// clang-format off: one example per line
inline std::vector<example> all_examples() {
    constexpr std::int64_t to_end = 9223372036854775807;
    return {
        {"hard_swish", {tensor({3, 5})}}, {"hard_swish", {tensor({2, 5}, dtype::float16)}}, {"hard_swish", {tensor({3, 5}, dtype::float64)}, false},
        {"mish", {batch({5})}}, {"mish", {tensor({2, 5}, dtype::float16)}}, {"mish", {tensor({3, 5}, dtype::float64)}},
        {"gelu", {batch({5})}}, {"gelu", {tensor({2, 5}, dtype::float16)}}, {"gelu", {tensor({3, 5}, dtype::float64)}},
        {"gelu_tanh", {tensor({3, 5})}}, {"gelu_tanh", {tensor({2, 5}, dtype::float16)}}, {"gelu_tanh", {tensor({3, 5}, dtype::float64)}},
        {"swish", {tensor({3, 5})}}, {"swish", {tensor({2, 5}, dtype::float16)}}, {"swish", {tensor({3, 5}, dtype::float64)}},
        {"scaled_swish", {tensor({3, 5}), number(1.702)}}, {"scaled_swish", {tensor({3, 5}, dtype::float64), number(1.702)}, false},
        {"rms_normalization", {tensor({2, 3, 5}), tensor({5}), list({-1}), number(1e-5)}},
        {"rms_normalization", {batch({7, 5}), tensor({5}), list({2}), number(1e-3)}},
        {"rms_normalization", {tensor({2, 3, 5}), tensor({5}), list({1}), number(1e-5)}, false},
        {"rms_normalization", {tensor({2, 3, 5}), tensor({5}), list({1, 2}), number(1e-5)}, false},
        {"rms_normalization", {tensor({2, 3, 5}), tensor({1}), list({-1}), number(1e-5)}, false},
        {"rms_normalization", {tensor({2, 3, 5}), tensor({3, 5}), list({-1}), number(1e-5)}, false},
        {"rms_normalization", {tensor({2, 3, 5}, dtype::float64), tensor({5}, dtype::float64), list({-1}), number(1e-5)}, false},
        {"rms_normalization", {tensor({2, 3, 5}), tensor({5}), list({-1}), number(-0.25)}, false},
        {"rms_normalization_of_half", {tensor({2, 3, 5}, dtype::float16), tensor({5}, dtype::float16), list({-1}), number(1e-5), type(dtype::float16)}},
        {"rms_normalization_of_half", {tensor({2, 3, 5}, dtype::float16), tensor({5}), list({-1}), number(1e-5), type(dtype::float32)}, false},
        {"layer_normalization", {tensor({2, 3, 5}), tensor({5}), list({-1}), number(1e-5)}},
        {"layer_normalization", {batch({5}), tensor({5}), list({1}), number(1e-3)}},
        {"layer_normalization", {tensor({2, 3, 5}), tensor({5}), list({1}), number(1e-5)}, false},
        {"layer_normalization", {tensor({2, 3, 5}), tensor({1, 5}), list({-1}), number(1e-5)}, false},
        {"layer_normalization_bias", {tensor({2, 3, 5}), tensor({5}), number(1e-3), tensor({5})}},
        {"layer_normalization_bias", {tensor({2, 3, 5}), tensor({5}), number(1e-3), tensor({1})}, false},
        {"layer_normalization_bias", {tensor({2, 3, 5}), tensor({5}), number(1e-3), tensor({3, 5})}, false},
        {"rotary_embedding", {tensor({2, 3, 5, 8}), tensor({1, 5, 4}), list({4}), list({to_end}), list({3}), integer(-1), integer(2)}},
        {"rotary_embedding", {tensor({2, 3, 5, 8}), tensor({2, 5, 4}), list({4}), list({8}), list({-1}), integer(3), integer(-1)}},
        {"rotary_embedding", {batch({3, 5, 8}), tensor({1, 5, 4}), list({4}), list({to_end}), list({3}), integer(-1), integer(2)}},
        {"rotary_embedding", {tensor({1, 3, 5, 6}), tensor({1, 5, 3}), list({3}), list({6}), list({3}), integer(3), integer(2)}},
        {"rotary_embedding", {tensor({2, 3, 5, 8}), tensor({1, 1, 4}), list({4}), list({to_end}), list({3}), integer(-1), integer(2)}, false},
        {"rotary_embedding", {tensor({2, 3, 4, 8}), tensor({1, 4, 4}), list({3}), list({to_end}), list({3}), integer(-1), integer(2)}, false},
        {"attention.both", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1)}},
        {"attention.both", {batch({3, 5, 8}), batch({3, 7, 8}), batch({3, 7, 4}), number(0.6), integer(3)}},
        {"attention.both", {tensor({2, 3, 5, 8}), tensor({1, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1)}, false},
        {"attention.both", {tensor({2, 3, 5, 8}), tensor({2, 1, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1)}, false},
        {"attention.both", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 1, 7, 4}), number(0.6), integer(-1)}, false},
        {"attention.both", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(1)}, false},
        {"attention.queries", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1)}},
        {"attention.product", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1)}},
        {"attention.divided", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(1.6), integer(-1)}},
        {"attention.divided", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(-1.6), integer(-1)}, false},
        {"attention.both_boolean", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({5, 7})}},
        {"attention.both_boolean_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), mask({2, 1, 5, 7})}},
        {"attention.both_boolean_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), mask({1, 3, 5, 7})}},
        {"attention.both_boolean_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({2, 1, 1, 7})}, false},
        {"attention.both_boolean_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({5, 1})}, false},
        {"attention.both_added", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({2, 1, 5, 7})}},
        {"attention.both_added_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({5, 7})}},
        {"attention.queries_boolean", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({5, 7})}},
        {"attention.queries_added", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({3, 5, 7})}},
        {"attention.product_boolean", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), open_mask({2, 1, 5, 7})}},
        {"attention.product_added", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({2, 3, 5, 7})}},
        {"attention.product_added", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(0.6), integer(-1), tensor({7})}, false},
        {"attention.divided_boolean", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(1.6), integer(-1), open_mask({5, 7})}},
        {"attention.divided_added", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), number(1.6), integer(-1), tensor({2, 1, 5, 7})}},
        {"attention.unscaled", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), integer(-1)}},
        {"attention.unscaled", {tensor({3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), integer(-1)}, false},
        {"attention.unscaled_boolean_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), integer(3), mask({2, 1, 5, 7})}},
        {"attention.unscaled_added_safe", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), integer(-1), tensor({1, 3, 5, 7})}},
        {"gelu_tanh_factored", {tensor({3, 5})}}, {"gelu_tanh_factored", {tensor({2, 5}, dtype::float16)}}, {"gelu_tanh_factored", {tensor({3, 5}, dtype::float64)}},
        {"centered_normalization", {tensor({2, 3, 5}), tensor({5}), list({-1}), number(1e-5)}},
        {"centered_normalization", {batch({5}), tensor({5}), list({1}), number(1e-3)}},
        {"centered_normalization", {tensor({2, 3, 5}), tensor({5}), list({1}), number(1e-5)}, false},
        {"rotary_embedding_of_heads", {tensor({2, 5, 24}), tensor({2, 5, 4}), tensor({2, 5, 4}), list({0, 0, 3, 8}), integer(0), integer(0)}},
        {"rotary_embedding_of_heads", {batch({5, 24}), batch({5, 3}), batch({5, 3}), list({0, 0, -1, 8}), integer(1), integer(6)}},
        {"rotary_embedding_of_heads", {tensor({2, 5, 24}), tensor({2, 5, 4}), tensor({2, 5, 4}), list({2, 5, 3, 8}), integer(0), integer(0)}},
        {"rotary_embedding_of_heads", {tensor({2, 6, 24}), tensor({4, 3, 4}), tensor({4, 3, 4}), list({4, 3, 3, 8}), integer(0), integer(0)}, false},
        {"attention_of_heads", {tensor({2, 5, 24}), tensor({2, 7, 24}), tensor({2, 7, 12}), number(0.6), integer(1), list({0, 0, 3, 8}), list({0, 0, 3, 8}), list({0, -1, 3, 4}), list({0, 0, 12})}},
        {"attention_of_heads", {batch({5, 24}), batch({7, 8}), batch({7, 4}), number(0.6), integer(0), list({-1, 5, 3, 8}), list({0, 0, -1, 8}), list({0, 0, 1, -1}), list({0, 5, -1})}},
        {"attention_of_heads", {tensor({2, 5, 24}), tensor({2, 7, 24}), tensor({2, 7, 12}), number(0.6), integer(0), list({0, 0, 3, 8}), list({0, 0, 3, 8}), list({0, 0, 3, 4}), list({0, -1, 4})}, false},
        {"attention_of_heads", {tensor({2, 5, 24}), tensor({2, 7, 24}), tensor({2, 7, 12}), number(0.6), integer(0), list({0, 0, 3, 8}), list({0, 0, 3, 8}), list({0, 0, 3, 4}), list({5, 2, 12})}, false},
        {"attention_of_heads_mask", {tensor({2, 5, 24}), tensor({2, 7, 8}), tensor({2, 7, 8}), mask({2, 1, 5, 7}), number(0.6), number(1.5), integer(0), list({0, 0, 6, 4}), list({0, 0, 2, 4}), list({2, 7, 2, 4}), list({2, 5, 24})}},
        {"attention.unscaled_boolean", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), integer(3), mask({2, 1, 5, 7})}},
        {"attention.unscaled_added", {tensor({2, 3, 5, 8}), tensor({2, 3, 7, 8}), tensor({2, 3, 7, 4}), integer(-1), tensor({1, 3, 5, 7})}},
        {"attention_of_heads_cache", {tensor({2, 5, 24}), tensor({2, 3, 8}), tensor({2, 3, 12}), tensor({2, 2, 7, 4}), tensor({2, 2, 7, 6}), number(0.6), list({0, 0, 6, 4}), list({2, -1, 2, 4}), list({0, 0, 2, 6}), list({0, 0, 36})}},
        {"attention_of_heads_cache", {tensor({2, 5, 24}), tensor({2, 3, 8}), tensor({2, 3, 12}), tensor({2, 2, 7, 4}), tensor({2, 2, 7, 6}), number(0.6), list({0, 0, 6, 4}), list({2, -1, 2, 4}), list({0, 0, 2, 6}), list({5, 2, 36})}, false},
        {"attention_of_heads_cache_mask", {tensor({2, 5, 24}), tensor({2, 3, 8}), tensor({2, 3, 8}), mask({2, 1, 5, 10}), tensor({2, 2, 7, 4}), tensor({2, 2, 7, 4}), number(0.6), number(1.5), list({0, 0, 6, 4}), list({0, 0, 2, 4}), list({2, 3, 2, 4}), list({2, 5, 24})}},
        {"attention_of_heads_cache_mask", {tensor({2, 5, 24}), tensor({2, 3, 8}), tensor({2, 3, 8}), mask({2, 1, 5, 10}), tensor({2, 2, 7, 4}), tensor({2, 2, 7, 4}), number(0.6), number(0), list({0, 0, 6, 4}), list({0, 0, 2, 4}), list({2, 3, 2, 4}), list({5, 2, 24})}, false},
        {"attention_of_rotated_heads_cache_mask", {tensor({2, 5, 6, 4}), tensor({2, 5, 2, 4}), tensor({2, 5, 12}), tensor({2, 5, 2}), tensor({2, 5, 2}), mask({2, 1, 5, 12}), tensor({2, 2, 7, 4}), tensor({2, 2, 7, 6}), number(0.6), number(1.5), integer(1), integer(0), list({0, 0, 2, 6}), list({0, 0, 36})}},
        {"attention_of_rotated_heads_cache_mask", {tensor({2, 5, 6, 4}), tensor({2, 5, 2, 4}), tensor({2, 5, 12}), tensor({2, 5, 2}), tensor({2, 5, 2}), mask({2, 1, 5, 12}), tensor({2, 2, 7, 4}), tensor({2, 2, 7, 6}), number(0.6), number(0), integer(1), integer(0), list({0, 0, 2, 6}), list({5, 2, 36})}, false},
        {"partial_rotary_embedding", {tensor({2, 3, 5, 10}), tensor({2, 5, 3}), tensor({2, 5, 3}), list({6}), list({9223372036854775807}), list({3}), integer(3), integer(1)}},
        {"partial_rotary_embedding", {tensor({2, 3, 5, 10}), tensor({2, 5, 3}), tensor({2, 5, 3}), list({6}), list({9}), list({3}), integer(-1), integer(0)}, false},
        {"attention_cache", {tensor({2, 6, 5, 8}), tensor({2, 2, 3, 8}), tensor({2, 2, 3, 4}), tensor({2, 2, 7, 8}), tensor({2, 2, 7, 4}), number(0.6)}},
        {"attention_cache_mask", {tensor({2, 6, 5, 8}), tensor({2, 2, 3, 8}), tensor({2, 2, 3, 4}), mask({2, 1, 5, 10}), tensor({2, 2, 7, 8}), tensor({2, 2, 7, 4}), number(0.6), number(1.5)}},
        {"grid_of_matrix", {tensor({4, 7}), elements({1}, {3}, dtype::int64), elements({}, {5}, dtype::int64), list({-1, 1, 1, 1}), list({1, 1, 1, -1}), list({4}), integer(4)}},
        {"grid_of_matrix", {tensor({4, 7}), elements({1}, {3}, dtype::int64), elements({}, {5}, dtype::int64), list({1, -1, 1, 1}), list({1, 1, 1, -1}), list({4}), integer(4)}, false},
        {"grouped_attention", {tensor({2, 6, 5, 8}), tensor({2, 2, 7, 8}), tensor({2, 2, 7, 4}), number(0.6), integer(0), list({1, 2, 3, 1, 1}), list({0, 6, -1, 8}), list({0, 6, -1, 4})}},
        {"grouped_attention", {tensor({2, 6, 7, 8}), tensor({2, 2, 7, 8}), tensor({2, 2, 7, 4}), number(0.6), integer(1), list({1, 1, 3, 1, 1}), list({0, 6, -1, 8}), list({0, 6, -1, 4})}},
        {"grouped_attention", {tensor({1, 6, 5, 8}), tensor({1, 2, 7, 8}), tensor({1, 2, 7, 4}), number(0.6), integer(0), list({1, 2, 3, 7, 1}), list({1, 6, -1, 8}), list({1, 6, 7, 4})}},
        {"grouped_attention", {tensor({2, 6, 5, 8}), tensor({2, 2, 7, 8}), tensor({2, 2, 7, 4}), number(0.6), integer(0), list({2, 2, 3, 1, 1}), list({2, 6, 7, 8}), list({2, 6, -1, 4})}},
        {"grouped_attention", {tensor({2, 6, 5, 8}), tensor({1, 2, 7, 8}), tensor({1, 2, 7, 4}), number(0.6), integer(0), list({2, 2, 3, 1, 1}), list({0, 6, -1, 8}), list({0, 6, -1, 4})}, false},
        {"grouped_attention", {tensor({2, 6, 3, 8}), tensor({2, 2, 1, 8}), tensor({2, 2, 1, 4}), number(0.6), integer(0), list({1, 2, 3, 7, 1}), list({0, 6, -1, 8}), list({0, 6, -1, 4})}, false},
        {"grouped_attention_mask", {tensor({2, 6, 5, 8}), tensor({2, 2, 7, 8}), tensor({2, 2, 7, 4}), open_mask({5, 7}), number(0.6), number(1.5), integer(0), list({1, 2, 3, 1, 1}), list({0, 6, -1, 8}), list({0, 6, -1, 4})}},
        {"double_negation", {tensor({3, 5})}}, {"double_negation", {tensor({3, 5}, dtype::int64)}},
        {"add_negation", {tensor({3, 5}), tensor({5})}}, {"add_negation", {tensor({3, 1}, dtype::int32), batch({5}, dtype::int32)}},
        {"subtract_negation", {tensor({3, 5}), tensor({5})}}, {"subtract_negation", {tensor({3, 1}, dtype::int64), tensor({5}, dtype::int64)}},
        {"multiply_negations", {tensor({3, 1}), tensor({5})}},
        {"absolute_negation", {tensor({3, 5}, dtype::int64)}}, {"repeated_abs", {tensor({3, 5})}}, {"repeated_relu", {tensor({3, 5})}},
        {"repeated_floor", {tensor({3, 5})}}, {"repeated_ceil", {tensor({3, 5})}},
        {"squared_modulus", {tensor({2, 3}), tensor({2, 3}), list({-1}), list({2}), integer(-1), list({2})}},
        {"squared_modulus", {tensor({2, 3}), tensor({2, 3}), list({-1}), list({2}), integer(-1), list({0})}, false},
        {"squared_modulus", {tensor({2, 3}), tensor({2, 3}), list({0}), list({0}), integer(0), list({0})}, false},
        {"sum_of_squares", {tensor({2, 3, 5}), elements({2}, {0, -1}, dtype::int64), integer(0)}},
        {"sum_of_squares", {batch({3, 5}), elements({1}, {1}, dtype::int64), integer(1)}},
        {"sum_of_squares", {tensor({2, 3, 5}, dtype::int32), elements({1}, {1}, dtype::int64), integer(1)}, false},
    };
}
// clang-format on

} // namespace fusion_tests
