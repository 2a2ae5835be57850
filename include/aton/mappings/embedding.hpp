// SPDX-License-Identifier: MIT
// Embeddings: rows of a weight by index, and their sums, means and maxima over bags.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

using bag_results = std::tuple<value, optional_value, optional_value, optional_value>;

enum class bag_mode : std::int64_t { sum, mean, max };

/// The arguments of an embedding_bag call; padding_idx is not negative.
struct bag_options {
    bag_mode mode = bag_mode::sum;
    bool include_last_offset = false;
    std::optional<std::int64_t> padding_idx;
};

/// (bags, indices, 1): whether an index belongs to a bag. Bag b starts at offsets[b] and ends where the next one starts.
inline value bag_membership(graph<13> g, value indices, value offsets, bag_options const& options) {
    value const count = g.op<"Shape">(indices);
    value const positions =
        g.op<"Range">(g.scalar(0, dtype::int64), squeeze(g, count, std::int64_t{0}), g.scalar(1, dtype::int64));
    value const starts = g.cast(offsets, dtype::int64);
    value const all =
        options.include_last_offset ? starts : g.op<"Concat">(safe_vector<value>{starts, count}, attr::axis_i(0));
    value const from = unsqueeze(g, g.op<"Slice">(all, g.ints({0}), g.ints({-1})), 1);
    value const to =
        unsqueeze(g, g.op<"Slice">(all, g.ints({1}), g.ints({std::numeric_limits<std::int64_t>::max()})), 1);
    value const row = unsqueeze(g, positions, std::int64_t{0});
    value inside = g.op<"And">(g.op<"Not">(g.op<"Less">(row, from)), g.op<"Less">(row, to));
    if (options.padding_idx) {
        value const padding = g.op<"Equal">(indices, g.scalar(*options.padding_idx, indices.dtype()));
        inside = g.op<"And">(inside, unsqueeze(g, g.op<"Not">(padding), std::int64_t{0}));
    }
    return unsqueeze(g, inside, 2);
}

/// The reduced bags. The other results of embedding_bag are only needed for its gradient and are not computed.
inline bag_results embedding_bag(graph<13> g, value weight, value indices, value offsets, optional_value per_sample,
                                 bag_options const& options) {
    if (indices.rank() != 1) return g.unsupported("2-d indices: the bags must be given by offsets");
    dtype const t = weight.dtype();
    std::int64_t const over[] = {1};
    value const inside = bag_membership(g, indices, offsets, options);
    value rows = g.op<"Gather">(weight, indices, attr::axis_i(0));
    if (per_sample) rows = g.op<"Mul">(rows, unsqueeze(g, *per_sample, 1));
    rows = unsqueeze(g, rows, std::int64_t{0});
    value const zero = g.scalar(0, t);
    if (options.mode == bag_mode::max) {
        value const largest = reduce<"ReduceMax">(
            g, g.op<"Where">(inside, rows, g.scalar(-std::numeric_limits<double>::infinity(), t)), over, false);
        value const filled = reduce<"ReduceMax">(g, g.cast(inside, dtype::int32), over, false);
        return {g.op<"Where">(g.op<"Less">(filled, 1), zero, largest), absent, absent, absent};
    }
    value const sum = reduce_sum(g, g.op<"Where">(inside, rows, zero), over, false);
    if (options.mode == bag_mode::sum) return {sum, absent, absent, absent};
    value const size = reduce_sum(g, g.cast(inside, t), over, false);
    return {g.op<"Div">(sum, g.op<"Max">(safe_vector<value>{size, g.scalar(1, t)})), absent, absent, absent};
}

inline constexpr auto embedding_row = [](graph<13> g, value weight, value indices, sym_int, bool, bool) -> value {
    return g.op<"Gather">(weight, indices, attr::axis_i(0));
};

inline constexpr auto embedding_bag_row = [](graph<13> g, value weight, value indices, value offsets, bool,
                                             std::int64_t mode, bool, optional_value per_sample, bool include_last) {
    return embedding_bag(g, weight, indices, offsets, per_sample, {bag_mode{mode}, include_last, std::nullopt});
};

/// A negative padding_idx counts from the end.
inline constexpr auto embedding_bag_padded = [](graph<13> g, value weight, value indices, value offsets, bool,
                                                std::int64_t mode, bool, optional_value per_sample, bool include_last,
                                                std::optional<std::int64_t> padding) {
    if (padding && *padding < 0) padding = *padding + g.size(weight, 0).constant();
    return embedding_bag(g, weight, indices, offsets, per_sample, {bag_mode{mode}, include_last, padding});
};

/// A negative padding_idx means none.
inline constexpr auto embedding_bag_forward = [](graph<13> g, value weight, value indices, value offsets, bool,
                                                 std::int64_t mode, bool, optional_value per_sample, bool include_last,
                                                 std::int64_t padding_idx) {
    auto const padding = padding_idx < 0 ? std::nullopt : std::optional(padding_idx);
    return embedding_bag(g, weight, indices, offsets, per_sample, {bag_mode{mode}, include_last, padding});
};

inline constexpr auto one_hot = [](graph<13> g, value self, std::int64_t num_classes) {
    value const depth =
        num_classes >= 0
            ? g.scalar(num_classes, dtype::int64)
            : value(g.op<"Add">(reduce<"ReduceMax">(g, flat(g, self), safe_vector<std::int64_t>{0}, false), 1));
    value const y = g.op<"OneHot">(at_least_1d(g, self), depth, g.ints({0, 1}), attr::axis_i(-1));
    return self.rank() == 0 ? squeeze(g, y, 0) : y;
};

} // namespace detail

// scale_grad_by_freq, sparse, and the padding_idx of aten::embedding only affect the gradient.
// clang-format off: one row per line
inline constexpr auto embedding = table(
    symbolic<"aten::embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)">(detail::embedding_row),
    symbolic<"aten::embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset)">(detail::embedding_bag_row),
    symbolic<"aten::embedding_bag.padding_idx(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)">(detail::embedding_bag_padded),
    symbolic<"aten::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)">(detail::embedding_bag_forward),
    symbolic<"aten::_embedding_bag_forward_only(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx)">(detail::embedding_bag_forward),
    symbolic<"aten::one_hot(self, num_classes)">(detail::one_hot));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
