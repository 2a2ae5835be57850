// SPDX-License-Identifier: MIT
// Helpers of operators over spatial axes: lists with one number per axis, and images without a batch.
#pragma once

#include <cstddef>
#include <string_view>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// One number per axis. A single number applies to all; `otherwise` is returned for an empty list and for an argument
/// that the schema does not have.
[[nodiscard]] sizes for_each_axis(call const& c, std::string_view name, std::size_t axes, sizes const& otherwise);

/// `x` as [N, C, ...], with a batch of one if it has none. Throws aton::error for other ranks.
[[nodiscard]] tensor batched(tensor const& x, std::size_t axes);
/// The result without the batch if `x` had none.
[[nodiscard]] tensor as_given(tensor const& y, tensor const& x);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
