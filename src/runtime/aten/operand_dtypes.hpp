// SPDX-License-Identifier: MIT
// The check of dtypes that operands of ATen operators must share.
#pragma once

#include <string_view>
#include <vector>

#include <aton/runtime/aten_operator.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// Throws aton::error, which names the arguments, if ATen does not support the operands' dtypes together.
void require_operand_dtypes(std::string_view overload, std::vector<aten_argument> const& bound);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
