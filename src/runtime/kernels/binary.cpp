// SPDX-License-Identifier: MIT
// Functions of two numbers on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

bool cpu_binary(binary_op op, dtype t, loop<3> const& l, void* out, void const* x, void const* y) {
    return launch_binary<cpu_launcher>(op, t, l, out, x, y);
}

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
