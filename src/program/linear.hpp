// SPDX-License-Identifier: MIT
// Integer expressions as linear sums: integer factors of atoms, which are not sums, and a constant.
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
        std::string text; ///< of the atom; equal for equal atoms
        expression atom;
        std::int64_t factor = 0; ///< not 0
    };

    std::vector<term> terms;
    std::int64_t number = 0;

    /// Returns false on overflow, or if there are too many terms.
    bool add(expression atom, std::int64_t factor);
};

/// An expression as a linear sum; nullopt if it does not only consist of integers.
[[nodiscard]] std::optional<linear_sum> linear(expression const& e);
[[nodiscard]] expression to_expression(linear_sum const& sum);

/// Like substitute(), but evaluates only integers: floats must be computed as in Python.
[[nodiscard]] expression substitute_in_condition(expression const& e,
                                                 std::map<std::string, expression, std::less<>> const& symbols);

} // namespace ATON_NAMESPACE::program
