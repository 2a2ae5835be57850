// SPDX-License-Identifier: MIT
// Products of quantized matrices with their scales: int8 weights, and float8 operands.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <aton/mappings/conversion.hpp>
#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/unary.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// self [M, K] times a weight [N, K] of int8 with one scale per row.
inline constexpr auto int8_weight_product = symbolic<"aten::_weight_int8pack_mm(self, mat2, scales)">(
    [](graph<7> g, value self, value weight, value scales) -> value {
        if (self.rank() != 2 || weight.rank() != 2 || scales.rank() != 1)
            return g.unsupported("operands that are not two matrices and a vector of scales");
        if (weight.dtype() != dtype::int8) return g.unsupported("a weight of another dtype than int8");
        if (scales.dtype() != self.dtype()) return g.unsupported("scales of another dtype than self");
        return in_opmath(g, self, [&](value x) -> value {
            value const transposed = g.op<"Transpose">(g.cast(weight, x.dtype()), attr::perm_i({1, 0}));
            return g.op<"Mul">(g.op<"MatMul">(x, transposed), g.cast(scales, x.dtype()));
        });
    });

/// Integers in the low and the high half of each byte.
inline value nibbles(graph<11> g, value bytes) {
    value const wide = g.cast(bytes, dtype::int32);
    value const low = g.op<"Mod">(wide, 16);
    value const high = g.op<"Div">(wide, 16);
    std::int64_t const last[] = {-1};
    value const parts[] = {unsqueeze(g, low, last), unsqueeze(g, high, last)};
    return g.op<"Concat">(safe_span<value const>(parts), attr::axis_i(-1));
}

/// The parts of a weight of torch's kernels for int4: [N, K/2] integers, [N, K/g] scales, and a bias.
struct packed_rows {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t block = 0;
};
inline packed_rows known_sizes(std::int64_t rows, std::int64_t columns, std::int64_t block) {
    if (rows < 1 || columns < 2 || block < 2 || columns % 2 != 0 || columns % block != 0)
        throw unsupported_error("sizes that the blocks do not divide");
    return {rows, columns, block};
}

/// Integers of blocks with their scales: `columns` of each are multiplied at once.
inline value product_of_blocks(graph<11> g, value a, value integers, value scales, packed_rows p) {
    std::int64_t const count = p.columns / p.block;
    value const wide = g.cast(reshape(g, integers, {p.rows, count, p.block}), dtype::float32);
    value const weight = g.op<"Mul">(wide, reshape(g, scales, {p.rows, count, 1}));
    return g.op<"MatMul">(a, g.op<"Transpose">(reshape(g, weight, {p.rows, p.columns}), attr::perm_i({1, 0})));
}

/// Activations are quantized for each row to int8, asymmetrically. The weight is the one of torch's own kernel: bytes
/// with two integers each, scales and biases, all as float32. That of KleidiAI is another.
inline constexpr auto dynamic_int4_product =
    symbolic<"aten::_dyn_quant_matmul_4bit(inp, packed_weights, block_size, in_features, out_features)">(
        [](graph<11> g, value x, value packed, std::int64_t block, std::int64_t columns, std::int64_t rows) -> value {
            packed_rows const p = known_sizes(rows, columns, block);
            std::int64_t const integers = rows * columns / 2;
            std::int64_t const scales = rows * (columns / block);
            std::int64_t const total = packed.shape().element_count_or(-1);
            bool const has_bias = total == integers + scales + rows;
            if (packed.rank() != 1 || packed.dtype() != dtype::float32 || (total != integers + scales && !has_bias))
                return g.unsupported("a weight in the layout of KleidiAI: pack it with torch on another CPU");
            if (x.rank() != 2 || x.dtype() != dtype::float32)
                return g.unsupported("activations that are not a float32 matrix");
            std::int64_t const last[] = {1};
            value const zero = g.scalar(0, dtype::float32);
            value const least = min_of(g, reduce<"ReduceMin">(g, x, last, true), zero);
            value const most = max_of(g, reduce<"ReduceMax">(g, x, last, true), zero);
            value const span = g.op<"Sub">(most, least);
            value const step = g.within<11>().op<"Where">(
                is_equal(g, span, 0), g.scalar(1, dtype::float32), g.op<"Div">(g.scalar(255, dtype::float32), span));
            value const low = g.op<"Mul">(least, step);
            // The end of the range with the smaller error; both are the same, but for rounding, which decides on halves.
            value const high = g.op<"Mul">(most, step);
            auto const from = [&](double end, value v) -> value {
                return g.op<"Sub">(g.scalar(end, dtype::float32), v);
            };
            value const middle = g.op<"Round">(
                g.op<"Where">(is_greater(g, g.op<"Add">(low, high), 1), from(-128, low), from(127, high)));
            value const scaled = g.op<"Mul">(x, step);
            // Halves away from 0, as std::round.
            value const size = g.op<"Abs">(scaled);
            value const floor = g.op<"Floor">(size);
            value const up = g.cast(g.op<"Not">(is_less(g, g.op<"Sub">(size, floor), 0.5)), dtype::float32);
            value const whole = g.op<"Mul">(g.op<"Sign">(scaled), g.op<"Add">(floor, up));
            value const moved =
                clip(g, g.op<"Add">(whole, middle), g.scalar(-128, dtype::float32), g.scalar(127, dtype::float32));
            value const number = g.op<"Sub">(moved, middle);
            value const bytes = g.cast(slice(g, packed, 0, 0, integers), dtype::uint8);
            value const weight = g.op<"Sub">(nibbles(g, bytes), 8);
            value y = product_of_blocks(g, number, weight, slice(g, packed, 0, integers, integers + scales), p);
            y = g.op<"Mul">(y, g.op<"Reciprocal">(step));
            return has_bias ? value(g.op<"Add">(y, slice(g, packed, 0, integers + scales, total))) : y;
        });

