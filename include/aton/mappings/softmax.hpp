// SPDX-License-Identifier: MIT
// Softmax and its logarithm along an axis.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <aton/mappings/detail/common.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// As in ATen, a 0-d tensor is treated as 1-d.
template <fixed_string Op>
value softmax(graph<13> g, value x, std::int64_t dim, std::optional<dtype> type) {
    value const input = g.cast(x, type.value_or(x.dtype()));
    if (x.rank() == 0) return squeeze(g, g.op<Op>(unsqueeze(g, input, 0), attr::axis_i(0)), 0);
    return g.op<Op>(input, attr::axis_i(normalize_axis(dim, x.rank())));
}

template <fixed_string Op>
inline constexpr auto softmax_with_dtype =
    [](graph<13> g, value x, std::int64_t dim, std::optional<dtype> type) -> value {
    return softmax<Op>(g, x, dim, type);
};

template <fixed_string Op>
inline constexpr auto softmax_of_half = [](graph<13> g, value x, std::int64_t dim, bool half_to_float) -> value {
    return softmax<Op>(g, x, dim, half_to_float ? dtype::float32 : x.dtype());
};

/// Softmax that returns 0 instead of NaN for rows in which every element is -inf.
inline constexpr auto safe_softmax = [](graph<13> g, value x, std::int64_t dim, std::optional<dtype> type) -> value {
    value const y = softmax<"Softmax">(g, x, dim, type);
    if (!is_floating(x.dtype())) return y;
    safe_vector<std::int64_t> axes;
    if (x.rank() != 0) axes.push_back(normalize_axis(dim, x.rank()));
    value const largest = reduce<"ReduceMax">(g, x, axes, true);
    value const masked = g.op<"Equal">(largest, -std::numeric_limits<double>::infinity());
    return g.op<"Where">(masked, g.scalar(0, y.dtype()), y);
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto softmax = table(
    symbolic<"aten::softmax.int(self, dim, dtype)">(detail::softmax_with_dtype<"Softmax">),
    symbolic<"aten::_softmax(self, dim, half_to_float)">(detail::softmax_of_half<"Softmax">),
    symbolic<"aten::special_softmax(self, dim, dtype)">(detail::softmax_with_dtype<"Softmax">),
    symbolic<"aten::log_softmax.int(self, dim, dtype)">(detail::softmax_with_dtype<"LogSoftmax">),
    symbolic<"aten::_log_softmax(self, dim, half_to_float)">(detail::softmax_of_half<"LogSoftmax">),
    symbolic<"aten::special_log_softmax(self, dim, dtype)">(detail::softmax_with_dtype<"LogSoftmax">),
    symbolic<"aten::_safe_softmax(self, dim, dtype)">(detail::safe_softmax));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
