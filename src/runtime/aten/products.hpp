// SPDX-License-Identifier: MIT
// Sums of products that several kernels use.
#pragma once

#include <cstdint>
#include <vector>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// at::matmul: narrow floats are added in float32. Throws aton::error if the dtypes are not the same.
[[nodiscard]] tensor product(tensor const& a, tensor const& b);

/// at::tensordot over these axes of both operands.
[[nodiscard]] tensor contraction(tensor const& x, tensor const& y, std::vector<std::int64_t> const& of_x,
                                 std::vector<std::int64_t> const& of_y);

[[nodiscard]] results einsum(call const& c);
[[nodiscard]] results bilinear(call const& c);
[[nodiscard]] results trilinear(call const& c);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
