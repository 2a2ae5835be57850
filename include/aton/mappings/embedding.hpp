// SPDX-License-Identifier: MIT
// Embeddings: rows of a weight by index, and their sums, means and maxima over bags; and the gradient of the weight.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/long_axes.hpp>
#include <aton/mappings/detail/repeated_writes.hpp>
#include <aton/mappings/norm.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

using bag_results = std::tuple<value, optional_value, optional_value, optional_value>;

enum class bag_mode : std::int64_t { sum, mean, max };

/// The arguments of an embedding_bag call; padding_idx is not negative.
struct bag_options {
    bag_mode mode = bag_mode::sum;
    bool include_last_offset = false;
    std::optional<std::int64_t> padding_idx;
    bool counts_bags = false; ///< sums have one size, which is 0, per bag, not per offset
};

/// (bags, indices, 1): whether an index belongs to a bag. Bag b starts at offsets[b] and ends where the next one starts.
inline value bag_membership(graph<7> g, value indices, value offsets, bag_options const& options) {
    value const count = g.op<"Shape">(indices);
    value const positions = range_to(g, [&] { return squeeze(g, count, std::int64_t{0}); });
    value const starts = g.cast(offsets, dtype::int64);
    value const all =
        options.include_last_offset ? starts : g.op<"Concat">(safe_vector<value>{starts, count}, attr::axis_i(0));
    auto const part = [&](std::int64_t start, std::int64_t end) -> value {
        if (g.opset() < 10) return slice(g, all, 0, start, end);
        return g.within<10>().op<"Slice">(all, g.ints({start}), g.ints({end}));
    };
    value const from = unsqueeze(g, part(0, -1), 1);
    value const to = unsqueeze(g, part(1, to_the_end), 1);
    value const row = unsqueeze(g, positions, std::int64_t{0});
    value inside = g.op<"And">(g.op<"Not">(is_less(g, row, from)), is_less(g, row, to));
    if (options.padding_idx) {
        value const padding = is_equal(g, indices, g.scalar(*options.padding_idx, indices.dtype()));
        inside = g.op<"And">(inside, unsqueeze(g, g.op<"Not">(padding), std::int64_t{0}));
    }
    return unsqueeze(g, inside, 2);
}

/// The sums of the bags of (indices, n) rows, and how many rows each has: each row is added to that of its bag. Rows in
/// no bag are added to one more, which is dropped.
inline std::tuple<value, value> sum_by_bag(graph<16> g, value rows, value indices, value offsets,
                                           bag_options const& options) {
    value const starts = g.cast(offsets, dtype::int64);
    value const first = options.include_last_offset ? slice(g, starts, 0, 0, -1) : starts;
    value const end = options.include_last_offset ? slice(g, starts, 0, -1, to_the_end) : value(g.op<"Shape">(indices));
    value const position = arithmetic_sequence(g, 0, g.size(indices, 0));
    auto const before = [](graph<13> b, value start, value at) -> value { return b.op<"LessOrEqual">(start, at); };
    value bag = g.op<"Sub">(search_sorted(g, first, position, before), 1);
    value inside = g.op<"Less">(position, end);
    if (options.padding_idx)
        inside =
            g.op<"And">(inside, g.op<"Not">(g.op<"Equal">(indices, g.scalar(*options.padding_idx, indices.dtype()))));
    value const place = unsqueeze(g, g.op<"Where">(inside, bag, g.scalar(-1, dtype::int64)), 1);
    dtype const type = opmath_type(rows.dtype());
    value const bags = g.op<"Add">(g.op<"Shape">(first), 1);
    auto const added = [&](value each, value zeros) {
        return slice(g, add_at_positions(g, zeros, place, each), 0, 0, -1);
    };
    value const zero = g.scalar(0, type);
    value const width = g.op<"Shape">(rows, attr::start_i(1));
    value const sums = added(g.cast(rows, type),
                             g.op<"Expand">(zero, g.op<"Concat">(safe_vector<value>{bags, width}, attr::axis_i(0))));
    value const ones = g.op<"Expand">(g.scalar(1, type), g.op<"Shape">(indices));
    return {sums, added(ones, g.op<"Expand">(zero, bags))};
}

