// SPDX-License-Identifier: MIT
// Calls of sympy's functions, and of those of torch/utils/_sympy/functions.py.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include <aton/program/expression.hpp>

#include "token_cursor.hpp"

namespace ATON_NAMESPACE::pt2 {

/// A function that is an operation of expressions.
struct function_row {
    std::string_view name;
    program::expression_kind kind;
    std::size_t operands; ///< 0: one or more, in any order
};

/// The row of a function of sympy or of torch; nullptr if it is not an operation of expressions.
[[nodiscard]] function_row const* find_sympy_function(std::string_view word);

/// A call such as FloorDiv(s0, 2). A function that is unknown keeps its name. Fails at `at` if the operands do not fit.
[[nodiscard]] program::expression call_sympy_function(token_cursor const& at, std::string_view word,
                                                      std::vector<program::expression> operands);

/// A function without a meaning of its own here, such as oo.
[[nodiscard]] program::expression make_other(std::string_view word, std::vector<program::expression> operands);

} // namespace ATON_NAMESPACE::pt2
