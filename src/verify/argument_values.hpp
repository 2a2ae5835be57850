// SPDX-License-Identifier: MIT
// The values that an argument can have by its schema type and its part of the sampling rule.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/runtime/aten_operator.hpp>

namespace ATON_NAMESPACE::verify {

/// The alternatives of a part that lists words or dtypes: of `'sum' | 'mean' ?` they are 'sum' and 'mean', with their quotes.
[[nodiscard]] std::vector<std::string> alternatives_of(std::string_view part);

/// The integers of a part such as `0..2 | 5`, if they are few enough to be an enumeration; empty if they are many, or depend on sizes.
[[nodiscard]] std::vector<std::int64_t> enumeration_of(std::string_view part);

/// The default of an argument, with its name; missing if it has none, or is neither a number, a list of numbers, a string nor None.
[[nodiscard]] runtime::aten_argument default_of(aten::schema_argument const& formal);

/// Whether two arguments that are not tensors have the same value; NaN equals itself.
[[nodiscard]] bool same_value(runtime::aten_argument const& a, runtime::aten_argument const& b);

} // namespace ATON_NAMESPACE::verify
