// SPDX-License-Identifier: MIT
// Order along an axis: aten's sort, topk and kthvalue, as ONNX's TopK.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/detail/common.hpp>
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

inline constexpr auto sort_stable = [](graph<13> g, value self, std::optional<bool>, std::int64_t dim,
                                       bool descending) { return sort(g, self, dim, descending); };

inline constexpr auto argsort_stable = [](graph<13> g, value self, bool, std::int64_t dim, bool descending) {
    return argsort_row(g, self, dim, descending);
};

inline constexpr auto msort = [](graph<13> g, value self) { return std::get<0>(sort(g, self, 0, false)); };

/// sorted=False allows any order.
inline constexpr auto topk = [](graph<13> g, value self, size k, std::int64_t dim, bool largest,
                                bool) -> std::tuple<value, value> {
    if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, self.rank());
    return gathered(g, self, order_of(g, self, axis, k, largest), axis, true);
};

inline constexpr auto kthvalue = [](graph<13> g, value self, size k, std::int64_t dim,
                                    bool keepdim) -> std::tuple<value, value> {
    if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, self.rank());
    if (k.is_constant() && k.constant() < 1) throw unsupported_error("kthvalue with k below 1");
    value const smallest = order_of(g, self, axis, k, false);
    return gathered(g, self, slice_axis(g, smallest, axis, -1, to_the_end), axis, keepdim);
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto sorting = table(
    symbolic<"aten::sort(self, dim, descending)">(detail::sort_row),
    symbolic<"aten::sort.stable(self, stable, dim, descending)">(detail::sort_stable),
    symbolic<"aten::argsort(self, dim, descending)">(detail::argsort_row),
    symbolic<"aten::argsort.stable(self, stable, dim, descending)">(detail::argsort_stable),
    symbolic<"aten::msort(self)">(detail::msort),
    symbolic<"aten::topk(self, k, dim, largest, sorted)">(detail::topk),
    symbolic<"aten::kthvalue(self, k, dim, keepdim)">(detail::kthvalue));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
