// SPDX-License-Identifier: MIT
// Quantization as torch's exported programs write it: quantized_decomposed's quantize and dequantize, per tensor and
// per channel.
// Public header.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include <aton/dsl/quantized_value.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/quantized_forms.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/elementwise_binary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The range of a dtype of quantized numbers; refuses other dtypes.
inline quantized_ir::integer_limits quantized_range(dtype type) {
    quantized_ir::integer_limits const limits = quantized_ir::limits_of(type);
    if (bits(type) < 8 || limits.high < limits.low)
        throw unsupported_error("quantized numbers of " + std::string(name(type)));
    return limits;
}
inline void require_quantized_range(std::int64_t low, std::int64_t high, dtype type) {
    auto const limits = quantized_range(type);
    if (low < limits.low || high > limits.high)
        throw unsupported_error("quant_min or quant_max is out of the range of the dtype");
}

/// x in float32, the only dtype that torch quantizes.
inline value quantizable(graph<11> g, value x) {
    if (bits(x.dtype()) > 32 || !is_floating(x.dtype()))
        throw unsupported_error("a tensor of " + std::string(name(x.dtype())) + " is not quantized");
    return g.cast(x, dtype::float32);
}

inline constexpr auto quantize_by_numbers =
    symbolic<"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int "
             "quant_max, ScalarType dtype) -> Tensor">([](graph<11> g, value input, double scale, std::int64_t zero,
                                                          std::int64_t low, std::int64_t high, dtype type) -> value {
        value const x = quantizable(g, input);
        if (exactly_equal(scale, 0) || !std::isfinite(scale))
            return g.unsupported("a scale of 0, or one that is not finite");
        require_quantized_range(low, high, type);
        return quantize(g,
                        x,
                        {.scale = rounded_constant(g, scale, dtype::float32),
                         .zero_point = g.scalar(zero, dtype::int64),
                         .type = type,
                         .low = low,
                         .high = high,
                         .inverse = rounded_constant(g, 1 / scale, dtype::float32)})
            .numbers();
    });

/// A parameter with one element, 0-d.
inline value one_parameter(graph<11> g, value x) { return reshape(g, x, safe_vector<sym_int>{}); }

inline constexpr auto quantize_by_tensors =
    symbolic<"quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int "
             "quant_min, int quant_max, ScalarType dtype) -> Tensor">([](graph<11> g, value input, value scale,
                                                                         value zero, std::int64_t low,
                                                                         std::int64_t high, dtype type) -> value {
        value const x = quantizable(g, input);
        require_quantized_range(low, high, type);
        value const step = g.cast(one_parameter(g, scale), dtype::float64);
        return quantize(g,
                        x,
                        {.scale = g.cast(step, dtype::float32),
                         .zero_point = one_parameter(g, zero),
                         .type = type,
                         .low = low,
                         .high = high,
                         .inverse = g.cast(g.op<"Reciprocal">(step), dtype::float32)})
            .numbers();
    });

inline constexpr auto quantize_channels =
    symbolic<"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
             "int quant_min, int quant_max, ScalarType dtype) -> Tensor">(
        [](graph<11> g, value input, value scales, value zeros, std::int64_t axis, std::int64_t low, std::int64_t high,
           dtype type) -> value {
            value const x = quantizable(g, input);
            require_quantized_range(low, high, type);
            if (scales.dtype() != dtype::float32) return g.unsupported("scales that are not float32");
            if (bits(zeros.dtype()) > 32 && is_floating(zeros.dtype())) return g.unsupported("zero_points of float64");
            return quantize(g,
                            x,
                            {.scale = scales,
                             .zero_point = zeros,
                             .type = type,
                             .low = low,
                             .high = high,
                             .axis = normalize_axis(axis, input.rank())})
                .numbers();
        });

/// The dtype of a result.
inline dtype dequantized_dtype(std::optional<dtype> asked) {
    dtype const out = asked.value_or(dtype::float32);
    if (!is_floating(out)) throw unsupported_error("dequantized numbers of " + std::string(name(out)));
    return out;
}
/// (x - zero) * scale for one scale and zero point. As in ATen, half-precision dtypes are rounded after each step, but not
/// scale and zero.
inline value dequantized(graph<11> g, value x, value scale, value zero, dtype type, std::optional<dtype> asked) {
    auto const limits = quantized_range(type);
    dtype const out = dequantized_dtype(asked);
    if (out == dtype::float32) {
        quantization_scheme const scheme{.scale = g.cast(scale, dtype::float32),
                                         .zero_point = zero,
                                         .type = type,
                                         .low = limits.low,
                                         .high = limits.high};
        return dequantize(g, quantized_value(x, scheme));
    }
    if (x.dtype() != type) throw unsupported_error("dtype is not that of the input");
    dtype const wide = opmath_type(out);
    value const number = g.cast(g.cast(x, out), wide);
    value const difference = g.cast(g.op<"Sub">(number, g.cast(zero, wide)), out);
    return g.cast(g.op<"Mul">(g.cast(difference, wide), g.cast(scale, wide)), out);
}

// quant_min and quant_max do not take part in the computation.
inline constexpr auto dequantize_by_numbers =
    symbolic<"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
             "int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">(
        [](graph<11> g, value input, double scale, std::int64_t zero, std::int64_t, std::int64_t, dtype type,
           std::optional<dtype> asked) -> value {
            bool const is_float32 = asked.value_or(dtype::float32) == dtype::float32;
            value const step =
                is_float32 ? rounded_constant(g, scale, dtype::float32) : value(g.scalar(scale, dtype::float64));
            return dequantized(g, input, step, g.scalar(zero, dtype::int64), type, asked);
        });

