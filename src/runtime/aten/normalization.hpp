// SPDX-License-Identifier: MIT
// Helpers of normalizations and their gradients.
#pragma once

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The trailing axes given by `normalized_shape`.
[[nodiscard]] axis_list last_axes(call const& c, tensor const& x);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
