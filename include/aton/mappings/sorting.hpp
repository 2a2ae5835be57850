// SPDX-License-Identifier: MIT
// Order along an axis: aten's sort, topk and kthvalue, as ONNX's TopK.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <aton/mappings/cumulative.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The key to sort x by with TopK. ATen sorts NaN above infinity, ONNX does not specify it: in float64, infinity is
/// replaced by the maximum, and NaN by infinity. (For float64 x, infinity and the maximum compare equal.) TopK does not
/// support bools.
inline value sort_key(graph<9> g, value x) {
    if (x.dtype() == dtype::bool_) return g.cast(x, dtype::int32);
    if (!is_floating(x.dtype())) return x;
    if (!g.exact_nan()) return g.cast(x, bits(x.dtype()) < 32 ? dtype::float32 : x.dtype());
    value const wide = g.cast(x, dtype::float64);
    value const finite = min_of(g, wide, g.scalar(std::numeric_limits<double>::max(), dtype::float64));
    return g.op<"Where">(is_nan(g, wide), g.scalar(std::numeric_limits<double>::infinity(), dtype::float64), finite);
}

/// The same with TopK up to opset 10: only floats, and the largest first. The smallest are the largest of the negated key.
inline value order_of_floats(graph<7, 10> g, value key, std::int64_t axis, sym_int k, bool largest) {
    if (!is_floating(key.dtype()) && bits(key.dtype()) > 32) refuse_below(11, "sorting of 64-bit integers");
    value const x = g.cast(key, dtype::float64);
    value const y = largest ? x : value(g.op<"Neg">(x));
    if (g.opset() >= 10)
        return std::get<1>(g.within<10, 10>().op<"TopK">(y, as_list(g, k), attr::axis_i(axis), outputs<2>));
    if (!k.is_constant() || k.is(0)) refuse_below(10, "sorting of an empty axis or of a computed number of elements");
    return std::get<1>(g.within<7, 9>().op<"TopK">(y, attr::k_i(k.constant()), attr::axis_i(axis), outputs<2>));
}

/// The first k elements of a sort_key() in sorted order along an axis, and their indices. Stable, as ONNX guarantees
/// for TopK.
inline std::tuple<value, value> first_of_keys(graph<11> g, value key, std::int64_t axis, sym_int k, bool largest) {
    return g.op<"TopK">(
        key, as_list(g, k), attr::axis_i(axis), attr::largest_i(largest), attr::sorted_i(1), outputs<2>);
}

/// The indices of the first k elements in sorted order along an axis.
inline value order_of(graph<9> g, value x, std::int64_t axis, sym_int k, bool largest) {
    if (g.opset() < 11) return order_of_floats(g.within<7, 10>(), sort_key(g, x), axis, k, largest);
    return std::get<1>(first_of_keys(g.within<11>(), sort_key(g, x), axis, k, largest));
}

/// The first k elements in sorted order along an axis, and their indices.
inline std::tuple<value, value> first_sorted(graph<9> g, value x, std::int64_t axis, sym_int k, bool largest) {
    bool const is_key =
        x.dtype() != dtype::bool_ && (!is_floating(x.dtype()) || (!g.exact_nan() && bits(x.dtype()) >= 32));
    if (g.opset() >= 11 && is_key) return first_of_keys(g.within<11>(), x, axis, k, largest);
    return gathered(g, x, order_of(g, x, axis, k, largest), axis, true);
}

inline value sorted_indices(graph<9> g, value x, std::int64_t axis, bool largest) {
    return order_of(g, x, axis, g.size(x, axis), largest);
}

inline std::tuple<value, value> sort_of(graph<9> g, value x, std::int64_t dim, bool descending) {
    if (x.rank() == 0) return {x, g.scalar(0, dtype::int64)};
    std::int64_t const axis = normalize_axis(dim, x.rank());
    return first_sorted(g, x, axis, g.size(x, axis), descending);
}

inline constexpr auto sort = symbolic<"aten::sort(self, dim, descending)">(
    [](graph<9> g, value self, std::int64_t dim, bool descending) { return sort_of(g, self, dim, descending); });
inline constexpr auto argsort =
    symbolic<"aten::argsort(self, dim, descending)">([](graph<9> g, value self, std::int64_t dim, bool descending) {
        return std::get<1>(sort_of(g, self, dim, descending));
    });

inline constexpr auto sort_stable = symbolic<"aten::sort.stable(self, stable, dim, descending)">(
    [](graph<9> g, value self, std::optional<bool>, std::int64_t dim, bool descending) {
        return sort_of(g, self, dim, descending);
    });

inline constexpr auto argsort_stable = symbolic<"aten::argsort.stable(self, stable, dim, descending)">(
    [](graph<9> g, value self, bool, std::int64_t dim, bool descending) { return argsort(g, self, dim, descending); });

inline constexpr auto msort =
    symbolic<"aten::msort(self)">([](graph<9> g, value self) { return std::get<0>(sort_of(g, self, 0, false)); });

/// sorted=False allows any order.
inline constexpr auto topk = symbolic<"aten::topk(self, k, dim, largest, sorted)">(
    [](graph<9> g, value self, size k, std::int64_t dim, bool largest, bool) -> std::tuple<value, value> {
        if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
        std::int64_t const axis = normalize_axis(dim, self.rank());
        return first_sorted(g, self, axis, k, largest);
    });

inline constexpr auto kthvalue = symbolic<"aten::kthvalue(self, k, dim, keepdim)">(
    [](graph<9> g, value self, size k, std::int64_t dim, bool keepdim) -> std::tuple<value, value> {
        if (self.rank() == 0) return {self, g.scalar(0, dtype::int64)};
        std::int64_t const axis = normalize_axis(dim, self.rank());
        if (k.is_constant() && k.constant() < 1) throw unsupported_error("kthvalue with k below 1");
        value const smallest = order_of(g, self, axis, k, false);
        return gathered(g, self, slice(g, smallest, axis, -1, to_the_end), axis, keepdim);
    });

} // namespace detail

inline constexpr auto sorting = table(detail::sort, detail::sort_stable, detail::argsort, detail::argsort_stable,
                                      detail::msort, detail::topk, detail::kthvalue);

} // namespace ATON_NAMESPACE::mappings
