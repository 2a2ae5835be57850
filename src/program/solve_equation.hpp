// SPDX-License-Identifier: MIT
// Solves a guard that equates sums of sizes for the size of an input.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "guard_facts.hpp"

namespace ATON_NAMESPACE::program {

struct solved_symbol {
    std::string symbol;
    expression is;
};

/// The first symbol that a fact determines as a linear expression of others, in terms of the last input possible. Symbols that
/// `is_known` accepts are not solved for.
[[nodiscard]] std::optional<solved_symbol> solve_equation(program const& p, std::vector<fact> const& facts,
                                                          std::function<bool(std::string const&)> const& is_known);

} // namespace ATON_NAMESPACE::program
