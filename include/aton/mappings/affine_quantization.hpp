// SPDX-License-Identifier: MIT
// Quantization as torchao's programs write it: blocks of any shape, with parameters that are chosen for each.
// Public header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <aton/mappings/conversion.hpp>
#include <aton/mappings/decomposed_quantization.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// How blocks of a tensor share parameters.
struct quantized_blocks {
    safe_vector<sym_int>
        split; ///< the sizes, where a dimension with several blocks is two: their number, and their size
    safe_vector<sym_int> parameters;  ///< those of the parameters: 1 inside blocks
    safe_vector<sym_int> counts;      ///< the number of blocks along each dimension
    safe_vector<std::int64_t> inside; ///< the axes of `split` inside blocks
    bool is_split = false;            ///< whether `split` has more dimensions than the tensor
};

inline quantized_blocks blocks_of(graph<11> g, value x, size_list block_size) {
    if (std::cmp_not_equal(block_size.size(), x.rank()))
        throw unsupported_error("a block_size with another number of dimensions than the tensor");
    quantized_blocks out;
    for (std::size_t i = 0; i != block_size.size(); ++i) {
        sym_int const size = g.size(x, static_cast<std::int64_t>(i));
        sym_int const& block = block_size[i];
        bool const known = size.is_constant() && block.is_constant();
        bool const is_whole = known ? size.constant() == block.constant() : !block.is_constant();
        if (known && (block.constant() < 1 || size.constant() % block.constant() != 0))
            throw unsupported_error("a size of " + std::to_string(size.constant()) + " that blocks of " +
                                    std::to_string(block.constant()) + " do not divide");
        auto const axis = static_cast<std::int64_t>(out.split.size());
        if (block.is(1) || is_whole) {
            out.split.push_back(size);
            out.counts.push_back(block.is(1) ? size : sym_int(1));
            out.parameters.push_back(out.counts.back());
            if (!block.is(1)) out.inside.push_back(axis);
            continue;
        }
        out.is_split = true;
        out.counts.push_back(size / block);
        out.split.push_back(out.counts.back());
        out.split.push_back(block);
        out.parameters.push_back(out.counts.back());
        out.parameters.push_back(1);
        out.inside.push_back(axis + 1);
    }
    return out;
}

/// x with the dimensions of blocks, and back.
inline value in_blocks(graph<11> g, value x, quantized_blocks const& b) {
    return b.is_split ? reshape(g, x, b.split) : x;
}
inline value out_of_blocks(graph<11> g, value y, value like, quantized_blocks const& b) {
    return b.is_split ? reshape(g, y, g.sizes(like)) : y;
}
inline value block_parameter(graph<11> g, value parameter, quantized_blocks const& b) {
    return reshape(g, parameter, b.parameters);
}

/// Rounded to integers, in the dtype of x.
inline value rounded(graph<11> g, value x) {
    return g.cast(round_to_even(g, g.cast(x, opmath_type(x.dtype()))), x.dtype());
}

inline void require_affine_input(value x) {
    if (x.dtype() != dtype::float32 && x.dtype() != dtype::float16 && x.dtype() != dtype::bfloat16)
        throw unsupported_error("quantization of " + std::string(name(x.dtype())));
}

/// The range of quantized numbers: that of the dtype if it is not given.
struct affine_range {
    double low = 0;
    double high = 0;
};
inline affine_range range_of(dtype type, std::optional<number> const& low, std::optional<number> const& high) {
    auto const [least, greatest] = quantized_range(type);
    affine_range const out{low ? low->constant<double>() : static_cast<double>(least),
                           high ? high->constant<double>() : static_cast<double>(greatest)};
    if (out.low < static_cast<double>(least) || out.high > static_cast<double>(greatest))
        throw unsupported_error("quant_min or quant_max is out of the range of the dtype");
    return out;
}

/// x is multiplied by the inverse of the scale, as torchao does: the largest numbers of a token lie halfway between two
/// quantized ones, so that a division gives others.
inline constexpr auto quantize_affine =
    symbolic<"torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
             "output_dtype, Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor">(
        [](graph<11> g, value input, size_list block_size, value scale, optional_value zero, dtype type,
           std::optional<number> low, std::optional<number> high) -> value {
            require_affine_input(input);
            if (!zero) return g.unsupported("no zero_point"); // as torchao
            affine_range const range = range_of(type, low, high);
            quantized_blocks const b = blocks_of(g, input, block_size);
            value const inverse = g.op<"Reciprocal">(block_parameter(g, scale, b));
            value const number = rounded(g, multiply(g, in_blocks(g, input, b), inverse));
            value const moved = add(g, number, block_parameter(g, *zero, b));
            auto const limit = [&](double n) { return rounded_constant(g, n, moved.dtype()); };
            return out_of_blocks(g, g.cast(clip(g, moved, limit(range.low), limit(range.high)), type), input, b);
        });

