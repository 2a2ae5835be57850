// SPDX-License-Identifier: MIT
// Kernels that consist of one elementwise function.
#pragma once

#include <cmath>
#include <string>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Applies f in the compute type and rounds once.
template <class Function>
tensor computed_in(dtype type, tensor const& x, Function const& f) {
    return cast(f(cast(x, compute_type(type))), type);
}

/// A floating-point argument. Throws aton::error for other dtypes, for which ATen has no kernel.
[[nodiscard]] inline tensor floats(call const& c, std::string_view name = "self") {
    tensor x = c.t(name);
    if (!is_floating(x.dtype())) throw error("this function requires a floating-point dtype");
    return x;
}

/// The number, checked to be in the range of the dtype as in ATen; infinities are out of range only for integers.
[[nodiscard]] inline double fitting(double number, dtype type) {
    double const limit =
        is_floating(type) ? largest_number(type) : std::exp2(bits(type) - (is_unsigned_integral(type) ? 0 : 1));
    bool const fits =
        is_floating(type) ? !std::isfinite(number) || std::abs(number) <= limit : std::abs(number) <= limit;
    if (!fits) throw error("a number is out of range for " + std::string(name(type)));
    return number;
}

/// A function that keeps the dtype.
template <unary_op Op>
results same_type(call const& c) {
    return unary(Op, c.t("self"));
}

/// Like same, for floats only.
template <unary_op Op>
results of_floats(call const& c) {
    return unary(Op, floats(c));
}

/// A function of real or complex numbers; integers become float32.
template <unary_op Op>
results real_function(call const& c) {
    tensor const x = c.t(c.has_argument("self") ? "self" : "x");
    return unary(Op, cast(x, to_real(x.dtype())));
}

/// A function of two operands in their common dtype.
template <binary_op Op>
results common_type(call const& c) {
    operand_pair const p = promoted(c);
    return p.finish(binary(Op, p.x, p.y));
}

/// A function of two real numbers; integers become float32.
template <binary_op Op>
results common_real(call const& c) {
    operand_pair const p = promoted_to_real(c);
    return p.finish(binary(Op, p.x, p.y));
}

/// A comparison in the common dtype, to which numbers are rounded first.
template <binary_op Op>
results comparison_of(call const& c) {
    dtype const type = result_type(c, {"self", "other"});
    return binary(Op, operand(c, "self", type), operand(c, "other", type));
}

/// A number expanded to the shape, dtype and device of `like`.
[[nodiscard]] inline tensor full_like(tensor const& like, scalar const& value) {
    return full(value, like.dtype(), like.sizes(), like.where());
}

/// Throws aton::error if an integer tensor contains 0, like ATen's ZeroDivisionError.
void require_no_zero(tensor const& divisor);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
