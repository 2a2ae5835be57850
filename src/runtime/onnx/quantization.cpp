// SPDX-License-Identifier: MIT
// ONNX operators: quantization, and products of quantized matrices.
#include "call.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/compute/quantization.hpp"
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

/// A dtype attribute for which 0 means that it is not given.
dtype optional_type(call const& c, std::string_view name, dtype otherwise) {
    return c.i(name, 0) == 0 ? otherwise : c.type(name, otherwise);
}

tensor parameter(call const& c, std::size_t i) {
    return quantization_parameter(c.in(i), c.in(0), c.i("axis", 1), c.i("block_size", 0));
}
tensor zero_point_of(call const& c) { return c.has(2) ? parameter(c, 2) : tensor(); }

results quantize_linear(call const& c) {
    tensor const scale = parameter(c, 1);
    tensor const zero_point = zero_point_of(c);
    dtype const to = zero_point ? zero_point.dtype() : optional_type(c, "output_dtype", dtype::uint8);
    if (optional_type(c, "output_dtype", to) != to) throw error("output_dtype is not the data type of the zero point");
    dtype precision = optional_type(c, "precision", scale.dtype());
    if (is_integral(precision)) precision = dtype::float64;
    else if (bits(precision) <= 8) precision = dtype::float32;
    tensor const scaled = cast(c.in(0), precision) / cast(scale, precision);
    return quantized(scaled, zero_point, to, c.i("saturate", 1) != 0);
}

// The product is computed in float32 if the output is narrower, and rounded once.
results dequantize_linear(call const& c) {
    tensor const scale = parameter(c, 1);
    dtype const given = scale.dtype() == dtype::float8_e8m0 ? dtype::float32 : scale.dtype();
    dtype const to = optional_type(c, "output_dtype", given);
    if (!is_floating(to) || bits(to) <= 8) throw error("dequantization does not support " + std::string(name(to)));
    if (c.has(2) && c.in(2).dtype() != c.in(0).dtype())
        throw error("the data type of the zero point does not match the input");
    dtype const precision = to == dtype::float64 ? to : dtype::float32;
    return cast(centered(c.in(0), zero_point_of(c), precision) * cast(scale, precision), to);
}

results dynamic_quantize_linear(call const& c) {
    tensor const& x = c.in(0);
    tensor const lowest = minimum(min(x, all_axes(x)), scalar(0));
    tensor const highest = maximum(max(x, all_axes(x)), scalar(0));
    tensor const scale = (highest - lowest) / scalar(255);
    tensor const zero_point = quantized(-lowest / scale, {}, dtype::uint8);
    return {quantized(x / scale, zero_point, dtype::uint8), scale, zero_point};
}

/// One element per row of the left matrix, as a column.
tensor by_rows(tensor const& given) { return given && given.rank() == 1 ? given.unsqueezed(1) : given; }
tensor for_rows(tensor const& given, tensor const& x) {
    return given && given.count() == 1 ? reshape(given, {}) : x.rank() == 1 ? given : by_rows(given);
}
/// Elements per column of the right matrix.
tensor for_columns(tensor const& given) { return given && given.count() == 1 ? reshape(given, {}) : given; }

results mat_mul_integer(call const& c) {
    tensor const a = centered(c.in(0), for_rows(c.maybe(2), c.in(0)), dtype::int32);
    tensor const b = centered(c.in(1), for_columns(c.maybe(3)), dtype::int32);
    return matmul(a, b);
}

// 8-bit floats are computed in float32.
results q_linear_mat_mul(call const& c) {
    tensor const& left = c.in(0);
    dtype const type = is_integral(left.dtype()) ? dtype::int32 : dtype::float32;
    tensor const a = centered(left, for_rows(c.maybe(2), left), type);
    tensor const b = centered(c.in(3), for_columns(c.maybe(5)), type);
    tensor const product = cast(matmul(a, b), dtype::float32);
    auto const scale = [&](std::size_t i) { return cast(c.in(i), dtype::float32); };
    tensor const factor = for_rows(scale(1), left) * for_columns(scale(4)) / for_columns(scale(6));
    dtype const to = c.has(7) ? c.in(7).dtype() : left.dtype();
    return quantized(product * factor, for_columns(c.maybe(7)), to);
}

} // namespace

rows quantization() {
    static constexpr row all[] = {
        {"DequantizeLinear", dequantize_linear},
        {"DynamicQuantizeLinear", dynamic_quantize_linear},
        {"MatMulInteger", mat_mul_integer},
        {"QLinearMatMul", q_linear_mat_mul},
        {"QuantizeLinear", quantize_linear},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
