// SPDX-License-Identifier: MIT
// What is done to tensors of strings. They are objects, so none of the kernels.
#pragma once

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime::strings {

[[nodiscard]] tensor select(tensor const& condition, tensor const& yes, tensor const& no);
void copy(tensor const& from, tensor const& to);
/// Positions are checked.
[[nodiscard]] tensor take(tensor const& x, tensor const& positions);
void put(tensor const& into, tensor const& positions, tensor const& values);

} // namespace ATON_NAMESPACE::runtime::strings
