// SPDX-License-Identifier: MIT
// Arithmetic with the promotion and rounding of ATen's operators, between tensors of any dtypes: for kernels that ATen
// composes of operators.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// An intermediate tensor between operators. Operands are promoted, narrow floats are computed in float32, and each
/// result is rounded to its dtype; a double is a Python number, which promotes weakly.
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

/// The common dtype of promotion.
[[nodiscard]] dtype common_type(tensor const& x, tensor const& y);

// `div` is true division.
[[nodiscard]] term apply(binary_op op, term const& x, term const& y);
[[nodiscard]] term apply(binary_op op, term const& x, double y);
[[nodiscard]] term apply(binary_op op, double x, term const& y);
/// Functions of real numbers convert integers to floats.
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

/// at::sum; int64 for integers and bools.
[[nodiscard]] term total(term const& x, axis_list const& axes, bool keep = false);
/// at::mean. Throws aton::error for integers.
[[nodiscard]] term average(term const& x, axis_list const& axes, bool keep = false);

/// at::log_softmax of floats. Over the last axis, sums of float16 and bfloat16 and their logarithms are rounded too.
[[nodiscard]] tensor log_softmax_of(tensor const& x, std::int64_t axis);

/// Throws aton::error if the tensor does not have this rank.
void require_rank(tensor const& x, std::size_t rank, std::string_view what);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
