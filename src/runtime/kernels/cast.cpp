// SPDX-License-Identifier: MIT
// Conversions between dtypes on the CPU.
#include <aton/runtime/kernels/cast.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_cast(launches& to) { to.cast = launch_cast<cpu_launcher>; }

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
