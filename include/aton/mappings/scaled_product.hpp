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

inline constexpr auto scaled_product = table(detail::int8_weight_product,
                                             // float8 was added in opset 19.
                                             detail::scaled_mm, detail::scaled_mm_v2);

} // namespace ATON_NAMESPACE::mappings
