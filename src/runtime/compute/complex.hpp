// SPDX-License-Identifier: MIT
// Functions of complex tensors, computed from their parts.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// neg, abs (real), exp, exp2, expm1, log, log1p, log2, log10, sqrt, square, reciprocal, rsqrt, sin, cos, tan, sinh, cosh, tanh, their
/// inverses, sigmoid, sign, logical_not, isnan, isinf, isfinite. Throws aton::error for others.
[[nodiscard]] tensor complex_unary(unary_op op, tensor const& x);
/// add, sub, mul, div, pow, eq, ne and the logical functions. Throws aton::error for others.
[[nodiscard]] tensor complex_binary(binary_op op, tensor const& x, tensor const& y);

/// A complex tensor from its parts.
[[nodiscard]] tensor complex_of(tensor const& real, tensor const& imaginary);
/// The parts of a complex tensor, as views.
[[nodiscard]] tensor real_part(tensor const& x);
[[nodiscard]] tensor imaginary_part(tensor const& x);

} // namespace ATON_NAMESPACE::runtime