inline bool has_one_element(value x) { return x.has_rank() && x.shape().element_count_or(-1) == 1; }
inline bool has_size(value x, std::int64_t axis, std::int64_t n) { return x.size(axis) == dim(n); }

/// A float8 operand times its scale: one number, or one for each row of self, or column of mat2.
inline value descaled(graph<19> g, value x, value scale) {
    value const wide = g.cast(x, dtype::float32);
    return g.op<"Mul">(wide, has_one_element(scale) && scale.rank() > 2 ? reshape(g, scale, {1}) : scale);
}

inline void expect_scales(value scale_a, value scale_b) {
    if (scale_a.dtype() != dtype::float32 || scale_b.dtype() != dtype::float32)
        throw unsupported_error("scales of another dtype than float32");
    bool const by_row =
        scale_a.rank() == 2 && has_size(scale_a, 1, 1) && scale_b.rank() == 2 && has_size(scale_b, 0, 1);
    if (!by_row && !(has_one_element(scale_a) && has_one_element(scale_b)))
        throw unsupported_error("scales that are neither two numbers nor one per row of self and per column of mat2");
}

/// The product in float32, converted.
inline value product_of_float8(graph<19> g, value self, value mat2, value scale_a, value scale_b, optional_value bias,
                               dtype type) {
    if (!is_float8(self.dtype()) || !is_float8(mat2.dtype())) return g.unsupported("operands that are not float8");
    if (self.rank() != 2 || mat2.rank() != 2) return g.unsupported("operands that are not matrices");
    expect_scales(scale_a, scale_b);
    value y = g.op<"MatMul">(descaled(g, self, scale_a), descaled(g, mat2, scale_b));
    if (bias && bias->rank() != 1) return g.unsupported("a bias that is not a vector");
    if (bias) y = g.op<"Add">(y, g.cast(*bias, dtype::float32));
    if (is_float8(type) && type != dtype::float8_e4m3fn && type != dtype::float8_e5m2)
        return g.unsupported("a result of " + std::string(name(type)));
    return convert(g, y, type);
}

/// use_fast_accum only selects an implementation.
inline constexpr auto scaled_mm =
    symbolic<"aten::_scaled_mm(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)">(
        [](graph<19> g, value self, value mat2, value scale_a, value scale_b, optional_value bias,
           optional_value scale_result, optional_dtype out_dtype, bool /*use_fast_accum*/) -> value {
            if (scale_result)
                return g.unsupported("scale_result, by which ATen divides on the CPU and multiplies on CUDA");
            return product_of_float8(g, self, mat2, scale_a, scale_b, bias, out_dtype ? *out_dtype : self.dtype());
        });

/// One scale for a tensor (recipe 0), or one per row (recipe 1), in the order of the rows.
inline value only_scale(safe_span<value const> scales, int_list recipes, int_list swizzles) {
    bool const known = scales.size() == 1 && recipes.size() == 1 && (recipes[0] == 0 || recipes[0] == 1);
    if (!known) throw unsupported_error("scales of blocks, or of two levels");
    for (std::int64_t const swizzle : swizzles)
        if (swizzle != 0) throw unsupported_error("swizzled scales");
    return scales[0];
}

inline constexpr auto scaled_mm_v2 = symbolic<"aten::_scaled_mm_v2(self, mat2, scale_a, recipe_a, swizzle_a, scale_b, "
                                              "recipe_b, swizzle_b, bias, out_dtype, contraction_dim, use_fast_accum)">(
    [](graph<19> g, value self, value mat2, safe_span<value const> scale_a, int_list recipe_a, int_list swizzle_a,
       safe_span<value const> scale_b, int_list recipe_b, int_list swizzle_b, optional_value bias,
       optional_dtype out_dtype, int_list contraction_dim, bool /*use_fast_accum*/) -> value {
        bool const usual = contraction_dim.empty() ||
                           (contraction_dim.size() == 2 && contraction_dim[0] == 1 && contraction_dim[1] == 0);
        if (!usual) return g.unsupported("contraction_dim");
        value const a = only_scale(scale_a, recipe_a, swizzle_a);
        value const b = only_scale(scale_b, recipe_b, swizzle_b);
        if (recipe_a[0] != recipe_b[0]) return g.unsupported("different recipes of the two scales");
        if (recipe_a[0] == 0 && !(has_one_element(a) && has_one_element(b)))
            return g.unsupported("a scale of a tensor that is not one number");
        if (self.size(1) == dim(0)) bias = {}; // ATen does not add it to products without terms
        return product_of_float8(g, self, mat2, a, b, bias, out_dtype ? *out_dtype : self.dtype());
    });

} // namespace detail

inline constexpr auto scaled_product = table(detail::int8_weight_product, detail::dynamic_int4_product,
                                             // float8 was added in opset 19.
                                             detail::scaled_mm, detail::scaled_mm_v2);

} // namespace ATON_NAMESPACE::mappings
