// SPDX-License-Identifier: MIT
// Quantization in operators that libraries register: quanto, ModelOpt (tensorrt), Quark and bitsandbytes.
// Public header.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include <aton/mappings/affine_quantization.hpp>
#include <aton/mappings/fake_quantization.hpp>
#include <aton/mappings/matrix_product.hpp>
#include <aton/mappings/scaled_product.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The int32 product of rows of int8 with the rows of a matrix of int8.
inline value product_of_rows(graph<11> g, value a, value b) {
    if (a.dtype() != dtype::int8 || b.dtype() != dtype::int8)
        throw unsupported_error("a product of other dtypes than int8");
    return g.op<"MatMulInteger">(a, g.op<"Transpose">(b, attr::perm_i({1, 0})));
}

/// Activations times the rows of a matrix, each with a scale [N, 1]. Integers are multiplied as such, and scaled afterwards.
inline constexpr auto qbytes_product = symbolic<"quanto::qbytes_mm(Tensor A, Tensor B, Tensor scales) -> Tensor">(
    [](graph<11> g, value a, value b, value scales) -> value {
        dtype const out = scales.dtype();
        if (b.rank() != 2 || scales.rank() != 2 || !has_size(scales, 1, 1) || out == dtype::float64)
            return g.unsupported("operands that are not a matrix and one scale for each of its rows");
        value const row = g.op<"Transpose">(scales, attr::perm_i({1, 0}));
        if (a.dtype() == dtype::int8 && b.dtype() == dtype::int8) {
            value const product = g.cast(product_of_rows(g, a, b), dtype::float32);
            return g.cast(multiply(g, product, row), out);
        }
        if (!is_floating(a.dtype())) return g.unsupported("integers of one operand only");
        value const weight = multiply(g, scales, g.cast(b, out));
        return plain_product(g, g.cast(a, out), g.op<"Transpose">(weight, attr::perm_i({1, 0})));
    });

/// x / scale, rounded for integers, within the range of the dtype.
inline constexpr auto quantize_symmetric =
    symbolic<"quanto::quantize_symmetric(Tensor base, ScalarType dtype, int? axis, Tensor scale) -> Tensor">(
        [](graph<11> g, value base, dtype type, std::optional<std::int64_t>, value scale) -> value {
            value const x = divide(g, base, scale);
            if (is_float8(type)) {
                if (g.opset() < 19) refuse_below(19, "float8");
                return g.cast(x, type); // saturates
            }
            auto const [least, greatest] = quantized_range(type);
            value const wide = g.cast(rounded(g, x), opmath_type(x.dtype()));
            auto const limit = [&](std::int64_t n) { return rounded_constant(g, n, wide.dtype()); };
            return g.cast(clip(g, wide, limit(least), limit(greatest)), type);
        });

/// Fields of `bits` bits of each byte as bytes of their own, the lowest field of all bytes first.
inline constexpr auto unpack_fields =
    symbolic<"quanto::unpack(Tensor self, int bits) -> Tensor">([](graph<11> g, value x, std::int64_t width) -> value {
        if (x.dtype() != dtype::uint8 || x.rank() == 0) return g.unsupported("a tensor that does not pack bytes");
        if (width != 2 && width != 4) return g.unsupported("bits other than 2 and 4");
        std::int64_t const count = 8 / width;
        value const wide = g.cast(x, dtype::int32);
        safe_vector<value> fields;
        for (std::int64_t i = 0; i != count; ++i) {
            value const shifted = i == 0 ? wide : value(g.op<"Div">(wide, std::int64_t{1} << (width * i)));
            value const rest = i == count - 1 ? shifted : value(g.op<"Mod">(shifted, std::int64_t{1} << width));
            fields.push_back(rest);
        }
        return g.cast(g.op<"Concat">(fields, attr::axis_i(0)), dtype::uint8);
    });

