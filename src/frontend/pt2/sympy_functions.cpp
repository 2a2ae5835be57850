// SPDX-License-Identifier: MIT
// The table of sympy's functions that are operations of expressions, and the functions that are composed of several.
#include "sympy_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>

#include "make_expression.hpp"

namespace ATON_NAMESPACE::pt2 {

using program::expression;
using program::expression_kind;

namespace {

constexpr function_row sympy_functions[] = {
    {"Pow", expression_kind::power, 2},
    {"PowByNatural", expression_kind::power, 2},
    {"FloatPow", expression_kind::power, 2},
    {"FloorDiv", expression_kind::floor_div, 2},
    {"CleanDiv", expression_kind::floor_div, 2},
    {"CeilDiv", expression_kind::ceil_div, 2},
    {"IntTrueDiv", expression_kind::true_div, 2},
    {"FloatTrueDiv", expression_kind::true_div, 2},
    {"Mod", expression_kind::mod, 2},
    {"PythonMod", expression_kind::mod, 2},
    {"ModularIndexing", expression_kind::modular_indexing, 3},
    {"Max", expression_kind::maximum, 0},
    {"Min", expression_kind::minimum, 0},
    {"And", expression_kind::all_of, 0},
    {"Or", expression_kind::any_of, 0},
    {"Not", expression_kind::negation, 1},
    {"TruncToInt", expression_kind::truncate, 1},
    {"floor", expression_kind::floor, 1},
    {"FloorToInt", expression_kind::floor, 1},
    {"ceiling", expression_kind::ceiling, 1},
    {"CeilToInt", expression_kind::ceiling, 1},
    {"RoundToInt", expression_kind::round, 1},
    {"ToFloat", expression_kind::to_float, 1},
    {"Abs", expression_kind::absolute, 1},
    {"StrictGreaterThan", expression_kind::greater, 2},
    {"Gt", expression_kind::greater, 2},
    {"GreaterThan", expression_kind::greater_equal, 2},
    {"Ge", expression_kind::greater_equal, 2},
    {"StrictLessThan", expression_kind::less, 2},
    {"Lt", expression_kind::less, 2},
    {"LessThan", expression_kind::less_equal, 2},
    {"Le", expression_kind::less_equal, 2},
    {"Equality", expression_kind::equal, 2},
    {"Eq", expression_kind::equal, 2},
    {"Unequality", expression_kind::unequal, 2},
    {"Ne", expression_kind::unequal, 2},
};

void expect_count(token_cursor const& at, std::string_view word, std::vector<expression> const& operands,
                  std::size_t count) {
    if (operands.size() == count) return;
    at.fail("expected " + std::to_string(count) + " operands of " + std::string(word) + ", found " +
            std::to_string(operands.size()));
}

/// Functions that are composed of others, and unknown functions, which keep their name.
expression composed(token_cursor const& at, std::string_view word, std::vector<expression> operands) {
    std::vector<expression> parts;
    if (word == "TruncToFloat") {
        expect_count(at, word, operands, 1);
        parts.push_back(make_call(expression_kind::truncate, std::move(operands)));
        return make_call(expression_kind::to_float, std::move(parts));
    }
    if (word == "Where") {
        expect_count(at, word, operands, 3);
        parts.push_back(std::move(operands[1]));
        parts.push_back(std::move(operands[0]));
        parts.push_back(std::move(operands[2]));
        parts.push_back(make_boolean(true));
        return make_call(expression_kind::piecewise, std::move(parts));
    }
    if (word == "LShift" || word == "RShift") {
        expect_count(at, word, operands, 2);
        std::vector<expression> exponent;
        exponent.push_back(make_integer(2));
        exponent.push_back(std::move(operands[1]));
        parts.push_back(std::move(operands[0]));
        parts.push_back(make_call(expression_kind::power, std::move(exponent)));
        return word == "LShift" ? make_product(std::move(parts))
                                : make_call(expression_kind::floor_div, std::move(parts));
    }
    return make_other(word, std::move(operands));
}

} // namespace

function_row const* find_sympy_function(std::string_view word) {
    function_row const* const found = std::ranges::find(sympy_functions, word, &function_row::name);
    return found == std::end(sympy_functions) ? nullptr : found;
}

expression make_other(std::string_view word, std::vector<expression> operands) {
    expression out = make_call(expression_kind::other, std::move(operands));
    out.symbol = word;
    return out;
}

expression call_sympy_function(token_cursor const& at, std::string_view word, std::vector<expression> operands) {
    if (function_row const* const row = find_sympy_function(word); row != nullptr) {
        if (row->operands != 0) {
            expect_count(at, word, operands, row->operands);
            return make_call(row->kind, std::move(operands));
        }
        if (operands.empty()) at.fail("expected operands of " + std::string(word));
        return make_lattice(row->kind, std::move(operands));
    }
    if (word == "Add") return make_sum(std::move(operands));
    if (word == "Mul") return make_product(std::move(operands));
    if (word == "Integer" || word == "Float" || word == "Identity") {
        expect_count(at, word, operands, 1);
        return std::move(operands[0]);
    }
    if (word == "Rational") {
        expect_count(at, word, operands, 2);
        if (operands[0].kind != expression_kind::integer || operands[1].kind != expression_kind::integer)
            at.fail("expected two integers in Rational");
        return make_ratio(operands[0].number, operands[1].number);
    }
    return composed(at, word, std::move(operands));
}

} // namespace ATON_NAMESPACE::pt2
