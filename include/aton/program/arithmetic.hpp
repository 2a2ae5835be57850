// SPDX-License-Identifier: MIT
// Evaluates nodes of kind python: Python's arithmetic on sizes and other numbers.
// Internal header.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include <aton/core/scalar.hpp>

namespace ATON_NAMESPACE::program {

/// The result of an operator such as "_operator.floordiv", "math.trunc" or "torch.sym_max"; nullopt for an unknown operator, a division by
/// zero, or an integer overflow.
[[nodiscard]] std::optional<scalar> compute(std::string_view op, std::span<scalar const> operands);

} // namespace ATON_NAMESPACE::program
