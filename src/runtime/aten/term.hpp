// SPDX-License-Identifier: MIT
// Arithmetic as ATen's operators have it, between tensors of any dtypes: for kernels that ATen composes of operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// A tensor between operators. Operands are promoted, narrow floats are computed in float32, and each result is rounded to its dtype; a
/// double is a Python number, which promotes weakly.
class term {
public:
    // NOLINTBEGIN(google-explicit-constructor): a term is a tensor.
    term(tensor t) : t_(std::move(t)) {}
    operator tensor const&() const { return t_; }
    // NOLINTEND(google-explicit-constructor)
    tensor const& operator*() const { return t_; }
    tensor const* operator->() const { return &t_; }

private:
    tensor t_;
};

/// The dtype that these promote to.
[[nodiscard]] dtype common_type(tensor const& x, tensor const& y);

// `div` is the true one.
[[nodiscard]] term apply(binary_op op, term const& x, term const& y);
[[nodiscard]] term apply(binary_op op, term const& x, double y);
[[nodiscard]] term apply(binary_op op, double x, term const& y);
/// Functions of real numbers make floats of integers.
[[nodiscard]] term apply(unary_op op, term const& x, unary_parameters const& p = {});

[[nodiscard]] inline term operator+(term const& x, term const& y) { return apply(binary_op::add, x, y); }
[[nodiscard]] inline term operator-(term const& x, term const& y) { return apply(binary_op::sub, x, y); }
[[nodiscard]] inline term operator*(term const& x, term const& y) { return apply(binary_op::mul, x, y); }
[[nodiscard]] inline term operator/(term const& x, term const& y) { return apply(binary_op::div, x, y); }
[[nodiscard]] inline term operator+(term const& x, double y) { return apply(binary_op::add, x, y); }
[[nodiscard]] inline term operator-(term const& x, double y) { return apply(binary_op::sub, x, y); }
[[nodiscard]] inline term operator*(term const& x, double y) { return apply(binary_op::mul, x, y); }
[[nodiscard]] inline term operator/(term const& x, double y) { return apply(binary_op::div, x, y); }
[[nodiscard]] inline term operator+(double x, term const& y) { return apply(binary_op::add, x, y); }
[[nodiscard]] inline term operator-(double x, term const& y) { return apply(binary_op::sub, x, y); }
[[nodiscard]] inline term operator*(double x, term const& y) { return apply(binary_op::mul, x, y); }
[[nodiscard]] inline term operator-(term const& x) { return apply(unary_op::neg, x); }

/// at::sum: of integers and bools in int64.
[[nodiscard]] term total(term const& x, axis_list const& axes, bool keep = false);
/// at::mean. Throws aton::error for integers.
[[nodiscard]] term average(term const& x, axis_list const& axes, bool keep = false);

/// at::log_softmax, of floats. Over the last axis sums of float16 and bfloat16, and their logarithms, are rounded too.
[[nodiscard]] tensor log_softmax_of(tensor const& x, std::int64_t axis);

/// Throws aton::error where a tensor has not as many dimensions.
void require_rank(tensor const& x, std::size_t rank, std::string_view what);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
