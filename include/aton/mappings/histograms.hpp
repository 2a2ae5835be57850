// SPDX-License-Identifier: MIT
// Histograms: aten's histc and bincount.
// Public header.
#pragma once

#include <array>
#include <cstdint>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// Sums the amounts [N] by their indices [N] into a result of size [count].
inline value counted(graph<9> g, value index, value amount, sym_int count) {
    dtype const type = opmath_type(amount.dtype());
    value const shape = g.ints(safe_span(&count, 1));
    if (g.opset() >= 16) {
        value const zeros = expand_by(g, g.scalar(0, type), shape);
        return g.within<16>().op<"ScatterElements">(
            zeros, index, g.cast(amount, type), attr::axis_i(0), attr::reduction_s("add"));
    }
    value const position = arithmetic_sequence(g, 0, count);
    value const hits = is_equal(g, unsqueeze(g, index, 1), position);
    value const amounts = g.op<"Where">(hits, unsqueeze(g, g.cast(amount, type), 1), g.scalar(0, type));
    return reduce_sum(g, amounts, std::array<std::int64_t, 1>{0}, false);
}

/// Counts the elements in [min, max]; elements outside and NaN are ignored. If min == max, the range is that of x, extended
/// by 1 on both sides if all elements are equal.
inline constexpr auto histc = [](graph<9> g, value self, std::int64_t bins, number min, number max) -> value {
    if (is_empty(self)) return filled(g, std::array<sym_int, 1>{bins}, 0, self.dtype());
    value const flat = g.op<"Reshape">(self, g.ints({-1}));
    dtype const type = opmath_type(self.dtype());
    value const x = g.cast(flat, type);
    value low = g.scalar(min, type);
    value high = g.scalar(max, type);
    if (!min.is_constant() || !max.is_constant()) {
        value const none = is_equal(g, low, high);
        low = g.op<"Where">(none, reduce<"ReduceMin">(g, x, iota(1), false), low);
        high = g.op<"Where">(none, reduce<"ReduceMax">(g, x, iota(1), false), high);
        value const widening = g.cast(is_equal(g, low, high), type);
        low = g.op<"Sub">(low, widening);
        high = g.op<"Add">(high, widening);
    } else if (min == max) {
        low = reduce<"ReduceMin">(g, x, iota(1), false); // ATen refuses NaN here
        high = reduce<"ReduceMax">(g, x, iota(1), false);
        value const widening = g.cast(is_equal(g, low, high), type);
        low = g.op<"Sub">(low, widening);
        high = g.op<"Add">(high, widening);
    }
    auto const rounded = [&](value v) { return g.cast(g.cast(v, self.dtype()), type); }; // bfloat16 after each step
    value const scaled = rounded(g.op<"Mul">(rounded(g.op<"Sub">(x, low)), g.scalar_like(bins, x)));
    value const place = rounded(g.op<"Div">(scaled, rounded(g.op<"Sub">(high, low))));
    value const inside = g.op<"And">(is_at_least(g, x, low), is_at_most(g, x, high));
    value const bin = g.cast(g.op<"Where">(inside, place, g.scalar_like(0, x)), dtype::int64);
    value const closed = min_of(g, bin, g.scalar(bins - 1, dtype::int64));
    return g.cast(counted(g, closed, g.cast(inside, type), bins), self.dtype());
};

inline constexpr auto bincount = [](graph<9> g, value self, optional_value weights, sym_int minlength) -> value {
    bool const none = self.shape().element_count() == 0;
    if (none) weights = absent; // for empty input, ATen returns int64 for every dtype of the weights
    value const index = g.cast(self, dtype::int64);
    dtype const type = !weights ? dtype::int64 : weights->dtype() == dtype::float32 ? dtype::float32 : dtype::float64;
    sym_int length = minlength;
    if (!none) {
        value const needed = g.op<"Add">(reduce<"ReduceMax">(g, index, iota(1), false), g.scalar(1, dtype::int64));
        length = value(max_of(g, needed, g.to_value(minlength)));
    }
    value const ones = expand_by(g, g.scalar(1, type), g.shape_of(self));
    return counted(g, index, weights ? g.cast(*weights, type) : ones, length);
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto histograms = table(
    symbolic<"aten::histc(self, bins, min, max)">(detail::histc),
    symbolic<"aten::bincount(self, weights, minlength)">(detail::bincount));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
