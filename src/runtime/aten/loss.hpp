// SPDX-License-Identifier: MIT
// Helpers of loss kernels.
#pragma once

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The loss per element, its mean or its sum, by the argument 'reduction'.
[[nodiscard]] tensor reduced(call const& c, term const& loss);

/// max(x, 0); keeps NaN.
[[nodiscard]] inline term hinge(term const& x) { return apply(unary_op::relu, x); }

} // namespace ATON_NAMESPACE::runtime::aten_kernels