inline constexpr auto dequantize_affine = symbolic<
    "torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
    "input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=6) -> Tensor">(
    [](graph<11> g, value input, size_list block_size, value scale, optional_value zero, dtype type,
       std::optional<number> low, std::optional<number> high, dtype out) -> value {
        if (input.dtype() != type) return g.unsupported("input_dtype is not the dtype of the input");
        (void)range_of(type, low, high); // it does not take part in the computation
        if (out != dtype::float32 && out != dtype::float16 && out != dtype::bfloat16)
            return g.unsupported("dequantized numbers of " + std::string(name(out)));
        quantized_blocks const b = blocks_of(g, input, block_size);
        value number = g.cast(in_blocks(g, input, b), out);
        if (zero) number = subtract(g, number, g.cast(block_parameter(g, *zero, b), out));
        return g.cast(out_of_blocks(g, multiply(g, number, block_parameter(g, scale, b)), input, b), out);
    });

/// The smallest and largest numbers of each block, moved apart so that 0 is between them.
inline std::tuple<value, value> block_extremes(graph<11> g, value x, quantized_blocks const& b, bool keepdim) {
    value const split = in_blocks(g, x, b);
    value const wide = g.cast(split, opmath_type(x.dtype())); // ONNX Runtime reduces few half-precision dtypes
    auto const [least, greatest] = range_with_zero(g, wide, b.inside, keepdim);
    return {g.cast(least, x.dtype()), g.cast(greatest, x.dtype())};
}

inline value number_over(graph<11> g, value x, double n) {
    dtype const wide = opmath_type(x.dtype()); // a divisor that were rounded to 16 bits would move the zero point
    return g.cast(g.op<"Div">(g.cast(x, wide), rounded_constant(g, n, wide)), x.dtype());
}
inline value at_least(graph<11> g, value x, double n) {
    value const wide = g.cast(x, opmath_type(x.dtype()));
    return g.cast(max_of(g, wide, g.cast(rounded_constant(g, n, x.dtype()), wide.dtype())), x.dtype());
}

/// Scale and zero point of a range around 0.
inline std::tuple<value, value> symmetric_parameters(graph<11> g, value least, value greatest, affine_range range,
                                                     bool clips, double eps) {
    value scale;
    if (clips) {
        value const largest = max_of(g, g.op<"Neg">(least), greatest);
        scale = number_over(g, largest, (range.high - range.low) / 2);
    } else {
        value const below = number_over(g, least, range.low);
        value const above = number_over(g, greatest, range.high);
        scale = choose(g, is_greater(g, below, above), below, above);
    }
    double const middle = std::trunc((range.high + range.low + 1) / 2);
    value const zero = expand_like(g, rounded_constant(g, middle, scale.dtype()), scale);
    return {at_least(g, scale, eps), zero};
}

inline std::tuple<value, value> asymmetric_parameters(graph<11> g, value least, value greatest, affine_range range,
                                                      double eps) {
    value const span = subtract(g, greatest, least);
    value const scale = at_least(g, number_over(g, span, range.high - range.low), eps);
    value const steps = rounded(g, divide(g, least, scale));
    auto const constant = [&](double n) { return rounded_constant(g, n, steps.dtype()); };
    value const zero = g.op<"Sub">(constant(range.low), steps);
    return {scale, clip(g, zero, constant(range.low), constant(range.high))};
}

inline constexpr auto choose_affine_parameters = symbolic<
    "torchao::choose_qparams_affine(Tensor? input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, "
    "Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, ScalarType? "
    "zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)">(
    [](graph<11> g, optional_value input, std::string_view mapping, size_list block_size, dtype type,
       std::optional<number> low, std::optional<number> high, std::optional<double> eps, optional_dtype scale_type,
       optional_dtype zero_type, bool keepdim) -> std::tuple<value, value> {
        if (!input) throw unsupported_error("no input");
        require_affine_input(*input);
        bool const is_symmetric = mapping == "SYMMETRIC" || mapping == "SYMMETRIC_NO_CLIPPING_ERR";
        if (!is_symmetric && mapping != "ASYMMETRIC")
            throw unsupported_error("mapping_type '" + std::string(mapping) + "'");
        affine_range const range = range_of(type, low, high);
        quantized_blocks const b = blocks_of(g, *input, block_size);
        auto const [least, greatest] = block_extremes(g, *input, b, keepdim);
        bool const is_half = input->dtype() == dtype::float16;
        double const smallest = is_half ? 6.103515625e-05 : static_cast<double>(std::numeric_limits<float>::min());
        auto [scale, zero] =
            is_symmetric
                ? symmetric_parameters(g, least, greatest, range, mapping == "SYMMETRIC", eps.value_or(smallest))
                : asymmetric_parameters(g, least, greatest, range, eps.value_or(smallest));
        if (keepdim && b.is_split) {
            scale = reshape(g, scale, b.counts);
            zero = reshape(g, zero, b.counts);
        }
        dtype const zeros = zero_type.value_or(is_symmetric ? zero.dtype() : dtype::int32);
        return {g.cast(scale, scale_type.value_or(scale.dtype())), g.cast(zero, zeros)};
    });

