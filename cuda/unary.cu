// SPDX-License-Identifier: MIT
// Functions of one number on the GPU.
#include "runtime/kernels/elementwise.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_unary(launches& to) { to.unary = launch_unary<cuda_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
