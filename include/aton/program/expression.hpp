// SPDX-License-Identifier: MIT
// Symbolic sizes: expressions of numbers and symbols, as a program states them about its tensors.
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

/// What an expression does with its operands. The names are sympy's and torch's (torch/utils/_sympy/functions.py).
enum class expression_kind : std::uint8_t {
    integer, ///< `number`
    real,    ///< `real`
    boolean, ///< `number` is 0 or 1
    symbol,  ///< `symbol`
    add,
    mul,
    power,
    floor_div, ///< FloorDiv, CleanDiv, IntTrueDiv where it divides
    ceil_div,
    true_div, ///< IntTrueDiv, FloatTrueDiv, and Rational of two integers
    mod,      ///< Mod, PythonMod: the sign of the divisor
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
    other,     ///< a function that only has a name, in `symbol`
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

/// The value of an integer expression for the values of its symbols; nothing where a symbol has none, something overflows, is
/// divided by zero or is no integer.
[[nodiscard]] std::optional<std::int64_t> evaluate(expression const& e,
                                                   std::map<std::string, std::int64_t, std::less<>> const& symbols);

/// The expression with these expressions in place of symbols. Sums are collected, what has no symbol any more is computed.
[[nodiscard]] expression substitute(expression const& e, std::map<std::string, expression, std::less<>> const& symbols);

/// "2*batch + 1", with the names of `renamed` in place of symbols: what a dimension of an ONNX file is called. The same expression gives
/// the same text.
[[nodiscard]] std::string to_string(expression const& e,
                                    std::map<std::string, std::string, std::less<>> const& renamed = {});

} // namespace ATON_NAMESPACE::program