/// Numbers rounded to those of float8, in float32. Cast saturates.
inline value through_float8(graph<19> g, value x, dtype type) { return g.cast(g.cast(x, type), dtype::float32); }

/// Fake quantization with the largest number of a range: one, or one for each channel or block.
inline constexpr auto quantize_to_range =
    symbolic<"tensorrt::quantize_op(Tensor input, Tensor amax, int num_bits, int exponent_bits, bool unsigned, bool "
             "narrow_range) -> Tensor">([](graph<11> g, value input, value amax, std::int64_t bits,
                                           std::int64_t exponent_bits, bool is_unsigned, bool narrow) -> value {
        bool const is_float = exponent_bits != 0;
        if (is_float && (bits != 8 || exponent_bits != 4))
            return g.unsupported("floats of " + std::to_string(bits) + " bits with " + std::to_string(exponent_bits) +
                                 " exponent bits");
        if (bits < 2 || bits > 16) return g.unsupported("num_bits that are not between 2 and 16");
        value const x = g.cast(input, dtype::float32);
        value const range = g.cast(amax, dtype::float32);
        value const is_zero = is_at_most(g, range, std::exp2(-24));
        if (is_float) {
            if (g.opset() < 19) refuse_below(19, "float8");
            value const safe = choose(g, is_zero, g.scalar(1, dtype::float32), range);
            value const factor = g.op<"Div">(g.scalar(448, dtype::float32), safe);
            value const y = through_float8(g.within<19>(), g.op<"Mul">(x, factor), dtype::float8_e4m3fn);
            return g.cast(g.op<"Mul">(y, g.op<"Reciprocal">(factor)), input.dtype());
        }
        double const bound = std::exp2(static_cast<double>(bits - (is_unsigned ? 0 : 1))) - 1;
        value const factor = g.op<"Div">(g.scalar(bound, dtype::float32), range);
        double const least = narrow ? -bound : -bound - 1;
        value const number = g.op<"Round">(g.op<"Mul">(x, factor));
        value const clamped = clip(g, number, g.scalar(least, dtype::float32), g.scalar(bound, dtype::float32));
        value const below = is_less(g, range, std::exp2(-24));
        value const y = choose(g, below, g.scalar(0, dtype::float32), g.op<"Div">(clamped, factor));
        return g.cast(y, input.dtype());
    });

inline constexpr auto quark_fake_quantize = symbolic<
    "quark::scaled_fake_quantize(str quant_dtype, Tensor inputs, Tensor scale, Tensor zero_point, SymInt axis, SymInt "
    "group_size, float quant_min, float quant_max, SymInt round_mode, str qscheme, str mx_element_dtype) -> Tensor">(
    [](graph<11> g, std::string_view type, value inputs, value scale, value zero, std::int64_t axis,
       std::int64_t group_size, double low, double high, std::int64_t, std::string_view scheme,
       std::string_view) -> value {
        value const x = g.cast(inputs, dtype::float32);
        value const step = g.cast(scale, dtype::float32);
        bool const is_integer = type.starts_with("int") || type.starts_with("uint");
        if (!is_integer && type != "fp8_e4m3" && type != "fp8_e5m2")
            return g.unsupported("quant_dtype '" + std::string(type) + "'");
        if (!is_integer) {
            if (scheme != "per_tensor") return g.unsupported("float8 with scales of a '" + std::string(scheme) + "'");
            if (g.opset() < 19) refuse_below(19, "float8");
            dtype const narrow = type == "fp8_e4m3" ? dtype::float8_e4m3fn : dtype::float8_e5m2;
            value const one = one_parameter(g, step);
            return g.cast(g.op<"Mul">(through_float8(g.within<19>(), g.op<"Div">(x, one), narrow), one),
                          inputs.dtype());
        }
        auto const least = static_cast<std::int64_t>(low);
        auto const most = static_cast<std::int64_t>(high);
        if (scheme == "per_tensor")
            return g.cast(std::get<0>(fake_quantize_by_tensors(g, x, step, zero, least, most)), inputs.dtype());
        if (scheme == "per_channel")
            return g.cast(std::get<0>(fake_quantize_channels(g, x, step, zero, axis, least, most)), inputs.dtype());
        if (scheme != "per_group" || group_size < 1) return g.unsupported("qscheme '" + std::string(scheme) + "'");
        value const moved = swap_axes(g, x, axis, -1);
        value const rows = reshape(g, moved, {-1, group_size});
        value const y = std::get<0>(fake_quantize_channels(g, rows, flat(g, step), flat(g, zero), 0, least, most));
        return g.cast(swap_axes(g, reshape(g, y, g.sizes(moved)), axis, -1), inputs.dtype());
    });