inline constexpr auto dequantize_by_tensors =
    symbolic<"quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int "
             "quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">(
        [](graph<11> g, value input, value scale, value zero, std::int64_t, std::int64_t, dtype type,
           std::optional<dtype> asked) -> value {
            return dequantized(g, input, one_parameter(g, scale), one_parameter(g, zero), type, asked);
        });

inline constexpr auto dequantize_channels =
    symbolic<"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, "
             "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">(
        [](graph<11> g, value input, value scales, optional_value zeros, std::int64_t axis, std::int64_t low,
           std::int64_t high, dtype type, std::optional<dtype> asked) -> value {
            require_quantized_range(low, high, type);
            if (scales.dtype() != dtype::float32) return g.unsupported("scales that are not float32");
            if (zeros && is_complex(zeros->dtype())) return g.unsupported("zero_points that are complex");
            dtype const out = dequantized_dtype(asked);
            quantized_value const numbers(input,
                                          {.scale = scales,
                                           .zero_point = zeros,
                                           .type = type,
                                           .low = low,
                                           .high = high,
                                           .axis = normalize_axis(axis, input.rank())});
            return g.cast(dequantize(g, numbers), out);
        });

/// Tokens have parameters of their own, [..., 1], with which the numbers are promoted. Here the zero point is added
/// before rounding.
inline constexpr auto quantize_tokens =
    symbolic<"quantized_decomposed::quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int quant_min, "
             "int quant_max, ScalarType dtype) -> Tensor">([](graph<11> g, value input, value scales, value zeros,
                                                              std::int64_t low, std::int64_t high,
                                                              dtype type) -> value {
        require_quantized_range(low, high, type);
        if (!is_floating(input.dtype()) || !is_floating(scales.dtype())) return g.unsupported("integers");
        if (bits(input.dtype()) < 32 || bits(scales.dtype()) < 32) return g.unsupported("a half-precision dtype");
        value const number = g.op<"Round">(add(g, multiply(g, input, g.op<"Reciprocal">(scales)), zeros));
        auto const limit = [&](std::int64_t n) { return rounded_constant(g, n, number.dtype()); };
        return g.cast(clip(g, number, limit(low), limit(high)), type);
    });
inline constexpr auto dequantize_tokens =
    symbolic<"quantized_decomposed::dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, int "
             "quant_min, int quant_max, ScalarType dtype, ScalarType output_dtype) -> Tensor">(
        [](graph<11> g, value input, value scales, value zeros, std::int64_t, std::int64_t, dtype, dtype out) -> value {
            if (bits(scales.dtype()) < 32) return g.unsupported("scales of a half-precision dtype");
            return g.cast(multiply(g, subtract(g, input, zeros), scales), out);
        });

/// Scale and zero point for the range of a whole tensor, both [1]. The results do not depend on the dtype of the
/// quantized numbers.
inline constexpr auto choose_parameters_of_tensor =
    symbolic<"quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, "
             "ScalarType dtype) -> (Tensor, Tensor)">([](graph<11> g, value input, std::int64_t low, std::int64_t high,
                                                         double eps, dtype) -> std::tuple<value, value> {
        if (low >= high) throw unsupported_error("quant_min is not less than quant_max");
        if (input.dtype() != dtype::float32) throw unsupported_error("the parameters of numbers that are not float32");
        auto const chosen = choose_parameters(g, input, low, high, eps);
        return {chosen.scale, chosen.zero_point};
    });

/// The same for each token, for int8; the zero point is the one with the smaller error.
inline constexpr auto choose_token_parameters = symbolic<
    "quantized_decomposed::choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> (Tensor, Tensor)">(
    [](graph<11> g, value input, dtype) -> std::tuple<value, value> {
        std::int64_t const last[] = {normalize_axis(-1, input.rank())};
        auto const [least, greatest] = range_with_zero(g, input, last, true);
        value const span = g.op<"Div">(g.op<"Sub">(greatest, least), 255);
        value const scale = max_of(g, span, g.scalar(std::numeric_limits<float>::epsilon(), dtype::float32));
        value const low = g.op<"Div">(least, scale);
        value const high = g.op<"Div">(greatest, scale);
        value const error = g.op<"Add">(g.op<"Add">(low, -128), g.op<"Add">(high, 127));
        auto const from = [&](double end, value x) -> value { return g.op<"Sub">(g.scalar(end, dtype::float32), x); };
        value const zero = g.op<"Where">(g.op<"Greater">(error, 0), from(-128, low), from(127, high));
        value const bounded =
            g.op<"Round">(clip(g, zero, g.scalar(-128, dtype::float32), g.scalar(127, dtype::float32)));
        return {g.cast(scale, dtype::float64), g.cast(bounded, dtype::int64)};
    });

} // namespace detail

inline constexpr auto decomposed_quantization = table(
    detail::quantize_by_numbers, detail::quantize_by_tensors, detail::quantize_channels, detail::dequantize_by_numbers,
    detail::dequantize_by_tensors, detail::dequantize_channels, detail::quantize_tokens, detail::dequantize_tokens,
    detail::choose_parameters_of_tensor, detail::choose_token_parameters);

} // namespace ATON_NAMESPACE::mappings
