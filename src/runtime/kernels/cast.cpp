// SPDX-License-Identifier: MIT
// Conversions between dtypes on the CPU.
#include <aton/runtime/kernels/elementwise.hpp>

#include "cpu.hpp"
#include "cpu_launch.hpp"

namespace aton::runtime::kernels {

tensor cpu_cast(tensor const& x, dtype to, bool saturate) {
    return cast_kernel<cpu_launcher>(cpu_allocator(), x, to, saturate);
}

} // namespace aton::runtime::kernels
