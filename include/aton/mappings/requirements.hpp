// SPDX-License-Identifier: MIT
// What ATen requires of a call beyond its schema: sizes, ranks, dtypes and numbers that fit each other.
// Internal header.
#pragma once

#include <string_view>

#include <aton/core/safe_list.hpp>
#include <aton/dsl/argument.hpp>

namespace ATON_NAMESPACE::mappings {

/// Checks a call of an ATen operator against its requirements. What is not known while a program is converted (a
/// dynamic size, a computed number) does not violate any. `arguments`: in the order of the schema; missing ones have
/// their defaults. Throws unsupported_error with the condition that does not hold and the values of its two sides.
void check_requirements(std::string_view overload, std::string_view schema, safe_span<dsl::argument const> arguments);

} // namespace ATON_NAMESPACE::mappings
