// SPDX-License-Identifier: MIT
// bitsandbytes: an operator of ONNX Runtime with a body for other runtimes, words, dtypes and lists of numbers as arguments, a result that
// may be None.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include <aton/aton.hpp>

namespace bitsandbytes {

using namespace aton::dsl;

using code_table = std::array<double, 16>;

// The numbers that four bits stand for: quantiles of a normal distribution; a sign, two bits of exponent and one of mantissa.
// clang-format off: a table
inline constexpr code_table nf4 = {
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
    -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
    0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
};
inline constexpr code_table fp4 = {
    0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 1.0 / 2, 1.0 / 6, 1.0 / 4,
    0, -1.0 / 192, -2.0 / 3, -1, -1.0 / 3, -1.0 / 2, -1.0 / 6, -1.0 / 4,
};
// clang-format on

// Two numbers a byte, the first in its high bits; a scale for each block, of which the last may be shorter.
inline value from_4bit(graph<13> g, value packed, value absmax, value code, std::int64_t block,
                       std::span<std::int64_t const> shape) {
    std::int64_t count = 1;
    for (std::int64_t const size : shape) count *= size;
    value const bytes = g.cast<dtype::int64>(g.op<"Reshape">(packed, g.ints({-1, 1})));
    value const indices = g.op<"Concat">(g.op<"Div">(bytes, 16), g.op<"Mod">(bytes, 16), attr::axis_i(1));
    value const numbers = g.op<"Gather">(code, g.op<"Reshape">(indices, g.ints({-1})));
    value const blocks = g.op<"Expand">(g.op<"Reshape">(absmax, g.ints({-1, 1})), g.ints({1, block}));
    value const scales = g.op<"Slice">(g.op<"Reshape">(blocks, g.ints({-1})), g.ints({0}), g.ints({count}));
    return g.op<"Reshape">(g.op<"Mul">(numbers, scales), g.ints(shape));
}

inline value product(graph<13> g, value x, value weight) {
    return g.op<"MatMul">(x, g.op<"Transpose">(g.cast_like(weight, x), attr::perm_i({1, 0})));
}

inline constexpr auto mat_mul_4bit = [](graph<13> g, value a, value b, value absmax, std::int64_t k, std::int64_t n,
                                        std::int64_t block, std::int64_t quant_type, std::int64_t /*training_mode*/,
                                        std::int64_t /*transB*/) {
    value const code = g.cast_like(g.constant(quant_type == 0 ? fp4 : nf4, dtype::float32), absmax);
    return product(g, a, from_4bit(g, b, absmax, code, block, std::array{n, k}));
};

// The operator as ONNX Runtime declares it; a runtime without it runs the body.
inline constexpr auto microsoft =
    domain<"com.microsoft", 1,
           op<"MatMulBnb4(T1 A, T2 B, T1 absmax, int K, int N, int block_size, int quant_type, int training_mode=0, "
              "int transB=1) -> (T1 Y)",
              "T1: float, float16; T2: uint8", body<mat_mul_4bit>>>{};

// Whether a constant holds the numbers of a table.
inline bool is_code(value x, code_table const& code) {
    if (!x.is_constant() || x.dtype() != dtype::float32 || x.constant().element_count() != 16) return false;
    for (std::size_t i = 0; i < code.size(); ++i)
        if (x.constant().at(i).to<float>() != static_cast<float>(code[i])) return false;
    return true;
}

inline constexpr auto dequantize_4bit =
    symbolic<"bitsandbytes::dequantize_4bit(Tensor A, Tensor absmax, int blocksize, str quant_type, int[] shape, "
             "ScalarType dtype) -> Tensor">([](graph<13> g, value packed, value absmax, std::int64_t block,
                                               std::string_view quant_type, std::span<std::int64_t const> shape,
                                               dtype type) -> value {
        if (quant_type != "nf4" && quant_type != "fp4") return g.unsupported("quant_type " + std::string(quant_type));
        value const code = g.constant(quant_type == "nf4" ? nf4 : fp4, dtype::float32);
        return g.cast(from_4bit(g, packed, absmax, code, block, shape), type);
    });

// Instead of the library's own row, which is for runtimes without MatMulBnb4.
inline constexpr auto gemv_4bit =
    override_<"bitsandbytes::gemv_4bit(Tensor A, Tensor B, int[] shapeB, Tensor absmax, Tensor code, int blocksize) -> "
              "Tensor">([](graph<13, microsoft> g, value a, value packed, std::span<std::int64_t const> shape,
                           value absmax, value code, std::int64_t block) -> value {
        bool const is_fp4 = is_code(code, fp4);
        if (!is_fp4 && !is_code(code, nf4)) return product(g, a, from_4bit(g, packed, absmax, code, block, shape));
        return g.op<"com.microsoft::MatMulBnb4">(a,
                                                 g.op<"Reshape">(packed, g.ints({-1})),
                                                 g.cast_like(absmax, a),
                                                 attr_i<"N">(shape[0]),
                                                 attr_i<"K">(shape[1]),
                                                 attr_i<"block_size">(block),
                                                 attr_i<"quant_type">(is_fp4 ? 0 : 1));
    });

// Aton has rows of its own for the three operators of int8, which those of the library's authors override.
inline constexpr auto int8_vectorwise_quant =
    override_<"bitsandbytes::int8_vectorwise_quant(Tensor A, float threshold=0.0) -> (Tensor, Tensor, Tensor?)">(
        [](graph<18> g, value a, double threshold) -> std::tuple<value, value, optional_value> {
            value const zero = g.scalar_like(0, a);
            optional_value columns, outliers;
            if (threshold > 0) {
                value const is_beyond = g.op<"GreaterOrEqual">(g.op<"Abs">(a), threshold);
                outliers = g.cast<dtype::bool_>(
                    g.op<"ReduceMax">(g.cast<dtype::int32>(is_beyond), g.ints({0}), attr::keepdims_i(0)));
                columns = g.op<"Reshape">(g.op<"NonZero">(*outliers), g.ints({-1}));
                a = g.op<"Where">(is_beyond, zero, a);
            }
            value const absmax =
                g.cast<dtype::float32>(g.op<"ReduceMax">(g.op<"Abs">(a), g.ints({-1}), attr::keepdims_i(0)));
            value const factors = g.op<"Unsqueeze">(g.op<"Div">(127, absmax), g.ints({-1}));
            value rows = g.op<"Round">(g.op<"Mul">(g.cast<dtype::float32>(a), factors));
            if (outliers) rows = g.op<"Where">(*outliers, 0, rows);
            return {g.cast<dtype::int8>(rows), absmax, columns};
        });

inline constexpr auto int8_linear_matmul = override_<"bitsandbytes::int8_linear_matmul(Tensor A, Tensor B) -> Tensor">(
    [](graph<13> g, value a, value b) { return g.op<"MatMulInteger">(a, g.op<"Transpose">(b, attr::perm_i({1, 0}))); });

inline constexpr auto int8_mm_dequant =
    override_<"bitsandbytes::int8_mm_dequant(Tensor A, Tensor row_stats, Tensor col_stats, ScalarType? dtype=None, "
              "Tensor? bias=None) -> Tensor">(
        [](graph<13> g, value a, value row_stats, value col_stats, std::optional<dtype> type, optional_value bias) {
            value const scales = g.op<"Mul">(g.op<"Unsqueeze">(row_stats, g.ints({-1})), col_stats);
            value const rows = g.op<"Flatten">(g.cast<dtype::float32>(a), attr::axis_i(-1));
            value y = g.op<"Mul">(g.op<"Mul">(rows, scales), 6.200124e-5); // 1 / 127^2
            if (bias) y = g.op<"Add">(y, *bias);
            return g.cast(y, type.value_or(dtype::float16));
        });

inline constexpr auto mappings =
    table(dequantize_4bit, gemv_4bit, int8_vectorwise_quant, int8_linear_matmul, int8_mm_dequant);

} // namespace bitsandbytes
