// SPDX-License-Identifier: MIT
// Functions of two numbers on the CPU.
#include "runtime/kernels/elementwise.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_binary(launches& to) { to.binary = launch_binary<cpu_launcher>; }

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