/// The bag of each index.
inline value bag_of_each(graph<9> g, value indices, value offsets, bag_options const& options) {
    value const starts = g.cast(offsets, dtype::int64);
    value const first = options.include_last_offset ? slice(g, starts, 0, 0, -1) : starts;
    value const position = arithmetic_sequence(g, 0, g.size(indices, 0));
    value const begun = g.op<"Not">(is_less(g, position, unsqueeze(g, first, 1))); // (bags, indices)
    return g.op<"Sub">(reduce_sum(g, g.cast(begun, dtype::int64), safe_vector<std::int64_t>{0}, false), 1);
}

/// The number of indices in each bag without the padding, where `inside` is (bags, indices, 1).
inline value bag_sizes(graph<9> g, value inside, dtype type) {
    return g.cast(reduce_sum(g, g.cast(inside, dtype::int64), safe_vector<std::int64_t>{1, 2}, false), type);
}

/// The index of the first row of each bag that has the maximum; 0 for a bag without rows. `inside` is (bags, indices, 1).
inline value first_maximum(graph<9> g, value rows, value largest, value inside, value is_empty_bag, value indices) {
    value reached = g.cast(g.op<"And">(inside, is_equal(g, rows, unsqueeze(g, largest, 1))), dtype::int32);
    if (indices.size(0).is(0) ||
        g.context().may_be_empty) { // ArgMax of no elements does not run: one more that is never a maximum
        value const never = unsqueeze(g, g.cast(is_less(g, largest, largest), dtype::int32), 1);
        reached = g.op<"Concat">(safe_vector<value>{reached, never}, attr::axis_i(1));
        value const zero = unsqueeze(g, g.scalar(0, indices.dtype()), 0);
        indices = g.op<"Concat">(safe_vector<value>{indices, zero}, attr::axis_i(0));
    }
    value const place = g.op<"ArgMax">(reached, attr::axis_i(1), attr::keepdims_i(0));
    return g.op<"Where">(is_empty_bag, g.scalar(0, indices.dtype()), gather_of(g, indices, place, 0));
}

/// The reduced bags, the bag of each index, and the sizes and the indices of the maxima: in modes that do not need
/// them, ATen has no bags and sizes of 0.
inline bag_results embedding_bag_of(graph<9> g, value weight, value indices, value offsets, optional_value per_sample,
                                    bag_options const& options) {
    if (indices.rank() != 1) return g.unsupported("2-d indices: the bags must be given by offsets");
    dtype const t = weight.dtype();
    std::int64_t const over[] = {1};
    dtype const index = indices.dtype() == dtype::int64 ? dtype::int64 : offsets.dtype();
    bool const has_no_bags = options.mode == bag_mode::sum && !options.padding_idx && t != dtype::float64;
    value const bags =
        has_no_bags ? g.constant(tensor{index, {0}, {}}) : g.cast(bag_of_each(g, indices, offsets, options), index);
    sym_int const given = g.size(offsets, 0);
    value const none = filled(
        g, safe_vector<sym_int>{options.counts_bags && options.include_last_offset ? given - 1 : given}, 0, index);
    value rows = g.op<"Gather">(weight, indices, attr::axis_i(0));
    if (per_sample) rows = g.op<"Mul">(rows, unsqueeze(g, *per_sample, 1));
    if (g.opset() >= 16 && options.mode != bag_mode::max && are_many(offsets.size(0), few_boundaries)) {
        auto const [sums, sizes] = sum_by_bag(g.within<16>(), rows, indices, offsets, options);
        if (options.mode == bag_mode::sum) return {g.cast(sums, t), bags, none, none};
        value const counts = g.cast(sizes, index);
        value const size = unsqueeze(g, g.op<"Max">(safe_vector<value>{sizes, g.scalar(1, sizes.dtype())}), 1);
        return {g.cast(g.op<"Div">(sums, size), t), bags, counts, counts};
    }
    value const inside = bag_membership(g, indices, offsets, options);
    rows = unsqueeze(g, rows, std::int64_t{0});
    value const zero = g.scalar(0, t);
    if (options.mode == bag_mode::max) {
        value const largest = extreme<"ReduceMax">(
            g, g.op<"Where">(inside, rows, g.scalar(-std::numeric_limits<double>::infinity(), t)), over, false);
        value const is_empty_bag =
            is_less(g, reduce<"ReduceMax">(g, g.cast(inside, dtype::int32), over, false), 1); // (bags, 1)
        value const at = first_maximum(g, rows, largest, inside, is_empty_bag, g.cast(indices, index));
        return {g.op<"Where">(is_empty_bag, zero, largest), bags, bag_sizes(g, inside, index), at};
    }
    value const sum = reduce_sum(g, g.op<"Where">(inside, rows, zero), over, false);
    if (options.mode == bag_mode::sum) return {sum, bags, none, none};
    value const size = reduce_sum(g, g.cast(inside, t), over, false);
    value const counts = bag_sizes(g, inside, index);
    return {g.op<"Div">(sum, max_of(g, size, g.scalar(1, t))), bags, counts, counts};
}

