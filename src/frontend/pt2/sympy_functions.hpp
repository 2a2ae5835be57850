// SPDX-License-Identifier: MIT
// Calls of sympy's functions, and of those of torch/utils/_sympy/functions.py.
#pragma once

#include <string_view>
#include <vector>

#include <aton/program/expression.hpp>

#include "token_cursor.hpp"

namespace ATON_NAMESPACE::pt2 {

/// A call such as FloorDiv(s0, 2). A function that is unknown keeps its name. Fails at `at` if the operands do not fit.
[[nodiscard]] program::expression call_sympy_function(token_cursor const& at, std::string_view word,
                                                      std::vector<program::expression> operands);

/// A function without a meaning of its own here, such as oo.
[[nodiscard]] program::expression make_other(std::string_view word, std::vector<program::expression> operands);

} // namespace ATON_NAMESPACE::pt2
