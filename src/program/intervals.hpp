// SPDX-License-Identifier: MIT
// What a guard can be where its symbols lie between bounds: which tells a range of sizes that it refuses from one that it accepts.
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

/// Whether a condition holds for all of these values, for none, or neither is certain.
[[nodiscard]] truth holds(expression const& condition, ranges_of_symbols const& ranges);

} // namespace ATON_NAMESPACE::program
