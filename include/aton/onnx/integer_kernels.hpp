// SPDX-License-Identifier: MIT
// What kernels of a runtime do with integers, where it is not arithmetic in their own dtype that wraps around: exact up to which numbers.
// tests/onnx/integer_kernels_test.py runs every operator that computes integers, and compares each with these rows.
// Internal header.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::onnx {

/// How a kernel computes integers.
enum class integer_arithmetic : std::uint8_t {
    /// In float64, and converts the result back: exact if no number on the way exceeds 2^53 and the result fits the dtype, which it does not
    /// wrap around to.
    in_float64,
    /// In float32: likewise, up to 2^24.
    in_float32,
    /// Orders two numbers of 64 bits with the same high half by their low halves as signed numbers, in some vectors: 5 is more than 2^31.
    /// Exact for numbers that fit int32, and for a single result.
    by_signed_halves,
};

/// Which calls of an operator a row is about.
enum class integer_calls : std::uint8_t {
    all,
    truncating,    ///< with fmod=1
    lone_sums,     ///< that sum an index of one operand alone: "ij->i", "ij,jk->k"
    interpolating, ///< with another mode than "nearest"
};

/// A kernel whose integers are exact only up to a limit.
struct integer_kernel {
    std::string_view op; ///< of ONNX's default domain
    type_set types;      ///< of the first operand
    integer_arithmetic how = integer_arithmetic::in_float64;
    integer_calls calls = integer_calls::all;
};

namespace detail {

inline constexpr type_set int32_and_int64 = tensors(dtype::int32, dtype::int64);
inline constexpr type_set of_64_bits = tensors(dtype::int64, dtype::uint64);
inline constexpr type_set only_int64 = tensors(dtype::int64);

// clang-format off: one row per line
inline constexpr integer_kernel onnx_runtime_integer_kernels[] = {
    {"Clip", only_int64, integer_arithmetic::by_signed_halves},
    {"Einsum", int32_and_int64, integer_arithmetic::in_float64, integer_calls::lone_sums},
    {"Max", only_int64, integer_arithmetic::by_signed_halves},
    {"Min", only_int64, integer_arithmetic::by_signed_halves},
    {"Mod", of_64_bits, integer_arithmetic::in_float64, integer_calls::truncating},
    {"Pow", int32_and_int64, integer_arithmetic::in_float64},
    {"Range", only_int64, integer_arithmetic::in_float64}, // the number of elements
    {"ReduceL1", int32_and_int64, integer_arithmetic::in_float64},
    {"ReduceMax", only_int64, integer_arithmetic::by_signed_halves},
    {"ReduceMin", only_int64, integer_arithmetic::by_signed_halves},
    {"ReduceProd", int32_and_int64, integer_arithmetic::in_float64},
    {"ReduceSum", int32_and_int64, integer_arithmetic::in_float64},
    {"ReduceSumSquare", int32_and_int64, integer_arithmetic::in_float64},
    {"Relu", only_int64, integer_arithmetic::by_signed_halves},
    {"Resize", tensors(dtype::int32), integer_arithmetic::in_float32, integer_calls::interpolating},
    {"Shrink", tensors(dtype::int32, dtype::int64, dtype::uint32, dtype::uint64), integer_arithmetic::in_float32},
    {"Sign", only_int64, integer_arithmetic::by_signed_halves},
};
// clang-format on

} // namespace detail

/// Of the CPU provider of ONNX Runtime 1.31 on x86-64, sorted by operator; all others are exact, except those whose
/// results are no integers, such as ReduceMean. (`by_signed_halves` is what Eigen does
/// without SSE 4.2, for which the released packages are not compiled.)
inline constexpr std::span<integer_kernel const> onnx_runtime_integer_kernels = detail::onnx_runtime_integer_kernels;

} // namespace ATON_NAMESPACE::onnx
