// SPDX-License-Identifier: MIT
// Functions of one number on the GPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "kernels.hpp"
#include "launch.cuh"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_unary(launches& to) { to.unary = launch_unary<cuda_launcher>; }

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
