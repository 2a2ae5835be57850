// SPDX-License-Identifier: MIT
// Norms and sums of exponentials along axes.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// sum(|x|^p)^(1/p); for p of infinity the largest |x|, of minus infinity the smallest, of 0 the number of elements that are not 0. Of
/// floats and complex numbers, whose norms are real.
[[nodiscard]] tensor norm(tensor const& x, double p, axis_list const& axes, bool keep = false);
/// log(sum(exp(x))) without overflow, of floats; of no elements minus infinity.
[[nodiscard]] tensor log_sum_exp(tensor const& x, axis_list const& axes, bool keep = false);

} // namespace ATON_NAMESPACE::runtime