/// The largest number of a float8 dtype.
inline double greatest_of(dtype type) {
    switch (type) {
    case dtype::float8_e4m3fn: return 448;
    case dtype::float8_e5m2:
    case dtype::float8_e5m2fnuz: return 57344;
    case dtype::float8_e4m3fnuz: return 240;
    default: throw unsupported_error("a float8_dtype that is not float8");
    }
}

/// A scale for each block that a tensor has along its dimensions, repeated over the block. One that broadcasts stays as
/// it is.
inline value scale_of_elements(graph<11> g, value scale, value x) {
    bool broadcasts = scale.rank() <= x.rank() && (scale.rank() == x.rank() || scale.shape().element_count_or(-1) == 1);
    for (std::int64_t i = 0; broadcasts && i != scale.rank(); ++i)
        broadcasts = scale.size(i) == dim(1) || scale.size(i) == x.size(x.rank() - scale.rank() + i);
    if (broadcasts) return scale;
    if (scale.rank() != x.rank() || !scale.shape().is_static() || !x.shape().is_static())
        throw unsupported_error("a scale whose blocks are not known");
    safe_vector<sym_int> apart;
    safe_vector<sym_int> expanded;
    for (std::int64_t i = 0; i != x.rank(); ++i) {
        std::int64_t const count = scale.size(i).size();
        std::int64_t const size = x.size(i).size();
        if (count == 0 || size % count != 0)
            throw unsupported_error("a scale whose sizes do not divide those of the tensor");
        apart.push_back(count);
        apart.push_back(1);
        expanded.push_back(count);
        expanded.push_back(size / count);
    }
    return reshape(g, expand_to(g, reshape(g, scale, apart), g.ints(expanded)), g.sizes(x));
}

inline constexpr auto choose_float8_scale =
    symbolic<"torchao::choose_scale_float8(Tensor tensor, SymInt[] block_size, ScalarType float8_dtype=24, ScalarType "
             "scale_dtype=6, float? hp_value_lb=None, float? hp_value_ub=None) -> Tensor">(
        [](graph<11> g, value x, size_list block_size, dtype type, dtype scale_type, std::optional<double> low,
           std::optional<double> high) -> value {
            if (scale_type != dtype::float32) return g.unsupported("a scale of " + std::string(name(scale_type)));
            quantized_blocks const b = blocks_of(g, x, block_size);
            value const wide = g.cast(in_blocks(g, x, b), opmath_type(x.dtype()));
            value most = g.cast(extreme<"ReduceMax">(g, g.op<"Abs">(wide), b.inside, true), x.dtype());
            if (low || high)
                most = clip(g,
                            most,
                            rounded_constant(g, low.value_or(0), x.dtype()),
                            rounded_constant(g, high.value_or(std::numeric_limits<double>::infinity()), x.dtype()));
            return g.cast(reshape(g, number_over(g, most, greatest_of(type)), b.counts), dtype::float32);
        });

/// Cast to float8 saturates, as torchao's clamp does.
inline constexpr auto quantize_float8 = symbolic<
    "torchao::quantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType float8_dtype=24) -> "
    "Tensor">([](graph<19> g, value x, value scale, dtype type) -> value {
    (void)greatest_of(type);
    value const scaled = divide(g, g.cast(x, dtype::float32), scale_of_elements(g, scale, x));
    if (scaled.dtype() != dtype::float32) return g.unsupported("a scale of " + std::string(name(scale.dtype())));
    return g.cast(scaled, type);
});

inline constexpr auto dequantize_float8 = symbolic<
    "torchao::dequantize_affine_float8_non_decomposed(Tensor tensor, Tensor scale, ScalarType output_dtype=6) -> "
    "Tensor">([](graph<19> g, value x, value scale, dtype out) -> value {
    if (!is_float8(x.dtype())) return g.unsupported("a tensor that is not float8");
    return g.cast(multiply(g, g.cast(x, dtype::float32), scale_of_elements(g, scale, x)), out);
});

} // namespace detail

inline constexpr auto affine_quantization = table(detail::quantize_affine, detail::dequantize_affine,
                                                  detail::choose_affine_parameters, detail::choose_float8_scale,
                                                  // float8 was added in opset 19.
                                                  detail::quantize_float8, detail::dequantize_float8);

} // namespace ATON_NAMESPACE::mappings
