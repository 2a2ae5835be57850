// SPDX-License-Identifier: MIT
// Elements that are moved on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

void cpu_select(std::size_t width, loop<4> const& l, void* out, bool const* condition, void const* yes,
                void const* no) {
    launch_select<cpu_launcher>(width, l, out, condition, yes, no);
}
void cpu_copy(std::size_t width, loop<2> const& l, void* out, void const* x) {
    launch_copy<cpu_launcher>(width, l, out, x);
}

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