inline constexpr auto embedding = symbolic<"aten::embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse)">(
    [](graph<7> g, value weight, value indices, sym_int, bool, bool) -> value {
        return g.op<"Gather">(weight, indices, attr::axis_i(0));
    });

inline constexpr auto embedding_bag =
    symbolic<"aten::embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
             "include_last_offset)">([](graph<9> g, value weight, value indices, value offsets, bool, std::int64_t mode,
                                        bool, optional_value per_sample, bool include_last) {
        return embedding_bag_of(g, weight, indices, offsets, per_sample, {bag_mode{mode}, include_last, std::nullopt});
    });

/// A negative padding_idx counts from the end.
inline constexpr auto embedding_bag_padded =
    symbolic<"aten::embedding_bag.padding_idx(weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
             "per_sample_weights, include_last_offset, padding_idx)">(
        [](graph<9> g, value weight, value indices, value offsets, bool, std::int64_t mode, bool,
           optional_value per_sample, bool include_last, std::optional<std::int64_t> padding) {
            if (padding && *padding < 0) padding = *padding + g.size(weight, 0).constant();
            return embedding_bag_of(g, weight, indices, offsets, per_sample, {bag_mode{mode}, include_last, padding});
        });

/// A negative padding_idx means none.
template <bool CountsBags>
inline constexpr auto embedding_bag_forward = [](graph<9> g, value weight, value indices, value offsets, bool,
                                                 std::int64_t mode, bool, optional_value per_sample, bool include_last,
                                                 std::int64_t padding_idx) {
    auto const padding = padding_idx < 0 ? std::nullopt : std::optional(padding_idx);
    return embedding_bag_of(
        g, weight, indices, offsets, per_sample, {bag_mode{mode}, include_last, padding, CountsBags});
};

/// A computed number of classes is not negative.
inline constexpr auto one_hot =
    symbolic<"aten::one_hot(self, num_classes)">([](graph<7> g, value self, sym_int num_classes) {
        bool const is_given = !num_classes.is_constant() || num_classes.constant() >= 0;
        value const depth =
            is_given
                ? g.to_value(num_classes)
                : value(g.op<"Add">(reduce<"ReduceMax">(g, flat(g, self), safe_vector<std::int64_t>{0}, false), 1));
        if (g.opset() < 11) { // negative indices have no class there
            value const classes = arithmetic_sequence(g, 0, depth);
            value const chosen = is_equal(g, unsqueeze(g, self, self.rank()), classes);
            return g.cast(chosen, dtype::int64);
        }
        value const y = g.within<11>().op<"OneHot">(at_least_1d(g, self), depth, g.ints({0, 1}), attr::axis_i(-1));
        return self.rank() == 0 ? squeeze(g, y, 0) : y;
    });

