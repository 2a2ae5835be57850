// SPDX-License-Identifier: MIT
// Copies on the GPU.
#include "runtime/kernels/elementwise.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_move(launches& to) {
    to.copy = launch_copy<cuda_launcher>;
    to.select = launch_select<cuda_launcher>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
