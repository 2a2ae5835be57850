// SPDX-License-Identifier: MIT
// The products that cuBLAS makes, where the build has it.
#pragma once

#include "runtime/kernels/launches.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

/// Whether cuBLAS knows the dtype and can read the matrices as they lie; only then has it run.
bool multiply_by_cublas(dtype t, matmul_shape const& s, void* out, void const* a, void const* b);

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
