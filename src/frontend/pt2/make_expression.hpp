// SPDX-License-Identifier: MIT
// Builds expressions in a canonical form: associative operations are flattened and sorted, integers are folded.
#pragma once

#include <utility>
#include <vector>

#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::pt2 {

[[nodiscard]] program::expression make_integer(std::int64_t number);
[[nodiscard]] program::expression make_real(double value);
[[nodiscard]] program::expression make_boolean(bool value);
[[nodiscard]] program::expression make_symbol(std::string_view name);

[[nodiscard]] program::expression make_sum(std::vector<program::expression> terms);
[[nodiscard]] program::expression make_product(std::vector<program::expression> factors);
/// Rational(numerator, denominator), in lowest terms.
[[nodiscard]] program::expression make_ratio(std::int64_t numerator, std::int64_t denominator);
/// maximum, minimum, all_of, any_of, without duplicate operands.
[[nodiscard]] program::expression make_lattice(program::expression_kind kind,
                                               std::vector<program::expression> operands);
[[nodiscard]] program::expression make_call(program::expression_kind kind, std::vector<program::expression> operands);

/// A total order of expressions: negative, 0 or positive.
[[nodiscard]] int compare(program::expression const& a, program::expression const& b);

} // namespace ATON_NAMESPACE::pt2
