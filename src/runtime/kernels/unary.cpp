// SPDX-License-Identifier: MIT
// Functions of one number on the CPU.
#include "runtime/kernels/elementwise.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_unary(launches& to) { to.unary = launch_unary<cpu_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
