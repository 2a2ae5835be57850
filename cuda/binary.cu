// SPDX-License-Identifier: MIT
// Functions of two numbers on the GPU.
#include "runtime/kernels/elementwise.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_binary(launches& to) { to.binary = launch_binary<cuda_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
