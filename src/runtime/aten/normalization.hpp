// SPDX-License-Identifier: MIT
// Helpers of normalizations and their gradients.
#pragma once

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The trailing axes given by `normalized_shape`.
[[nodiscard]] axis_list last_axes(call const& c, tensor const& x);
/// In the dtype in which ATen computes; an empty tensor stays empty.
[[nodiscard]] inline tensor in_compute_type(tensor const& x) { return x ? cast(x, compute_type(x.dtype())) : x; }

} // namespace ATON_NAMESPACE::runtime::aten_kernels
