// SPDX-License-Identifier: MIT
// What operators over spatial axes share: lists with one number for each, and images without a batch.
#pragma once

#include <cstddef>
#include <string_view>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// One number for each axis; a single one stands for all, an empty list, and an argument that there is not, for
/// `otherwise`.
[[nodiscard]] sizes for_each_axis(call const& c, std::string_view name, std::size_t axes, sizes const& otherwise);

/// [N, C, ...]: with a batch of one where there is none. Throws aton::error for other ranks.
[[nodiscard]] tensor batched(tensor const& x, std::size_t axes);
/// A result without the batch where `x` came without.
[[nodiscard]] tensor as_given(tensor const& y, tensor const& x);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