/// Each row as int8, and its largest number. Without a threshold, no column is kept apart.
inline constexpr auto quantize_rows =
    symbolic<"bitsandbytes::int8_vectorwise_quant(Tensor A, float threshold=0.0) -> (Tensor, Tensor, Tensor?)">(
        [](graph<11> g, value a, double threshold) -> std::tuple<value, value, optional_value> {
            if (threshold > 0) throw unsupported_error("a threshold for outliers");
            if (a.rank() != 2 || !is_floating(a.dtype()))
                throw unsupported_error("a tensor that is not a matrix of floats");
            value const wide = g.cast(a, a.dtype() == dtype::float64 ? dtype::float64 : dtype::float32);
            std::int64_t const last[] = {1};
            value const most = g.cast(extreme<"ReduceMax">(g, g.op<"Abs">(wide), last, false), dtype::float32);
            value const factor = g.op<"Div">(g.scalar(127, dtype::float32), unsqueeze(g, most, 1));
            value const number = g.op<"Round">(multiply(g, a, factor));
            return {g.cast(number, dtype::int8), most, optional_value()};
        });

/// The indices of a weight of four bits, row by row. In memory, the first of two is in the high bits. Packed for
/// CPUs, 32 rows are beside each other, column by column, and 32 of their indices are in the low bits of as many bytes,
/// 32 in the high ones.
inline value four_bit_indices(graph<11> g, value bytes, std::int64_t rows, std::int64_t columns, bool is_packed) {
    value const wide = g.cast(bytes, dtype::int32);
    auto const half = [&](bool high, std::int64_t width) {
        return reshape(g, high ? g.op<"Div">(wide, 16) : g.op<"Mod">(wide, 16), {-1, width});
    };
    std::int64_t const width = is_packed ? 32 : 1;
    value const halves[] = {half(!is_packed, width), half(is_packed, width)};
    value const all = g.op<"Concat">(safe_span<value const>(halves), attr::axis_i(-1));
    if (!is_packed) return all;
    std::int64_t const order[] = {0, 2, 1, 3};
    return permute(g, reshape(g, all, {rows / 32, columns / 2, 32, 2}), order);
}

