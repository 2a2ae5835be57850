// SPDX-License-Identifier: MIT
// Order along an axis: aten's sort, topk, kthvalue, median, mode and quantile, mostly as ONNX's TopK.
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/mappings/common.hpp>
#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The key to sort x by with TopK. ATen sorts NaN above infinity, ONNX does not specify it: in float64, infinity is replaced by
/// the maximum, and NaN by infinity. (For float64 x, infinity and the maximum compare equal.) TopK does not support bools.
inline value sort_key(graph<13> g, value x) {
    if (x.dtype() == dtype::bool_) return g.cast(x, dtype::int32);
    if (!is_floating(x.dtype())) return x;
    value const wide = g.cast(x, dtype::float64);
    value const finite =
        g.op<"Min">(safe_vector<value>{wide, g.scalar(std::numeric_limits<double>::max(), dtype::float64)});
    return g.op<"Where">(
        g.op<"IsNaN">(wide), g.scalar(std::numeric_limits<double>::infinity(), dtype::float64), finite);
}

/// The indices of the first k elements in sorted order along an axis. Stable, as ONNX guarantees for TopK.
inline value order_of(graph<13> g, value x, std::int64_t axis, sym_int k, bool largest) {
    auto const [values, indices] = g.op<"TopK">(sort_key(g, x),
                                                g.ints(safe_span(&k, 1)),
                                                attr::axis_i(axis),
                                                attr::largest_i(largest),
                                                attr::sorted_i(1),
                                                outputs<2>);
    return indices;
}

inline value sorted_indices(graph<13> g, value x, std::int64_t axis, bool largest) {
    return order_of(g, x, axis, g.size(x, axis), largest);
}

inline std::tuple<value, value> sort(graph<13> g, value x, std::int64_t dim, bool descending) {
    if (x.rank() == 0) return {x, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, x.rank());
    return gathered(g, x, sorted_indices(g, x, axis, descending), axis, true);
}

inline constexpr auto sort_row = [](graph<13> g, value self, std::int64_t dim, bool descending) {
    return sort(g, self, dim, descending);
};
inline constexpr auto argsort_row = [](graph<13> g, value self, std::int64_t dim, bool descending) {
    return std::get<1>(sort(g, self, dim, descending));
};

/// The number of NaNs along the axis, which is kept.
inline value count_nan(graph<13> g, value x, std::int64_t axis) {
    return reduce_sum(g, g.cast(g.op<"IsNaN">(x), dtype::int64), std::array{axis}, true);
}

/// floor((n - 1) / 2) for an int64 n >= 1.
inline value lower_middle(graph<13> g, value n) {
    value const one = g.scalar(1, dtype::int64);
    return g.op<"Div">(g.op<"Sub">(n, one), g.scalar(2, dtype::int64));
}

/// The index of the lower median along an axis, which is kept. If there are NaNs, which sort last, it is that of the first NaN,
/// or with `ignore_nan` the median of the other elements.
inline value median_index(graph<13> g, value x, std::int64_t axis, bool ignore_nan) {
    value const n = g.to_value(g.size(x, axis));
    value const sorted = sorted_indices(g, x, axis, false);
    if (!is_floating(x.dtype())) {
        value const start = g.op<"Reshape">(lower_middle(g, n), g.ints({1}));
        return g.op<"Slice">(sorted, start, g.op<"Add">(start, g.ints({1})), g.ints({axis}));
    }
    value const nans = count_nan(g, x, axis);
    value const numbers = g.op<"Sub">(n, nans);
    value const none = g.scalar(0, dtype::int64);
    value const position = ignore_nan ? g.op<"Max">(safe_vector<value>{lower_middle(g, numbers), none})
                                      : g.op<"Where">(g.op<"Greater">(nans, none), numbers, lower_middle(g, n));
    return g.op<"GatherElements">(sorted, position, attr::axis_i(axis));
}

