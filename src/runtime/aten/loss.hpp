// SPDX-License-Identifier: MIT
// Helpers of loss kernels.
#pragma once

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The loss per element, its mean or its sum, by the argument 'reduction'.
[[nodiscard]] tensor reduced(call const& c, term const& loss);

/// at::pairwise_distance: the norm of x - y + epsilon along the last axis.
[[nodiscard]] term distance(term const& x, term const& y, double p, double epsilon, bool keep);

/// max(x, 0); keeps NaN.
[[nodiscard]] inline term hinge(term const& x) { return apply(unary_op::relu, x); }

} // namespace ATON_NAMESPACE::runtime::aten_kernels
