// SPDX-License-Identifier: MIT
// Elements that are moved on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels {

tensor cpu_select(tensor const& condition, tensor const& yes, tensor const& no) {
    return select_kernel<cpu_launcher>(cpu_allocator(), condition, yes, no);
}
void cpu_copy(tensor const& from, tensor const& to) { copy_kernel<cpu_launcher>(from, to); }

} // namespace aton::runtime::kernels
