// SPDX-License-Identifier: MIT
// Sums of products that several kernels are made of.
#pragma once

#include <cstdint>
#include <vector>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// at::matmul: narrow floats are added in float32. Throws aton::error for different dtypes.
[[nodiscard]] tensor product(tensor const& a, tensor const& b);

/// at::tensordot: over these axes of one and of the other.
[[nodiscard]] tensor contraction(tensor const& x, tensor const& y, std::vector<std::int64_t> const& of_x,
                                 std::vector<std::int64_t> const& of_y);

[[nodiscard]] results einsum(call const& c);
[[nodiscard]] results bilinear(call const& c);
[[nodiscard]] results trilinear(call const& c);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