/// Scales the rows that are looked up down to a norm of max_norm if theirs is larger.
inline constexpr auto embedding_renorm = symbolic<"aten::embedding_renorm(self, indices, max_norm, norm_type)">(
    [](graph<9> g, value self, value indices, double max_norm, double norm_type) -> value {
        if (self.rank() != 2) return g.unsupported("a weight that is not a matrix");
        std::int64_t const last[] = {1};
        value const norms = g.cast(vector_norm(g, self, norm_type, last, true), dtype::float64);
        value const scale = g.op<"Div">(g.scalar(max_norm, dtype::float64), g.op<"Add">(norms, 1e-7));
        value const at = flat(g, g.cast(indices, dtype::int64));
        value const none = filled(g, safe_vector<sym_int>{g.size(self, 0)}, 0, dtype::bool_);
        value const ones = filled(g, safe_vector<sym_int>{g.size(at, 0)}, 1, dtype::bool_);
        value const named = unsqueeze(g, write_elements_at(g, none, at, ones, 0), 1);
        value const changes = g.op<"And">(named, is_greater(g, norms, max_norm));
        value const wide = g.cast(self, opmath_type(self.dtype()));
        value const scaled = g.op<"Mul">(wide, g.cast(scale, wide.dtype()));
        return g.cast(g.op<"Where">(changes, scaled, wide), self.dtype());
    });

/// Adds gradients [n, width] to the rows of zeros that were looked up.
inline value added_rows(graph<16> g, value each, value indices, sym_int rows) {
    value const zeros = filled(g, safe_vector<sym_int>{rows, g.size(each, 1)}, 0, each.dtype());
    value const at = expand(g, unsqueeze(g, indices, 1), safe_vector<sym_int>{-1, g.size(each, 1)});
    return g.op<"ScatterElements">(zeros, at, each, attr::axis_i(0), attr::reduction_s("add"));
}
/// Up to opset 15, ScatterElements cannot add. Where, not a product of matrices: a gradient may be infinite.
inline value added_rows(graph<9, 15> g, value each, value indices, sym_int rows) {
    value const chosen = is_equal(g, unsqueeze(g, arithmetic_sequence(g, 0, rows), 1), indices);
    value const all =
        g.op<"Where">(unsqueeze(g, chosen, 2), unsqueeze(g, each, std::int64_t{0}), g.scalar_like(0, each));
    return reduce_sum(g, all, safe_vector<std::int64_t>{1}, false);
}

/// The gradient of the padding row is 0. With scale_grad_by_freq, each gradient is divided by how often its row was
/// looked up.
template <class Graph>
inline constexpr auto embedding_dense_backward =
    [](Graph g, value grad, value indices, size num_weights, size padding_idx, bool scale_grad_by_freq) -> value {
    if (!is_floating(grad.dtype())) return g.unsupported("the gradient of an embedding of integers");
    dtype const type = opmath_type(grad.dtype());
    sym_int const width = grad.rank() == 0 ? sym_int(1) : g.size(grad, grad.rank() - 1);
    if (is_empty(grad)) return filled(g, safe_vector<sym_int>{num_weights, width}, 0, grad.dtype());
    value const at = flat(g, g.cast(indices, dtype::int64));
    value each = reshape(g, g.cast(grad, type), {-1, width});
    if (scale_grad_by_freq) {
        value const ones = filled(g, safe_vector<sym_int>{g.size(each, 0), 1}, 1, type);
        value const counts = gather_of(g, added_rows(g, ones, at, num_weights), at, 0);
        each = g.template op<"Mul">(each, g.template op<"Reciprocal">(counts));
    }
    if (!(padding_idx.is_constant() && padding_idx.constant() < 0)) {
        value const is_padding = unsqueeze(g, g.template op<"Equal">(at, padding_idx), 1);
        each = g.template op<"Where">(is_padding, g.scalar_like(0, each), each);
    }
    return g.cast(added_rows(g, each, at, num_weights), grad.dtype());
};

} // namespace detail

// scale_grad_by_freq, sparse, and the padding_idx of aten::embedding only affect the gradient.
inline constexpr auto embedding = table(
    detail::embedding, detail::embedding_bag, detail::embedding_bag_padded,
    symbolic<"aten::_embedding_bag(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, "
             "include_last_offset, padding_idx)">(detail::embedding_bag_forward<true>),
    symbolic<"aten::_embedding_bag_forward_only(weight, indices, offsets, scale_grad_by_freq, mode, sparse, "
             "per_sample_weights, include_last_offset, padding_idx)">(detail::embedding_bag_forward<false>),
    detail::one_hot, detail::embedding_renorm,
    symbolic<"aten::embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)">(
        detail::embedding_dense_backward<graph<16>>),
    symbolic<"aten::embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)">(
        detail::embedding_dense_backward<graph<9, 15>>));

} // namespace ATON_NAMESPACE::mappings
