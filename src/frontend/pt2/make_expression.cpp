// SPDX-License-Identifier: MIT
#include "make_expression.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string_view>

namespace ATON_NAMESPACE::pt2 {

namespace {

using program::expression;
using program::expression_kind;

/// Replaces operands of the same kind by their own operands, and sorts.
std::vector<expression> flattened(expression_kind kind, std::vector<expression> operands) {
    std::vector<expression> out;
    out.reserve(operands.size());
    for (expression& each : operands) {
        if (each.kind != kind) out.push_back(std::move(each));
        else
            for (expression& inner : each.operands) out.push_back(std::move(inner));
    }
    std::sort(out.begin(), out.end(), [](expression const& a, expression const& b) { return compare(a, b) < 0; });
    return out;
}

/// Folds the integers, which are sorted to the front, unless the result overflows.
template <typename Join>
void fold_integers(std::vector<expression>& operands, std::int64_t neutral, Join join) {
    std::size_t count = 0;
    std::int64_t folded = neutral;
    for (; count != operands.size() && operands[count].kind == expression_kind::integer; ++count)
        if (join(folded, operands[count].number, folded)) return;
    operands.erase(operands.begin(), operands.begin() + static_cast<std::ptrdiff_t>(count));
    if (folded != neutral || operands.empty()) operands.insert(operands.begin(), make_integer(folded));
}

expression joined(expression_kind kind, std::vector<expression> operands) {
    if (operands.size() == 1) return std::move(operands[0]);
    return make_call(kind, std::move(operands));
}

int sign(std::strong_ordering o) { return o < 0 ? -1 : (o > 0 ? 1 : 0); }

} // namespace

expression make_integer(std::int64_t number) {
    expression out;
    out.number = number;
    return out;
}

expression make_real(double value) {
    expression out;
    out.kind = expression_kind::real;
    out.real = value;
    return out;
}

expression make_boolean(bool value) {
    expression out;
    out.kind = expression_kind::boolean;
    out.number = value ? 1 : 0;
    return out;
}

expression make_symbol(std::string_view name) {
    expression out;
    out.kind = expression_kind::symbol;
    out.symbol = name;
    return out;
}

expression make_call(expression_kind kind, std::vector<expression> operands) {
    expression out;
    out.kind = kind;
    out.operands = std::move(operands);
    return out;
}

expression make_sum(std::vector<expression> terms) {
    terms = flattened(expression_kind::add, std::move(terms));
    fold_integers(terms, 0, [](std::int64_t a, std::int64_t b, std::int64_t& out) {
        std::int64_t sum = 0;
        bool const over = __builtin_add_overflow(a, b, &sum);
        if (!over) out = sum;
        return over;
    });
    return joined(expression_kind::add, std::move(terms));
}

expression make_product(std::vector<expression> factors) {
    factors = flattened(expression_kind::mul, std::move(factors));
    fold_integers(factors, 1, [](std::int64_t a, std::int64_t b, std::int64_t& out) {
        std::int64_t product = 0;
        bool const over = __builtin_mul_overflow(a, b, &product);
        if (!over) out = product;
        return over;
    });
    return joined(expression_kind::mul, std::move(factors));
}

expression make_ratio(std::int64_t numerator, std::int64_t denominator) {
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    if (numerator != lowest && denominator != lowest && denominator != 0) {
        std::int64_t const common = (denominator < 0 ? -1 : 1) * std::gcd(numerator, denominator);
        numerator /= common;
        denominator /= common;
        if (denominator == 1) return make_integer(numerator);
    }
    return make_call(expression_kind::true_div, {make_integer(numerator), make_integer(denominator)});
}

expression make_lattice(expression_kind kind, std::vector<expression> operands) {
    operands = flattened(kind, std::move(operands));
    operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
    return joined(kind, std::move(operands));
}

int compare(expression const& a, expression const& b) {
    if (a.kind != b.kind) return a.kind < b.kind ? -1 : 1;
    if (a.number != b.number) return a.number < b.number ? -1 : 1;
    if (a.real < b.real || b.real < a.real) return a.real < b.real ? -1 : 1;
    if (int const names = sign(a.symbol <=> b.symbol); names != 0) return names;
    if (a.operands.size() != b.operands.size()) return a.operands.size() < b.operands.size() ? -1 : 1;
    for (std::size_t i = 0; i != a.operands.size(); ++i)
        if (int const inner = compare(a.operands[i], b.operands[i]); inner != 0) return inner;
    return 0;
}

} // namespace ATON_NAMESPACE::pt2
