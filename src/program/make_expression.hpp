// SPDX-License-Identifier: MIT
// Expressions from their parts, and what is asked of them in more than one place.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

/// Expressions of a file can be nested as deeply as its reader accepts; what recurses into them stops here.
inline constexpr int max_expression_depth = 2000;

[[nodiscard]] inline bool is_integer(expression const& e) { return e.kind == expression_kind::integer; }

[[nodiscard]] inline expression whole(std::int64_t n) {
    expression out;
    out.number = n;
    return out;
}
[[nodiscard]] inline expression named(std::string symbol) {
    expression out;
    out.kind = expression_kind::symbol;
    out.symbol = std::move(symbol);
    return out;
}
[[nodiscard]] inline expression relation(expression_kind kind, expression left, expression right) {
    expression out;
    out.kind = kind;
    out.operands.push_back(std::move(left));
    out.operands.push_back(std::move(right));
    return out;
}

} // namespace ATON_NAMESPACE::program
