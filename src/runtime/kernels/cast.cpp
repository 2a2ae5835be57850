// SPDX-License-Identifier: MIT
// Conversions between dtypes on the CPU.
#include "runtime/kernels/cast.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_cast(launches& to) { to.cast = launch_cast<cpu_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
