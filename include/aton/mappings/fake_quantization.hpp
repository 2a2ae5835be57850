// SPDX-License-Identifier: MIT
// Fake quantization: numbers rounded to those of a quantized dtype, as in quantization-aware training.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The rounded numbers, and which of them were not clamped. Scale and zero point are float32 in
/// ATen; beside float64, the product with the scale is `product_type`. A floating zero point is added before rounding.
using fake_quantized = std::tuple<value, value>;

inline fake_quantized fake_quantize(graph<7> g, value x, value scale, value zero_point, std::int64_t low,
                                    std::int64_t high, dtype product_type = dtype::float32) {
    if (!is_floating(x.dtype())) throw unsupported_error("fake quantization of " + std::string(name(x.dtype())));
    if (low > high) throw unsupported_error("quant_min is greater than quant_max");
    dtype const wide = opmath_type(x.dtype());
    value const step = g.cast(scale, dtype::float32);
    value const zero = g.cast(g.cast(zero_point, dtype::float32), wide);
    value const inverse = g.cast(g.op<"Reciprocal">(step), wide);
    value const scaled = g.op<"Mul">(g.cast(x, wide), inverse);
    value const number = is_floating(zero_point.dtype()) ? round_to_even(g, g.op<"Add">(scaled, zero))
                                                         : value(g.op<"Add">(round_to_even(g, scaled), zero));
    value const clamped = clip(g, number, rounded_constant(g, low, wide), rounded_constant(g, high, wide));
    value const y = g.op<"Mul">(g.cast(g.op<"Sub">(clamped, zero), product_type), g.cast(step, product_type));
    return {g.cast(y, x.dtype()), is_equal(g, number, clamped)};
}

inline constexpr auto fake_quantize_by_numbers = [](graph<7> g, value self, double scale, std::int64_t zero_point,
                                                    std::int64_t low, std::int64_t high) {
    value const step = g.scalar(scale, dtype::float32);
    return fake_quantize(g, self, step, g.scalar(zero_point, dtype::int64), low, high);
};
inline constexpr auto fake_quantize_by_tensors = [](graph<7> g, value self, value scale, value zero_point,
                                                    std::int64_t low, std::int64_t high) {
    safe_vector<sym_int> const none;
    value const zero = reshape(g, g.cast(zero_point, dtype::int64), none); // the only one is truncated
    return fake_quantize(g, self, reshape(g, scale, none), zero, low, high);
};
inline constexpr auto fake_quantize_channels = [](graph<7> g, value self, value scale, value zero_point,
                                                  std::int64_t axis, std::int64_t low, std::int64_t high) {
    safe_vector<sym_int> sizes(static_cast<std::size_t>(self.rank()), 1);
    sizes[static_cast<std::size_t>(normalize_axis(axis, self.rank()))] = -1;
    dtype const wide = opmath_type(self.dtype());
    return fake_quantize(g, self, reshape(g, scale, sizes), reshape(g, zero_point, sizes), low, high, wide);
};
/// Where `enabled` is 0, the numbers are returned as they are.
inline constexpr auto fake_quantize_if = symbolic<"aten::_fake_quantize_per_tensor_affine_cachemask_tensor_qparams("
                                                  "self, scale, zero_point, fake_quant_enabled, quant_min, quant_max)">(
    [](graph<9> g, value self, value scale, value zero_point, value enabled, std::int64_t low,
       std::int64_t high) -> fake_quantized {
        auto const [y, inside] = fake_quantize_by_tensors(g, self, scale, zero_point, low, high);
        value const on = g.cast(reshape(g, enabled, safe_vector<sym_int>{}), dtype::bool_);
        return {g.op<"Where">(on, y, self), g.op<"Or">(inside, g.op<"Not">(on))};
    });

/// The first result alone.
template <auto const& Body, class... More>
inline constexpr auto only_numbers = [](graph<7> g, value self, More... more, std::int64_t low, std::int64_t high) {
    return std::get<0>(Body(g, self, more..., low, high));
};

} // namespace detail

inline constexpr auto fake_quantization = table(
    symbolic<"aten::fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)">(
        detail::only_numbers<detail::fake_quantize_by_numbers, double, std::int64_t>),
    symbolic<"aten::fake_quantize_per_tensor_affine.tensor_qparams(self, scale, zero_point, quant_min, quant_max)">(
        detail::only_numbers<detail::fake_quantize_by_tensors, value, value>),
    symbolic<"aten::fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max)">(
        detail::only_numbers<detail::fake_quantize_channels, value, value, std::int64_t>),
    symbolic<"aten::fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)">(
        detail::fake_quantize_by_numbers),
    symbolic<"aten::fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, quant_max)">(
        detail::fake_quantize_channels),
    detail::fake_quantize_if);

} // namespace ATON_NAMESPACE::mappings
