// SPDX-License-Identifier: MIT
// Norms and log-sum-exp along axes.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// sum(|x|^p)^(1/p); the maximum |x| if p is infinity, the minimum if it is minus infinity, the number of nonzero
/// elements if it is 0. Floats and complex numbers; norms are real.
[[nodiscard]] tensor norm(tensor const& x, double p, axis_list const& axes, bool keep = false);
/// log(sum(exp(x))) without overflow, for floats; minus infinity for zero elements.
[[nodiscard]] tensor log_sum_exp(tensor const& x, axis_list const& axes, bool keep = false);

} // namespace ATON_NAMESPACE::runtime
