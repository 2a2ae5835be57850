// SPDX-License-Identifier: MIT
// Symbolic sizes: expressions of numbers and symbols, which a program records for its tensors.
// Public header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::program {

/// The operation of an expression. The names follow sympy and torch (torch/utils/_sympy/functions.py).
enum class expression_kind : std::uint8_t {
    integer, ///< `number`
    real,    ///< `real`
    boolean, ///< `number` is 0 or 1
    symbol,  ///< `symbol`
    add,
    mul,
    power,
    floor_div, ///< FloorDiv, CleanDiv, exact IntTrueDiv
    ceil_div,
    true_div, ///< IntTrueDiv, FloatTrueDiv, and Rational of two integers
    mod,      ///< Mod, PythonMod; the result has the sign of the divisor
    modular_indexing,
    maximum,
    minimum,
    truncate, ///< TruncToInt
    floor,
    ceiling,
    round,
    to_float,
    absolute,
    greater,
    greater_equal,
    less,
    less_equal,
    equal,
    unequal,
    all_of,
    any_of,
    negation,
    piecewise, ///< value, condition, value, condition, ...
    other,     ///< an unknown function; `symbol` is its name
};

/// A node of an expression with its operands. `kind` says which member holds the payload.
struct expression {
    expression_kind kind = expression_kind::integer;
    std::int64_t number = 0;
    double real = 0;
    std::string symbol;
    std::vector<expression> operands;

    friend bool operator==(expression const&, expression const&) = default;
};

/// The value of an integer expression for these values of its symbols; nullopt if a symbol has no value, an operation
/// overflows or divides by zero, or the result is not an integer.
[[nodiscard]] std::optional<std::int64_t> evaluate(expression const& e,
                                                   std::map<std::string, std::int64_t, std::less<>> const& symbols);

/// Replaces symbols by expressions. Like terms are collected, and subexpressions without symbols are evaluated.
[[nodiscard]] expression substitute(expression const& e, std::map<std::string, expression, std::less<>> const& symbols);

/// The expression as a string, such as "2*batch + 1", which is the name of a dimension in ONNX files. `renamed` maps symbols to other names.
/// Equal expressions have equal strings.
[[nodiscard]] std::string to_string(expression const& e,
                                    std::map<std::string, std::string, std::less<>> const& renamed = {});

} // namespace ATON_NAMESPACE::program
