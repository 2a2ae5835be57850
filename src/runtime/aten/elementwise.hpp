// SPDX-License-Identifier: MIT
// Kernels that are one function of elements.
#pragma once

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// f of a tensor in the dtype that ATen computes in, rounded once.
template <class Function>
tensor computed_in(dtype type, tensor const& x, Function const& f) {
    return cast(f(cast(x, compute_type(type))), type);
}

/// An argument of floats. Throws for others, of which ATen has no kernel.
[[nodiscard]] inline tensor floats(call const& c, std::string_view name = "self") {
    tensor x = c.t(name);
    if (!is_floating(x.dtype())) throw error("this function is one of floating types");
    return x;
}

/// A function that keeps the dtype.
template <unary_op Op>
results same_type(call const& c) {
    return unary(Op, c.t("self"));
}

/// The same of floats alone.
template <unary_op Op>
results of_floats(call const& c) {
    return unary(Op, floats(c));
}

/// A function of real or complex numbers: integers become float32.
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

/// A function of two real numbers.
template <binary_op Op>
results common_real(call const& c) {
    operand_pair const p = promoted_to_real(c);
    return p.finish(binary(Op, p.x, p.y));
}

/// A comparison, in the common dtype; numbers are rounded to it first.
template <binary_op Op>
results comparison_of(call const& c) {
    dtype const type = result_type(c, {"self", "other"});
    return binary(Op, operand(c, "self", type), operand(c, "other", type));
}

/// A number of the dtype as wide as `like`, on its device.
[[nodiscard]] inline tensor full_like(tensor const& like, scalar const& value) {
    return full(value, like.dtype(), like.sizes(), like.where());
}

/// Throws where a tensor of integers has a 0: ATen's ZeroDivisionError.
void require_no_zero(tensor const& divisor);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
