// SPDX-License-Identifier: MIT
// The borders of padding kernels and of their gradients.
#pragma once

#include <cstdint>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

// The source index of each place of a padded dimension, or empty if the padding is not possible.

using border = tensor (*)(std::int64_t size, std::int64_t before, std::int64_t after, device where);

[[nodiscard]] tensor reflected(std::int64_t size, std::int64_t before, std::int64_t after, device where);
[[nodiscard]] tensor replicated(std::int64_t size, std::int64_t before, std::int64_t after, device where);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
