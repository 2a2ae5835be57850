// SPDX-License-Identifier: MIT
// Guards as Python computes them: integers and floats are of different kinds, and floats are rounded at every step.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <aton/core/scalar.hpp>
#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

/// Nothing where Python raises an exception, for integers beyond 64 bits, and for functions that are not known.
[[nodiscard]] std::optional<scalar> python_value(expression const& e,
                                                 std::map<std::string, std::int64_t, std::less<>> const& symbols);

/// Whether python_value() knows every function in it.
[[nodiscard]] bool is_python(expression const& e);

/// The function of a double that a name such as "sqrt" or "log2" is; nullptr: none.
using real_function = double (*)(double);
[[nodiscard]] real_function find_real_function(std::string_view name);

/// What Python's arithmetic calls the operation: "_operator.floordiv"; empty: it is more than one operation.
[[nodiscard]] std::string_view python_name(expression_kind kind);

} // namespace ATON_NAMESPACE::program
