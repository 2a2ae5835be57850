// SPDX-License-Identifier: MIT
// Conditions on the symbols of a program, as specialize_sizes() solves them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <aton/program/program.hpp>

#include "make_expression.hpp"

namespace ATON_NAMESPACE::program {

using expressions_of_symbols = std::map<std::string, expression, std::less<>>;
using symbol_names = std::set<std::string, std::less<>>;

/// Bounds sizes, so that expressions of them fit in 64 bits.
inline constexpr std::int64_t max_size = std::int64_t{1} << 48;

/// One condition that must hold.
struct fact {
    expression condition;  ///< over symbols that are not yet known
    std::size_t guard = 0; ///< the guard that it is part of; the number of guards for a range of the program
    symbol_names symbols;
};

inline void collect_symbols(expression const& e, symbol_names& to) {
    if (e.kind == expression_kind::symbol) to.insert(e.symbol);
    for (expression const& each : e.operands) collect_symbols(each, to);
}
[[nodiscard]] inline bool mentions(expression const& e, std::string_view symbol) {
    if (e.kind == expression_kind::symbol) return e.symbol == symbol;
    return std::any_of(
        e.operands.begin(), e.operands.end(), [&](expression const& each) { return mentions(each, symbol); });
}

} // namespace ATON_NAMESPACE::program