template <bool IgnoreNan>
inline constexpr auto median_dim =
    [](graph<13> g, value self, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
    if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, self.rank());
    return gathered(g, self, median_index(g, self, axis, IgnoreNan), axis, keepdim);
};
template <bool IgnoreNan>
inline constexpr auto median_all = [](graph<13> g, value self) -> value {
    if (self.shape().element_count() == 0) return g.scalar(std::numeric_limits<double>::quiet_NaN(), self.dtype());
    value const flat = g.op<"Reshape">(self, g.ints({-1}));
    return std::get<0>(gathered(g, flat, median_index(g, flat, 0, IgnoreNan), 0, false));
};

/// The last index of the smallest of the most frequent values along an axis, which is kept. Compares all pairs.
inline value mode_index(graph<13> g, value x, std::int64_t axis) {
    prefixes const p = make_prefixes(g, x, axis);
    std::int64_t const last = x.rank();
    value const row = squeeze(g, p.row, -2);
    value const same = g.cast(g.op<"Equal">(p.row, unsqueeze(g, row, -1)), dtype::int64);
    value const count = reduce_sum(g, same, std::array{last}, false);
    value const frequent = g.op<"Equal">(count, reduce<"ReduceMax">(g, count, std::array{last - 1}, true));
    value const smallest = reduce<"ReduceMin">(
        g, choose(g, frequent, row, g.scalar_like(max_value(row.dtype()), row)), std::array{last - 1}, true);
    value const found = g.op<"Where">(g.op<"Equal">(row, smallest), p.position, g.scalar(-1, dtype::int64));
    return permute(g, reduce<"ReduceMax">(g, found, std::array{last - 1}, true), inverse_permutation(p.order));
}

/// The indices in sorted order that a fractional rank interpolates between, and the weight of the upper one. `above` and `weight` are
/// unset if no interpolation is needed.
struct ranks {
    value below;
    value above;
    value weight;
};
inline ranks quantile_ranks(graph<13> g, value rank, std::string_view interpolation) {
    auto const index = [&](value r) { return g.cast(r, dtype::int64); };
    if (interpolation == "nearest") rank = g.op<"Round">(rank); // half to even, in ATen and in ONNX
    if (interpolation == "higher") rank = g.op<"Ceil">(rank);
    value const below = g.op<"Floor">(rank);
    if (interpolation == "linear") return {index(below), index(g.op<"Ceil">(rank)), g.op<"Sub">(rank, below)};
    if (interpolation == "midpoint") return {index(below), index(g.op<"Ceil">(rank)), g.scalar_like(0.5, rank)};
    return {index(below), {}, {}};
}

/// aten::quantile, or nanquantile if `ignore_nan`. The dimension of a 1-d q comes first in the result.
inline value quantile(graph<13> g, value self, value q, std::optional<std::int64_t> dim, bool keepdim,
                      std::string_view interpolation, bool ignore_nan) {
    bool const whole = !dim || self.rank() == 0;
    value const x = whole ? flat(g, self) : self;
    std::int64_t const axis = whole ? 0 : normalize_axis(*dim, self.rank());
    std::int64_t const last = x.rank() - 1;
    value const moved = permute(g, x, move_to_end(axis, x.rank()));
    value const sorted = g.op<"GatherElements">(moved, sorted_indices(g, moved, last, false), attr::axis_i(last));
    value const nans = count_nan(g, moved, last);
    value const n = g.to_value(g.size(moved, last));
    value const one = g.scalar(1, dtype::int64);
    value const points = flat(g, g.cast(q, x.dtype()));
    auto const scaled = [&](value count) { return g.op<"Mul">(points, g.cast(g.op<"Sub">(count, one), x.dtype())); };
    value const zero = g.scalar_like(0, x);
    value const rank = ignore_nan ? g.op<"Max">(safe_vector<value>{scaled(g.op<"Sub">(n, nans)), zero})
                                  : choose(g,
                                           g.op<"Greater">(nans, g.scalar(0, dtype::int64)),
                                           g.cast(g.op<"Sub">(n, one), x.dtype()),
                                           scaled(n));
    ranks const r = quantile_ranks(g, rank, interpolation);
    value y = g.op<"GatherElements">(sorted, r.below, attr::axis_i(last));
    if (r.above.id() != no_value) {
        value const above = g.op<"GatherElements">(sorted, r.above, attr::axis_i(last));
        y = lerp(g, y, above, r.weight); // NaN between an infinity and itself, as in ATen
    }
    safe_vector<std::int64_t> front = iota(last);
    front.insert(front.begin(), last);
    y = q.rank() == 0 ? squeeze(g, y, last) : permute(g, y, front);
    if (!keepdim || self.rank() == 0) return y;
    safe_vector<std::int64_t> kept = whole ? iota(self.rank()) : safe_vector{axis};
    for (std::int64_t& a : kept) a += q.rank();
    return unsqueeze(g, y, kept);
}

