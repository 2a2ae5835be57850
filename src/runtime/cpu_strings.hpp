// SPDX-License-Identifier: MIT
// Kernels of string tensors, which need functions of their own because strings are objects.
#pragma once

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime::strings {

[[nodiscard]] tensor select(tensor const& condition, tensor const& yes, tensor const& no);
void copy(tensor const& from, tensor const& to);
/// Positions must be in range.
[[nodiscard]] tensor take(tensor const& x, tensor const& positions);
void put(tensor const& into, tensor const& positions, tensor const& values);

} // namespace ATON_NAMESPACE::runtime::strings
