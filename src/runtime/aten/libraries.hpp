// SPDX-License-Identifier: MIT
// Kernels of operators that other libraries than torch register, and their schemas, which torch's table does not have.
#pragma once

#include <string_view>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

// One function per operator family, as in call.hpp.
[[nodiscard]] rows affine_quantization();
[[nodiscard]] rows decomposed_quantization();
[[nodiscard]] rows deformable_convolution();
[[nodiscard]] rows detection();
[[nodiscard]] rows library_quantization();
[[nodiscard]] rows regions();

/// The schema of an operator of such a library; empty if it is not one of them.
[[nodiscard]] std::string_view library_schema(std::string_view overload);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
