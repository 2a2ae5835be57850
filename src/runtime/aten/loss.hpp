// SPDX-License-Identifier: MIT
// What kernels of losses share.
#pragma once

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The loss of each element as it is, their mean or their sum, as the argument 'reduction' says.
[[nodiscard]] tensor reduced(call const& c, term const& loss);

/// max(x, 0); NaN stays.
[[nodiscard]] inline term hinge(term const& x) { return apply(unary_op::relu, x); }

} // namespace ATON_NAMESPACE::runtime::aten_kernels
