// SPDX-License-Identifier: MIT
// Integer expressions as sums: whole factors of what is not a sum itself, and a number.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

struct linear_sum {
    struct term {
        std::string text; ///< of the atom: equal atoms have equal ones
        expression atom;
        std::int64_t factor = 0; ///< not 0
    };

    std::vector<term> terms;
    std::int64_t number = 0;

    /// False where an integer would overflow, or there are too many terms.
    bool add(expression atom, std::int64_t factor);
};

/// Nothing for an expression that is not made of integers alone.
[[nodiscard]] std::optional<linear_sum> linear(expression const& e);
[[nodiscard]] expression to_expression(linear_sum const& sum);

/// substitute() that computes nothing but integers: floats stay as Python has them.
[[nodiscard]] expression substitute_in_condition(expression const& e,
                                                 std::map<std::string, expression, std::less<>> const& symbols);

} // namespace ATON_NAMESPACE::program
