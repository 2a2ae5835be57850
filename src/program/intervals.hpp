// SPDX-License-Identifier: MIT
// Interval arithmetic on guards: whether a guard accepts all sizes of a range, or none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include <aton/program/expression.hpp>

namespace ATON_NAMESPACE::program {

struct integer_range {
    std::int64_t low = 0;
    std::int64_t high = 0;
};
using ranges_of_symbols = std::map<std::string, integer_range, std::less<>>;

enum class truth : std::uint8_t { no, yes, unknown };

/// `yes` if a condition holds for all values in the ranges, `no` if for none, `unknown` if neither is certain.
[[nodiscard]] truth holds(expression const& condition, ranges_of_symbols const& ranges);

} // namespace ATON_NAMESPACE::program
