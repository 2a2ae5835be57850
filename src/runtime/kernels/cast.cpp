// SPDX-License-Identifier: MIT
// Conversions between dtypes on the CPU.
#include <aton/runtime/kernels/cast.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT {

bool cpu_cast(dtype from, dtype to, loop<2> const& l, void* out, void const* x, bool saturate) {
    return launch_cast<cpu_launcher>(from, to, l, out, x, saturate);
}

} // namespace aton::runtime::kernels::inline ATON_KERNEL_VARIANT
