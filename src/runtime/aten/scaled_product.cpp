// SPDX-License-Identifier: MIT
// ATen operators: products of quantized matrices with their scales. They are computed in float32.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

results int8_weight_product(call const& c) {
    tensor const x = c.t("self");
    tensor const weight = c.t("mat2");
    tensor const scales = c.t("scales");
    if (x.rank() != 2 || weight.rank() != 2 || weight.size(1) != x.size(1) || scales.sizes() != sizes{weight.size(0)})
        throw error("the sizes of the matrices and scales do not match");
    bool const narrow = x.dtype() == dtype::float16 || x.dtype() == dtype::bfloat16;
    if (!narrow && x.dtype() != dtype::float32) throw error("self must have a float of 16 or 32 bits");
    if (weight.dtype() != dtype::int8 || scales.dtype() != x.dtype())
        throw error("mat2 must be int8, and the scales must have the dtype of self");
    tensor const scaled = cast(weight, dtype::float32) * cast(scales, dtype::float32).unsqueezed(1);
    return cast(matmul(cast(x, dtype::float32), transpose(scaled, 0, 1)), x.dtype());
}

/// torch's own kernel on CPUs without KleidiAI: rows are quantized to int8, halves away from 0.
results dynamic_int4_product(call const& c) {
    tensor const x = c.t("inp");
    tensor const packed = c.t("packed_weights");
    std::int64_t const columns = c.i("in_features");
    std::int64_t const rows = c.i("out_features");
    std::int64_t const block = c.i("block_size");
    if (rows < 1 || columns < 2 || block < 2 || columns % 2 != 0 || columns % block != 0 || rows > 1 << 20 ||
        columns > 1 << 20)
        throw error("the blocks do not divide the rows");
    std::int64_t const count = columns / block;
    std::int64_t const integers = rows * columns / 2;
    std::int64_t const scales = rows * count;
    bool const has_bias = packed.count() == integers + scales + rows;
    if (x.rank() != 2 || x.sizes()[1] != columns || x.dtype() != dtype::float32 || packed.dtype() != dtype::float32 ||
        packed.rank() != 1 || (packed.count() != integers + scales && !has_bias))
        throw error("the sizes of the weight do not match");
    auto const part = [&](std::int64_t first, std::int64_t size) { return packed.sliced(0, first, size); };
    tensor const least = minimum(min(x, {1}, true), 0.0);
    tensor const most = maximum(max(x, {1}, true), 0.0);
    tensor const step = where(equal(most, least), scalar(1), scalar(255) / (most - least));
    tensor const low = least * step;
    tensor const high = most * step;
    tensor const error_of = (low + scalar(-128)) + (high + scalar(127));
    tensor const middle =
        round(clamp(where(greater(error_of, 0.0), scalar(-128) - low, scalar(127) - high), -128, 127));
    tensor const scaled = x * step;
    tensor const size = abs(scaled);
    tensor const up = cast(greater_equal(size - floor(size), 0.5), dtype::float32);
    tensor const whole = where(less(scaled, 0.0), -(floor(size) + up), floor(size) + up);
    tensor const number = clamp(whole + middle, -128, 127) - middle;
    tensor const bytes = reshape(part(0, integers), {rows, columns / 2, 1});
    tensor const upper = floor(bytes / scalar(16));
    std::vector<tensor> const halves = {bytes - upper * scalar(16), upper};
    tensor const weight = reshape(concat(halves, 2) + scalar(-8), {rows, count, block});
    tensor const scaled_weight = weight * reshape(part(integers, scales), {rows, count, 1});
    tensor y = matmul(number, transpose(reshape(scaled_weight, {rows, columns}), 0, 1)) * (scalar(1) / step);
    if (has_bias) y = y + part(integers + scales, rows);
    return y;
}

struct scaled_operands {
    tensor scale_a;
    tensor scale_b;
    tensor scale_result; ///< may be empty
    bool by_row = false;
    bool drops_bias = false;
};

