// SPDX-License-Identifier: MIT
// Special functions on the CPU.
#include "runtime/kernels/elementwise.hpp"

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT {

void add_special(launches& to) {
    to.special_unary = launch_unary<cpu_launcher, true>;
    to.special_binary = launch_binary<cpu_launcher, true>;
}

} // namespace ATON_NAMESPACE::runtime::kernels::inline ATON_KERNEL_VARIANT