template <bool IgnoreNan>
inline constexpr auto quantile_row =
    [](graph<13> g, value self, value q, std::optional<std::int64_t> dim, bool keepdim,
       std::string_view interpolation) { return quantile(g, self, q, dim, keepdim, interpolation, IgnoreNan); };
template <bool IgnoreNan>
inline constexpr auto quantile_number = [](graph<13> g, value self, double q, std::optional<std::int64_t> dim,
                                           bool keepdim, std::string_view interpolation) {
    return quantile(g, self, g.scalar_like(q, self), dim, keepdim, interpolation, IgnoreNan);
};

} // namespace detail

inline constexpr auto sorting = table(
    symbolic<"aten::sort(self, dim, descending)">(detail::sort_row),
    symbolic<"aten::sort.stable(self, stable, dim, descending)">(
        [](graph<13> g, value self, std::optional<bool>, std::int64_t dim, bool descending) {
            return detail::sort(g, self, dim, descending);
        }),
    symbolic<"aten::argsort(self, dim, descending)">(detail::argsort_row),
    symbolic<"aten::argsort.stable(self, stable, dim, descending)">(
        [](graph<13> g, value self, bool, std::int64_t dim, bool descending) {
            return detail::argsort_row(g, self, dim, descending);
        }),
    symbolic<"aten::msort(self)">([](graph<13> g, value self) { return std::get<0>(detail::sort(g, self, 0, false)); }),
    // sorted=False allows any order.
    symbolic<"aten::topk(self, k, dim, largest, sorted)">(
        [](graph<13> g, value self, size k, std::int64_t dim, bool largest, bool) -> std::tuple<value, value> {
            if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
            std::int64_t const axis = normalize_axis(dim, self.rank());
            return gathered(g, self, detail::order_of(g, self, axis, k, largest), axis, true);
        }),
    symbolic<"aten::kthvalue(self, k, dim, keepdim)">(
        [](graph<13> g, value self, size k, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
            if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
            std::int64_t const axis = normalize_axis(dim, self.rank());
            if (k.is_constant() && k.constant() < 1) throw unsupported_error("kthvalue with k below 1");
            value const smallest = detail::order_of(g, self, axis, k, false);
            return gathered(g, self, detail::slice_axis(g, smallest, axis, -1, to_the_end), axis, keepdim);
        }),
    symbolic<"aten::median(self)">(detail::median_all<false>),
    symbolic<"aten::nanmedian(self)">(detail::median_all<true>),
    symbolic<"aten::median.dim(self, dim, keepdim)">(detail::median_dim<false>),
    symbolic<"aten::nanmedian.dim(self, dim, keepdim)">(detail::median_dim<true>),
    symbolic<"aten::mode(self, dim, keepdim)">(
        [](graph<13> g, value self, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
            if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
            std::int64_t const axis = normalize_axis(dim, self.rank());
            bool const narrow = self.dtype() == dtype::bool_ || (is_integral(self.dtype()) && bits(self.dtype()) < 32);
            value const x = detail::selectable(g, g.cast(self, narrow ? dtype::int32 : self.dtype()));
            return gathered(g, self, detail::mode_index(g, x, axis), axis, keepdim);
        }),
    symbolic<"aten::quantile(self, q, dim, keepdim, interpolation)">(detail::quantile_row<false>),
    symbolic<"aten::nanquantile(self, q, dim, keepdim, interpolation)">(detail::quantile_row<true>),
    symbolic<"aten::quantile.scalar(self, q, dim, keepdim, interpolation)">(detail::quantile_number<false>),
    symbolic<"aten::nanquantile.scalar(self, q, dim, keepdim, interpolation)">(detail::quantile_number<true>));

} // namespace ATON_NAMESPACE::mappings
