// SPDX-License-Identifier: MIT
// Functions of one number on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

bool cpu_unary(unary_op op, dtype t, loop<2> const& l, void* out, void const* x, unary_parameters const& p) {
    return launch_unary<cpu_launcher>(op, t, l, out, x, p);
}

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
