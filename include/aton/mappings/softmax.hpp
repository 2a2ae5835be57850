// SPDX-License-Identifier: MIT
// Softmax and its logarithm along an axis.
// Public header.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// As in ATen, a 0-d tensor is treated as 1-d.
template <fixed_string Op>
value softmax(graph<7> g, value x, std::int64_t dim, std::optional<dtype> type) {
    value const input = g.cast(x, type.value_or(x.dtype()));
    if (x.rank() == 0) return squeeze(g, along_axis<Op>(g, unsqueeze(g, input, 0), 0), 0);
    return along_axis<Op>(g, input, normalize_axis(dim, x.rank()));
}

template <fixed_string Op>
inline constexpr auto softmax_with_dtype =
    [](graph<7> g, value x, std::int64_t dim, std::optional<dtype> type) -> value {
    return softmax<Op>(g, x, dim, type);
};

template <fixed_string Op>
inline constexpr auto softmax_of_half = [](graph<7> g, value x, std::int64_t dim, bool half_to_float) -> value {
    return softmax<Op>(g, x, dim, half_to_float ? dtype::float32 : x.dtype());
};

/// Softmax that returns 0 instead of NaN for rows in which every element is -inf.
inline constexpr auto safe_softmax = symbolic<"aten::_safe_softmax(self, dim, dtype)">(
    [](graph<9> g, value x, std::int64_t dim, std::optional<dtype> type) -> value {
        value const y = softmax<"Softmax">(g, x, dim, type);
        if (!is_floating(x.dtype())) return y;
        safe_vector<std::int64_t> axes;
        if (x.rank() != 0) axes.push_back(normalize_axis(dim, x.rank()));
        value const largest = extreme<"ReduceMax">(g, x, axes, true);
        value const masked = is_equal(g, largest, -std::numeric_limits<double>::infinity());
        return g.op<"Where">(masked, g.scalar(0, y.dtype()), y);
    });

/// The gradient of softmax or log_softmax, from its output; half-precision dtypes in float32, rounded once. input_dtype
/// has an effect only for a softmax of float16 that returned float32.
template <bool Log>
inline constexpr auto softmax_backward =
    [](graph<7> g, value grad, value output, std::int64_t dim, dtype input_dtype) -> value {
    if (output.dtype() != grad.dtype()) throw unsupported_error("a gradient and an output of different dtypes");
    dtype const type = opmath_type(grad.dtype());
    value const d = g.cast(grad, type);
    value const y = g.cast(output, type);
    safe_vector<std::int64_t> axes;
    if (output.rank() != 0) axes.push_back(normalize_axis(dim, output.rank()));
    auto const total = [&](value x) { return reduce_sum(g, x, axes, true); };
    value const all = Log ? g.op<"Sub">(d, g.op<"Mul">(g.op<"Exp">(y), total(d)))
                          : g.op<"Mul">(g.op<"Sub">(d, total(g.op<"Mul">(d, y))), y);
    bool const was_half = grad.dtype() == dtype::float32 && input_dtype == dtype::float16;
    return g.cast(all, was_half ? dtype::float16 : grad.dtype());
};

} // namespace detail

inline constexpr auto softmax = table(
    symbolic<"aten::softmax.int(self, dim, dtype)">(detail::softmax_with_dtype<"Softmax">),
    symbolic<"aten::_softmax(self, dim, half_to_float)">(detail::softmax_of_half<"Softmax">),
    symbolic<"aten::special_softmax(self, dim, dtype)">(detail::softmax_with_dtype<"Softmax">),
    symbolic<"aten::log_softmax.int(self, dim, dtype)">(detail::softmax_with_dtype<"LogSoftmax">),
    symbolic<"aten::_log_softmax(self, dim, half_to_float)">(detail::softmax_of_half<"LogSoftmax">),
    symbolic<"aten::special_log_softmax(self, dim, dtype)">(detail::softmax_with_dtype<"LogSoftmax">),
    detail::safe_softmax,
    symbolic<"aten::_softmax_backward_data(grad_output, output, dim, input_dtype)">(detail::softmax_backward<false>),
    symbolic<"aten::_log_softmax_backward_data(grad_output, output, dim, input_dtype)">(
        detail::softmax_backward<true>));

} // namespace ATON_NAMESPACE::mappings
