// SPDX-License-Identifier: MIT
// What nodes of kind python do: Python's arithmetic on sizes and other numbers.
// Internal header.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <aton/core/scalar.hpp>

namespace ATON_NAMESPACE::program {

/// "_operator.floordiv", "math.trunc", "torch.sym_max" of these numbers. Nothing for an operator that is none of these, for a division by
/// zero, and where an integer would overflow.
[[nodiscard]] std::optional<scalar> compute(std::string_view op, std::span<scalar const> operands);

} // namespace ATON_NAMESPACE::program