/// As in ATen, the result saturates in float8_e4m3fn only.
tensor product_of_float8(call const& c, scaled_operands const& o) {
    tensor const a = c.t("self");
    tensor const b = c.t("mat2");
    if (!is_float8(a.dtype()) || !is_float8(b.dtype())) throw error("the matrices must be float8");
    if (a.rank() != 2 || b.rank() != 2 || a.size(1) != b.size(0)) throw error("the matrices cannot be multiplied");
    if (o.scale_a.dtype() != dtype::float32 || o.scale_b.dtype() != dtype::float32)
        throw error("the scales must be float32");
    bool const fits = o.by_row ? o.scale_a.sizes() == sizes{a.size(0), 1} && o.scale_b.sizes() == sizes{1, b.size(1)}
                               : o.scale_a.count() == 1 && o.scale_b.count() == 1;
    if (!fits) throw error("the scales must be two numbers, or one per row and one per column");
    auto const descaled = [&](tensor const& x, tensor const& scale) {
        return cast(x, dtype::float32) * (o.by_row ? scale : reshape(scale, {}));
    };
    tensor y = matmul(descaled(a, o.scale_a), descaled(b, o.scale_b));
    if (tensor const bias = c.maybe("bias")) {
        if (bias.sizes() != sizes{b.size(1)}) throw error("the bias must have one element per column");
        if (!o.drops_bias) y = y + cast(bias, dtype::float32);
    }
    dtype const type = c.type("out_dtype", a.dtype());
    dtype const named = c.type("out_dtype");
    bool const is_narrow = named == dtype::float8_e4m3fn || named == dtype::float8_e5m2;
    if (is_narrow && o.scale_result) y = y * scalar(1 / to_host(o.scale_result).item().to<float>());
    return cast(y, type, type != dtype::float8_e5m2);
}

results scaled_mm(call const& c) {
    scaled_operands o{c.t("scale_a"), c.t("scale_b"), c.maybe("scale_result")};
    o.by_row = o.scale_a.count() != 1 || o.scale_b.count() != 1;
    if (o.scale_result && (o.scale_result.count() != 1 || o.scale_result.dtype() != dtype::float32))
        throw error("scale_result must be one float32 number");
    return product_of_float8(c, o);
}

/// The scale of an operand by its recipe: 0 for one number, 1 for one per row.
tensor only_scale(call const& c, char operand) {
    auto const named = [&](std::string_view name) { return std::string(name) + '_' + operand; };
    for (std::int64_t const swizzle : c.ints(named("swizzle")))
        if (swizzle != 0) throw error("the scales are swizzled");
    if (c.tensors(named("scale")).size() != 1 || c.ints(named("recipe")).size() != 1)
        throw error("there must be one scale and one recipe");
    return c.tensors(named("scale"))[0];
}

results scaled_mm_v2(call const& c) {
    std::vector<std::int64_t> const dims = c.ints("contraction_dim");
    if (!dims.empty() && dims != std::vector<std::int64_t>{1, 0}) throw error("the contraction is not over (1, 0)");
    scaled_operands o{only_scale(c, 'a'), only_scale(c, 'b'), {}};
    std::int64_t const recipe = c.ints("recipe_a")[0];
    if (recipe != c.ints("recipe_b")[0] || recipe < 0 || recipe > 1) throw error("the recipes are not supported");
    o.by_row = recipe == 1;
    o.drops_bias = c.t("mat2").rank() == 2 && c.t("mat2").size(0) == 0;
    return product_of_float8(c, o);
}

} // namespace

rows scaled_product() {
    static constexpr row all[] = {
        {"_dyn_quant_matmul_4bit", dynamic_int4_product},
        {"_scaled_mm", scaled_mm},
        {"_scaled_mm_v2", scaled_mm_v2},
        {"_weight_int8pack_mm", int8_weight_product},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
