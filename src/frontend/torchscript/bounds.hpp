// SPDX-License-Identifier: MIT
// Expressions of sizes and their bounds, by the ranges of their symbols.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::torchscript {

[[nodiscard]] program::expression integer_expression(std::int64_t n);
[[nodiscard]] program::expression make_expression(program::expression_kind kind,
                                                  std::vector<program::expression> operands);

/// Bounds of an expression; nothing if they are not known.
struct bounds {
    std::optional<std::int64_t> min;
    std::optional<std::int64_t> max;
};

[[nodiscard]] bounds bounds_of(program::expression const& e,
                               std::map<std::string, program::symbol_range, std::less<>> const& known);

} // namespace ATON_NAMESPACE::torchscript
