// SPDX-License-Identifier: MIT
// Quantization as torch's exported programs write it: quantized_decomposed's quantize and dequantize, per tensor and
// per channel.
// Public header.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/elementwise_binary.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The range of a dtype of quantized numbers; refuses other dtypes.
inline std::array<std::int64_t, 2> quantized_range(dtype type) {
    switch (type) {
    case dtype::uint8: return {0, 255};
    case dtype::int8: return {-128, 127};
    case dtype::uint16: return {0, 65535};
    case dtype::int16: return {-32768, 32767};
    case dtype::int32: return {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
    default: throw unsupported_error("quantized numbers of " + std::string(name(type)));
    }
}
inline void require_quantized_range(std::int64_t low, std::int64_t high, dtype type) {
    auto const [least, greatest] = quantized_range(type);
    if (low < least || high > greatest)
        throw unsupported_error("quant_min or quant_max is out of the range of the dtype");
}

/// Whether QuantizeLinear and DequantizeLinear support the dtype at this opset.
inline bool has_linear_quantization(graph<11> g, dtype type) {
    bool const is_byte = type == dtype::uint8 || type == dtype::int8;
    return is_byte || ((type == dtype::uint16 || type == dtype::int16) && g.opset() >= 21);
}

/// x in float32, the only dtype that torch quantizes.
inline value quantizable(graph<11> g, value x) {
    if (bits(x.dtype()) > 32 || !is_floating(x.dtype()))
        throw unsupported_error("a tensor of " + std::string(name(x.dtype())) + " is not quantized");
    return g.cast(x, dtype::float32);
}

/// round(x / scale) + zero_point within the range. As in torch, x is multiplied by the inverse of the scale.
inline value quantized(graph<11> g, value x, value inverse, value zero, std::int64_t low, std::int64_t high,
                       dtype type) {
    require_quantized_range(low, high, type);
    value const number = g.op<"Add">(g.op<"Round">(g.op<"Mul">(x, inverse)), g.cast(zero, dtype::float32));
    auto const limit = [&](std::int64_t n) { return rounded_constant(g, n, dtype::float32); };
    return g.cast(clip(g, number, limit(low), limit(high)), type);
}

/// QuantizeLinear if it computes the same: it divides by the scale, which rounds differently unless that is a power of two.
inline constexpr auto quantize_by_numbers =
    symbolic<"quantized_decomposed::quantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, int "
             "quant_max, ScalarType dtype) -> Tensor">([](graph<11> g, value input, double scale, std::int64_t zero,
                                                          std::int64_t low, std::int64_t high, dtype type) -> value {
        value const x = quantizable(g, input);
        if (exactly_equal(scale, 0) || !std::isfinite(scale))
            return g.unsupported("a scale of 0, or one that is not finite");
        auto const [least, greatest] = quantized_range(type);
        int exponent = 0;
        bool const is_exact = exactly_equal(std::frexp(scale, &exponent), 0.5) && std::abs(exponent) < 120;
        bool const is_whole = low == least && high == greatest && zero >= low && zero <= high;
        if (is_exact && is_whole && has_linear_quantization(g, type))
            return g.op<"QuantizeLinear">(x, g.scalar(scale, dtype::float32), g.scalar(zero, type));
        value const inverse = rounded_constant(g, 1 / scale, dtype::float32);
        return quantized(g, x, inverse, g.scalar(zero, dtype::int64), low, high, type);
    });

/// A parameter with one element, 0-d.
inline value one_parameter(graph<11> g, value x) { return reshape(g, x, safe_vector<sym_int>{}); }

inline constexpr auto quantize_by_tensors =
    symbolic<"quantized_decomposed::quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int "
             "quant_min, int quant_max, ScalarType dtype) -> Tensor">([](graph<11> g, value input, value scale,
                                                                         value zero, std::int64_t low,
                                                                         std::int64_t high, dtype type) -> value {
        value const x = quantizable(g, input);
        value const inverse =
            g.cast(g.op<"Reciprocal">(g.cast(one_parameter(g, scale), dtype::float64)), dtype::float32);
        return quantized(g, x, inverse, one_parameter(g, zero), low, high, type);
    });

/// Sizes of 1 except along the axis.
inline value channel_parameter(graph<11> g, value parameter, value x, std::int64_t axis) {
    safe_vector<sym_int> sizes(static_cast<std::size_t>(x.rank()), 1);
    sizes[static_cast<std::size_t>(normalize_axis(axis, x.rank()))] = -1;
    return reshape(g, parameter, sizes);
}

inline constexpr auto quantize_channels =
    symbolic<"quantized_decomposed::quantize_per_channel(Tensor input, Tensor scales, Tensor zero_points, int axis, "
             "int quant_min, int quant_max, ScalarType dtype) -> Tensor">(
        [](graph<11> g, value input, value scales, value zeros, std::int64_t axis, std::int64_t low, std::int64_t high,
           dtype type) -> value {
            value const x = quantizable(g, input);
            if (scales.dtype() != dtype::float32) return g.unsupported("scales that are not float32");
            if (bits(zeros.dtype()) > 32 && is_floating(zeros.dtype())) return g.unsupported("zero_points of float64");
            value const inverse = g.op<"Reciprocal">(channel_parameter(g, scales, input, axis));
            return quantized(g, x, inverse, channel_parameter(g, zeros, input, axis), low, high, type);
        });

inline void require_dtype(value input, dtype type) {
    static_cast<void>(quantized_range(type));
    if (input.dtype() != type) throw unsupported_error("dtype is not that of the input");
}

/// (x - zero) * scale in the dtype of the result; half-precision dtypes are rounded after each step, but not scale and zero.
inline value dequantized(graph<11> g, value x, value scale, value zero, dtype out) {
    dtype const wide = opmath_type(out);
    value const number = g.cast(g.cast(x, out), wide);
    value const difference = g.cast(g.op<"Sub">(number, g.cast(zero, wide)), out);
    return g.cast(g.op<"Mul">(g.cast(difference, wide), g.cast(scale, wide)), out);
}
/// The dtype of a result.
inline dtype dequantized_dtype(std::optional<dtype> asked) {
    dtype const out = asked.value_or(dtype::float32);
    if (!is_floating(out)) throw unsupported_error("dequantized numbers of " + std::string(name(out)));
    return out;
}

// quant_min and quant_max do not take part in the computation.
inline constexpr auto dequantize_by_numbers =
    symbolic<"quantized_decomposed::dequantize_per_tensor(Tensor input, float scale, int zero_point, int quant_min, "
             "int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">(
        [](graph<11> g, value input, double scale, std::int64_t zero, std::int64_t, std::int64_t, dtype type,
           std::optional<dtype> asked) -> value {
            require_dtype(input, type);
            dtype const out = dequantized_dtype(asked);
            auto const [least, greatest] = quantized_range(type);
            if (out == dtype::float32 && has_linear_quantization(g, type) && zero >= least && zero <= greatest)
                return g.op<"DequantizeLinear">(input, rounded_constant(g, scale, out), g.scalar(zero, type));
            return dequantized(g, input, g.scalar(scale, dtype::float64), g.scalar(zero, dtype::int64), out);
        });

inline constexpr auto dequantize_by_tensors =
    symbolic<"quantized_decomposed::dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int "
             "quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">(
        [](graph<11> g, value input, value scale, value zero, std::int64_t, std::int64_t, dtype type,
           std::optional<dtype> asked) -> value {
            require_dtype(input, type);
            return dequantized(g, input, one_parameter(g, scale), one_parameter(g, zero), dequantized_dtype(asked));
        });

/// Whether all zero points are known and in the range of a dtype.
inline bool are_all_in_range(optional_value zeros, dtype type) {
    if (!zeros) return true;
    if (!zeros->is_constant() || !is_integral(zeros->dtype())) return false;
    auto const [least, greatest] = quantized_range(type);
    tensor const& all = zeros->constant();
    for (std::size_t i = 0; i != static_cast<std::size_t>(all.element_count()); ++i)
        if (auto const n = all.at(i).to<std::int64_t>(); n < least || n > greatest) return false;
    return true;
}

inline constexpr auto dequantize_channels =
    symbolic<"quantized_decomposed::dequantize_per_channel(Tensor input, Tensor scales, Tensor? zero_points, int axis, "
             "int quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor">(
        [](graph<11> g, value input, value scales, optional_value zeros, std::int64_t axis, std::int64_t low,
           std::int64_t high, dtype type, std::optional<dtype> asked) -> value {
            require_dtype(input, type);
            require_quantized_range(low, high, type);
            if (scales.dtype() != dtype::float32) return g.unsupported("scales that are not float32");
            dtype const out = dequantized_dtype(asked);
            std::int64_t const channel = normalize_axis(axis, input.rank());
            if (zeros && is_floating(zeros->dtype())) { // of embeddings: no zero point of ONNX is a float
                value const moved = subtract(g, input, channel_parameter(g, *zeros, input, channel));
                return g.cast(multiply(g, moved, channel_parameter(g, scales, input, channel)), out);
            }
            if (g.opset() >= 13 && has_linear_quantization(g, type) && are_all_in_range(zeros, type)) {
                optional_value const zero = zeros ? optional_value(g.cast(*zeros, type)) : absent;
                return g.cast(g.within<13>().op<"DequantizeLinear">(input, scales, zero, attr::axis_i(channel)), out);
            }
            value const x = g.cast(input, dtype::int64);
            value const moved =
                zeros ? value(g.op<"Sub">(x, g.cast(channel_parameter(g, *zeros, input, channel), dtype::int64))) : x;
            return g.cast(g.op<"Mul">(g.cast(moved, dtype::float32), channel_parameter(g, scales, input, channel)),
                          out);
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

/// The extremes of x along the axes, moved apart so that 0 is between them.
inline std::tuple<value, value> range_with_zero(graph<11> g, value x, axis_list axes, bool keepdim) {
    if (x.dtype() != dtype::float32) throw unsupported_error("the parameters of numbers that are not float32");
    value const zero = g.scalar_like(0, x);
    return {min_of(g, extreme<"ReduceMin">(g, x, axes, keepdim), zero),
            max_of(g, extreme<"ReduceMax">(g, x, axes, keepdim), zero)};
}

/// Scale and zero point for the range of a whole tensor, both [1]. The results do not depend on the dtype of the
/// quantized numbers.
inline constexpr auto choose_parameters =
    symbolic<"quantized_decomposed::choose_qparams.tensor(Tensor input, int quant_min, int quant_max, float eps, "
             "ScalarType dtype) -> (Tensor, Tensor)">([](graph<11> g, value input, std::int64_t low, std::int64_t high,
                                                         double eps, dtype) -> std::tuple<value, value> {
        if (low >= high) throw unsupported_error("quant_min is not less than quant_max");
        auto const [least, greatest] = range_with_zero(g, input, iota(input.rank()), false);
        double const steps = static_cast<double>(high) - static_cast<double>(low);
        value const span = g.op<"Div">(g.op<"Sub">(greatest, least), rounded_constant(g, steps, dtype::float32));
        value const scale = max_of(g, span, g.constant({eps}, dtype::float32, {1}));
        value const moved = g.cast(g.op<"Round">(g.op<"Div">(least, scale)), dtype::int32);
        value const zero = g.op<"Sub">(g.scalar(low, dtype::int64), g.cast(moved, dtype::int64));
        value const bounded = max_of(g, min_of(g, zero, g.scalar(high, dtype::int64)), g.scalar(low, dtype::int64));
        return {g.cast(scale, dtype::float64), bounded};
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
    detail::choose_parameters, detail::choose_token_parameters);

} // namespace ATON_NAMESPACE::mappings
