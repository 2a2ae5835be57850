// SPDX-License-Identifier: MIT
// The kernels of the CPU; each is compiled in a file of its own.
#pragma once

#include <aton/runtime/kernels.hpp>

namespace aton::runtime::kernels {

[[nodiscard]] tensor cpu_unary(unary_op op, tensor const& x, unary_parameters const& p);
[[nodiscard]] tensor cpu_binary(binary_op op, tensor const& x, tensor const& y);
[[nodiscard]] tensor cpu_select(tensor const& condition, tensor const& yes, tensor const& no);
[[nodiscard]] tensor cpu_cast(tensor const& x, dtype to, bool saturate);
void cpu_copy(tensor const& from, tensor const& to);

} // namespace aton::runtime::kernels
