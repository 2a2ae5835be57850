// SPDX-License-Identifier: MIT
// Matrix products by cuBLAS, if the build has it.
#pragma once

#include "runtime/kernels/launches.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// Computes the product and returns true if cuBLAS supports the dtype and the layout of the matrices; otherwise does
/// nothing and returns false.
bool multiply_by_cublas(dtype t, matmul_shape const& s, void* out, void const* a, void const* b);

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
