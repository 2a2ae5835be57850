// SPDX-License-Identifier: MIT
// Evaluates guards like Python: integers and floats are different types, and floats are rounded after every operation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <aton/core/scalar.hpp>
#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

/// The value of an expression; nullopt if Python raises an exception, for integers that do not fit in 64 bits, and for unknown functions.
[[nodiscard]] std::optional<scalar> python_value(expression const& e,
                                                 std::map<std::string, std::int64_t, std::less<>> const& symbols);

/// Whether python_value() supports every function in an expression.
[[nodiscard]] bool is_python(expression const& e);

/// The function with a name such as "sqrt" or "log2"; nullptr if unknown.
using real_function = double (*)(double);
[[nodiscard]] real_function find_real_function(std::string_view name);

/// Python's name of an operation, such as "_operator.floordiv"; empty if it is not a single operation in Python.
[[nodiscard]] std::string_view python_name(expression_kind kind);

} // namespace ATON_NAMESPACE::program
