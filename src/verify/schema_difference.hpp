// SPDX-License-Identifier: MIT
// Compares the schema of a row with the one that the operator is registered with.
#pragma once

#include <string>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::verify {

/// The first difference in the arguments (names, types, defaults) and in the number of results, as a sentence; empty if there is none.
/// SymInt is the same as int, and defaults are compared as values: 7. is 7.0.
[[nodiscard]] std::string schema_difference(std::string_view row, std::string_view registered);

} // namespace ATON_NAMESPACE::verify
