// SPDX-License-Identifier: MIT
// Functions of one number on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels {

tensor cpu_unary(unary_op op, tensor const& x, unary_parameters const& p) {
    return unary_kernel<cpu_launcher>(cpu_allocator(), op, x, p);
}

} // namespace aton::runtime::kernels
