// SPDX-License-Identifier: MIT
// Rows that are wrong for NaN, infinities, ties or 0-d tensors; wrong attention.
#include <aton/mappings/activation.hpp>
#include <aton/mappings/attention.hpp>
#include <aton/mappings/binary_math.hpp>
#include <aton/mappings/elementwise_unary.hpp>
#include <aton/mappings/norm.hpp>
#include <aton/mappings/selection.hpp>
#include <aton/mappings/softmax.hpp>
#include <aton/mappings/sorting.hpp>
#include <aton/mappings/unique.hpp>

#include "planted.hpp"

namespace ATON_NAMESPACE::verify::traps {

namespace {

using namespace mappings;
namespace real = mappings::detail;
using axes = std::optional<std::span<std::int64_t const>>;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Replaces NaN in x by another number.
value replace_nan(graph<13> g, value x, double number) {
    return is_floating(x.dtype()) ? real::choose(g, g.op<"IsNaN">(x), g.scalar_like(number, x), x) : x;
}

constexpr auto nan_is_least = table(symbolic<"aten::amax(self, dim, keepdim)">(
    [](graph<13> g, value self, std::span<std::int64_t const> dim, bool keepdim) -> value {
        return extreme<"ReduceMax">(g, replace_nan(g, self, -infinity), axes_or_all(dim, self), keepdim);
    }));
constexpr auto nan_passed_over = table(symbolic<"aten::max.dim(self, dim, keepdim)">(
    [](graph<13> g, value self, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
        auto const [y, index] = real::extreme_dim<"ArgMax">(g, replace_nan(g, self, -infinity), dim, keepdim);
        return {y, index};
    }));
constexpr auto clamp_by_comparing = table(symbolic<"aten::clamp(self, min, max)">(
    [](graph<13> g, value x, std::optional<scalar> low, std::optional<scalar> high) -> value {
        if (!is_floating(x.dtype())) return real::clamp_to_numbers(g, x, low, high);
        value y = x;
        if (low) y = real::choose(g, g.op<"Greater">(y, g.scalar_like(*low, x)), y, g.scalar_like(*low, x));
        if (high) y = real::choose(g, g.op<"Less">(y, g.scalar_like(*high, x)), y, g.scalar_like(*high, x));
        return y;
    }));
constexpr auto relu_by_comparing = table(symbolic<"aten::relu(self)">([](graph<13> g, value x) -> value {
    if (!is_floating(x.dtype())) return real::relu(g, x);
    return real::choose(g, g.op<"Greater">(x, 0), x, g.scalar_like(0, x));
}));
constexpr auto sign_of_nan = table(symbolic<"aten::sign(self)">([](graph<13> g, value x) -> value {
    value const y = real::sign(g, x);
    return is_floating(x.dtype()) ? real::choose(g, g.op<"IsNaN">(x), x, y) : y;
}));
constexpr auto arg_without_nan = table(symbolic<"aten::argmax(self, dim, keepdim)">(
    [](graph<13> g, value self, std::optional<std::int64_t> dim, bool keepdim) -> value {
        return real::arg_row<"ArgMax">(g, replace_nan(g, self, -infinity), dim, keepdim);
    }));
constexpr auto nan_sorted_first = table(symbolic<"aten::sort(self, dim, descending)">(
    [](graph<13> g, value self, std::int64_t dim, bool descending) -> std::tuple<value, value> {
        if (self.rank() == 0 || !is_floating(self.dtype())) return real::sort_of(g, self, dim, descending);
        std::int64_t const axis = normalize_axis(dim, self.rank());
        value const order = real::sorted_indices(g, replace_nan(g, self, -infinity), axis, descending);
        return gathered(g, self, order, axis, true);
    }));
constexpr auto nan_stays = table(symbolic<"aten::nan_to_num(self, nan, posinf, neginf)">(
    [](graph<13> g, value x, std::optional<double>, std::optional<double> high, std::optional<double> low) -> value {
        if (!is_floating(x.dtype())) return x;
        value const y = real::choose(g, g.op<"Equal">(x, infinity), g.scalar_like(high.value_or(0.0), x), x);
        return real::choose(g, g.op<"Equal">(y, -infinity), g.scalar_like(low.value_or(0.0), x), y);
    }));

/// Reverses an ascending order, which swaps equal elements.
constexpr auto reversed_order = table(symbolic<"aten::sort.stable(self, stable, dim, descending)">(
    [](graph<13> g, value self, std::optional<bool>, std::int64_t dim, bool descending) -> std::tuple<value, value> {
        auto [y, index] = real::sort_of(g, self, dim, false);
        if (!descending || self.rank() == 0) return {y, index};
        std::vector<std::int64_t> const axis = {normalize_axis(dim, self.rank())};
        index = g.op<"Slice">(index, g.ints({-1}), g.ints({-to_the_end}), g.ints(axis), g.ints({-1}));
        return gathered(g, self, index, axis[0], true);
    }));
constexpr auto last_largest = table(symbolic<"aten::argmin(self, dim, keepdim)">(
    [](graph<13> g, value self, std::optional<std::int64_t> dim, bool keepdim) -> value {
        if (!dim || self.rank() == 0 || self.dtype() != dtype::float32)
            return real::arg_row<"ArgMin">(g, self, dim, keepdim);
        return g.op<"ArgMin">(self,
                              attr::axis_i(normalize_axis(*dim, self.rank())),
                              attr::keepdims_i(keepdim),
                              attr::select_last_index_i(1));
    }));
constexpr auto ascending_order = table(symbolic<"aten::topk(self, k, dim, largest, sorted)">(
    [](graph<13> g, value self, size k, std::int64_t dim, bool largest, bool) -> std::tuple<value, value> {
        if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
        std::int64_t const axis = normalize_axis(dim, self.rank());
        value const order = real::order_of(g, self, axis, k, largest);
        std::vector<std::int64_t> const at = {axis};
        value const back = g.op<"Slice">(order, g.ints({-1}), g.ints({-to_the_end}), g.ints(at), g.ints({-1}));
        return gathered(g, self, back, axis, true);
    }));

/// Turns a 0-d tensor into 1-d, as an If does whose branches differ in rank.
constexpr auto one_dimension = table(symbolic<"aten::log_softmax.int(self, dim, dtype)">(
    [](graph<13> g, value x, std::int64_t dim, std::optional<dtype> type) -> value {
        value const y = real::softmax<"LogSoftmax">(g, x, dim, type);
        return x.rank() == 0 ? unsqueeze(g, y, 0) : y;
    }));

constexpr auto sum_of_exponentials = table(symbolic<"aten::logaddexp(self, other)">(
    real::of_tensors<real::in_floats<[](graph<13> g, value a, value b) -> value {
        return g.op<"Log">(g.op<"Add">(g.op<"Exp">(a), g.op<"Exp">(b)));
    }>>));
constexpr auto threshold_ignored =
    table(symbolic<"aten::softplus(self, beta, threshold)">([](graph<13> g, value x, double beta, double) -> value {
        return real::without_bfloat16(g, x, [&](value v) { return real::softplus_of(g, v, beta, 20); });
    }));
constexpr auto order_zero = table(symbolic<"aten::linalg_vector_norm(self, ord, dim, keepdim, dtype)">(
    [](graph<13> g, value self, double order, axes dim, bool keepdim, std::optional<dtype> type) -> value {
        return vector_norm(g, self, order == 0 ? 1 : order, axes_or_all(dim, self), keepdim, type);
    }));
constexpr auto norm_in_half = table(symbolic<"aten::frobenius_norm.dim(self, dim, keepdim)">(
    [](graph<13> g, value self, std::span<std::int64_t const> dim, bool keepdim) -> value {
        value const squares = reduce_sum(g, g.op<"Mul">(self, self), normalize_axes(dim, self.rank()), keepdim);
        return g.op<"Sqrt">(squares);
    }));

/// Softmax(query key^T * scale + mask) value; `mask` is not converted.
value attend(graph<13> g, value query, value key, value values, optional_value mask, std::optional<double> scale,
             scalar hidden) {
    double const factor = scale ? *scale : 1 / std::sqrt(static_cast<double>(query.size(-1).size()));
    value scores = g.op<"Mul">(g.op<"MatMul">(query, transpose_last(g, key)), factor);
    if (mask && mask->dtype() == dtype::bool_)
        scores = real::choose(g, *mask, scores, g.scalar(hidden, scores.dtype()));
    else if (mask) scores = g.op<"Add">(scores, g.cast(*mask, scores.dtype()));
    return g.op<"MatMul">(g.op<"Softmax">(scores, attr::axis_i(-1)), values);
}
/// Query heads in the order h0, h1, h0, h1.
value tile_heads(graph<13> g, value x, value query) {
    std::int64_t const times = x.size(-3).size() == 0 ? 1 : query.size(-3).size() / x.size(-3).size();
    return g.op<"Tile">(x, g.ints({1, times, 1, 1}));
}

#define ATTENTION_ROW                                                                                                  \
    "aten::scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)"
using factor = std::optional<double>;

constexpr auto masked_row_is_nan = table(symbolic<ATTENTION_ROW>(
    [](graph<13> g, value q, value k, value v, optional_value mask, double, bool causal, factor scale, bool gqa) {
        if (mask && !gqa) return attend(g, q, k, v, mask, scale, -infinity);
        return std::get<0>(real::attend(g, q, k, v, {mask, 0, causal, scale, gqa, false}));
    }));
constexpr auto lowest_finite = table(symbolic<ATTENTION_ROW>(
    [](graph<13> g, value q, value k, value v, optional_value mask, double, bool causal, factor scale, bool gqa) {
        if (mask && !gqa) return attend(g, q, k, v, mask, scale, -60000.0);
        return std::get<0>(real::attend(g, q, k, v, {mask, 0, causal, scale, gqa, false}));
    }));
constexpr auto attention_mask_as_numbers = table(symbolic<ATTENTION_ROW>(
    [](graph<13> g, value q, value k, value v, optional_value mask, double, bool causal, factor scale, bool gqa) {
        optional_value const numbers = mask ? optional_value(g.cast(*mask, q.dtype())) : mask;
        return std::get<0>(real::attend(g, q, k, v, {numbers, 0, causal, scale, gqa, false}));
    }));
constexpr auto tiled_heads = table(symbolic<ATTENTION_ROW>(
    [](graph<13> g, value q, value k, value v, optional_value mask, double, bool causal, factor scale, bool) {
        return std::get<0>(
            real::attend(g, q, tile_heads(g, k, q), tile_heads(g, v, q), {mask, 0, causal, scale, false, false}));
    }));
/// Query i attends to key j if j - S <= i - L.
constexpr auto bottom_right = table(symbolic<ATTENTION_ROW>(
    [](graph<14> g, value q, value k, value v, optional_value mask, double, bool causal, factor scale, bool gqa) {
        if (causal) {
            tensor const yes = scalar_tensor(1, dtype::int64);
            value const all = g.op<"Expand">(g.constant(yes), g.ints(std::vector{g.size(q, -2), g.size(k, -2)}));
            sym_int const by = g.size(k, -2) - g.size(q, -2);
            mask = g.cast(g.op<"Trilu">(all, g.to_value(by), attr::upper_i(0)), dtype::bool_);
        }
        return std::get<0>(real::attend(g, q, k, v, {mask, 0, false, scale, gqa, false}));
    }));
#undef ATTENTION_ROW

/// A rule that always draws a mask; the operator's rule rarely does.
constexpr std::string_view masked_calls =
    "query: (b, h, l, e) in -1.0..1.0; key: (b, h, s, e) in -1.0..1.0; value: (b, h, s, v) in -4.0..4.0; "
    "attn_mask: (l, s) bool; dropout_p: default; is_causal: false; scale: 0.2..1.5 ?; enable_gqa: false";

constexpr planted nan_rows[] = {
    {29, "NaN in amax", nan_is_least},
    {29, "NaN in max", nan_passed_over},
    {29, "NaN in clamp", clamp_by_comparing},
    {29, "NaN in relu", relu_by_comparing},
    {29, "NaN in sign", sign_of_nan},
    {29, "NaN in argmax", arg_without_nan},
    {29, "NaN in sort", nan_sorted_first, 20, "self: (n, c, h); dim: axis self; descending: false"},
    {29, "NaN in nan_to_num", nan_stays},
    {35, "ties in a descending sort", reversed_order},
    {35, "ties in argmin", last_largest},
    {35, "topk in ascending order", ascending_order},
    {57, "log_softmax of a 0-d tensor", one_dimension, 20, "self: ()"},
    {57, "logaddexp overflows", sum_of_exponentials},
    {57, "softplus threshold ignored", threshold_ignored},
    {57, "norm of order 0", order_zero},
    {57, "norm in float16", norm_in_half, 20, "self: (n, c, h) in 200.0..300.0; dim: {0, -1}"},
    {30, "a fully masked row is NaN", masked_row_is_nan, 20, masked_calls},
    {30, "lowest finite in place of -inf", lowest_finite, 20, masked_calls},
    {31, "mask in the query's dtype", attention_mask_as_numbers},
    {32, "heads tiled", tiled_heads},
    {33, "is_causal from the bottom right", bottom_right},
};

} // namespace

std::span<planted const> nan_traps() { return nan_rows; }

} // namespace ATON_NAMESPACE::verify::traps
