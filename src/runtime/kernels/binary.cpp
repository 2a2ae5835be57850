// SPDX-License-Identifier: MIT
// Functions of two numbers on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels {

tensor cpu_binary(binary_op op, tensor const& x, tensor const& y) {
    return binary_kernel<cpu_launcher>(cpu_allocator(), op, x, y);
}

} // namespace aton::runtime::kernels