/// A product with a weight that is a table of 16 numbers, an index for each element, and a factor for each block. The
/// kernel for CPUs computes with operands, a table and results of bfloat16.
inline constexpr auto four_bit_product = symbolic<
    "bitsandbytes::gemv_4bit(Tensor A, Tensor B, int[] shapeB, Tensor absmax, Tensor code, int blocksize) -> Tensor">(
    [](graph<11> g, value a, value b, int_list shape, value absmax, value code, std::int64_t block) -> value {
        bool const is_packed = absmax.rank() == 2;
        if (shape.size() != 2 || b.dtype() != dtype::uint8 || code.shape().element_count_or(-1) != 16)
            return g.unsupported("a weight that is not a matrix of bytes with a table of 16 numbers");
        std::int64_t const rows = shape[0];
        std::int64_t const columns = shape[1];
        if (rows < 1 || columns < 2 || columns % 2 != 0 || block < 1 || columns % block != 0 ||
            (is_packed && rows % 32 != 0))
            return g.unsupported("sizes that the blocks do not divide");
        if (absmax.dtype() != (is_packed ? dtype::bfloat16 : dtype::float32) || code.dtype() != dtype::float32)
            return g.unsupported("factors of another dtype");
        if (is_packed && g.opset() < 13) refuse_below(13, "bfloat16");
        auto const narrow = [&](value x) { return g.cast(g.cast(x, dtype::bfloat16), dtype::float32); };
        value const table = is_packed ? narrow(code) : code;
        value const numbers = g.op<"Gather">(flat(g, table), four_bit_indices(g, b, rows, columns, is_packed));
        value const wide = g.cast(absmax, dtype::float32);
        value const factors = is_packed ? value(g.op<"Transpose">(wide, attr::perm_i({1, 0}))) : wide;
        value const blocks = g.op<"Mul">(reshape(g, numbers, {rows, columns / block, block}),
                                         reshape(g, factors, {rows, columns / block, 1}));
        value const weight = g.op<"Transpose">(reshape(g, blocks, {rows, columns}), attr::perm_i({1, 0}));
        if (!is_packed) return plain_product(g, a, g.cast(weight, a.dtype()));
        return g.cast(g.cast(g.op<"MatMul">(narrow(a), weight), dtype::bfloat16), a.dtype());
    });

inline value dequantized_product(graph<11> g, value product, value rows, value columns, optional_dtype type,
                                 optional_value bias) {
    if (rows.dtype() != dtype::float32 || columns.dtype() != dtype::float32)
        throw unsupported_error("statistics that are not float32");
    value const scale = g.op<"Mul">(reshape(g, rows, {-1, 1}), reshape(g, columns, {1, -1}));
    value const matrix = product.rank() == 2 ? product : reshape(g, product, {-1, g.size(product, -1)});
    value y = g.op<"Mul">(g.op<"Mul">(g.cast(matrix, dtype::float32), scale), g.scalar(6.200124e-05, dtype::float32));
    if (bias) y = g.op<"Add">(y, g.cast(*bias, dtype::float32));
    return g.cast(y, type.value_or(dtype::float16));
}

inline constexpr auto product_of_quantized_rows =
    symbolic<"bitsandbytes::int8_scaled_mm(Tensor A, Tensor B, Tensor row_stats, Tensor col_stats, Tensor? bias=None, "
             "ScalarType? dtype=None) -> Tensor">([](graph<11> g, value a, value b, value rows, value columns,
                                                     optional_value bias, optional_dtype type) -> value {
        if (a.rank() != 2 || b.rank() != 2) return g.unsupported("operands that are not matrices");
        return dequantized_product(g, product_of_rows(g, a, b), rows, columns, type, bias);
    });
inline constexpr auto int8_product = symbolic<"bitsandbytes::int8_linear_matmul(Tensor A, Tensor B) -> Tensor">(
    [](graph<11> g, value a, value b) -> value { return product_of_rows(g, a, b); });
inline constexpr auto dequantize_product =
    symbolic<"bitsandbytes::int8_mm_dequant(Tensor A, Tensor row_stats, Tensor col_stats, ScalarType? dtype=None, "
             "Tensor? bias=None) -> Tensor">(
        [](graph<11> g, value a, value rows, value columns, optional_dtype type, optional_value bias) -> value {
            if (a.dtype() != dtype::int32) return g.unsupported("a product that is not int32");
            return dequantized_product(g, a, rows, columns, type, bias);
        });

} // namespace detail

inline constexpr auto library_quantization =
    table(detail::qbytes_product, detail::quantize_symmetric, detail::unpack_fields, detail::quantize_to_range,
          detail::quark_fake_quantize, detail::quantize_rows, detail::product_of_quantized_rows, detail::int8_product,
          detail::dequantize_product, detail::four_bit_product);

} // namespace ATON_NAMESPACE::mappings
