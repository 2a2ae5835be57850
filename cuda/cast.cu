// SPDX-License-Identifier: MIT
// Conversions between dtypes on the GPU.
#include "runtime/kernels/cast.hpp"

#include "kernels.hpp"
#include "launch.cuh"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_cast(launches& to) { to.cast = launch_cast<cuda_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
