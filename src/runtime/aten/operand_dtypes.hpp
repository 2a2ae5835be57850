// SPDX-License-Identifier: MIT
// Which operands of ATen operators must agree in dtype.
#pragma once

#include <string_view>
#include <vector>

#include <aton/runtime/aten_operator.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Throws aton::error, with the arguments' names, for a call whose operands have dtypes that ATen does not take together.
void require_operand_dtypes(std::string_view overload, std::vector<aten_argument> const& bound);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
