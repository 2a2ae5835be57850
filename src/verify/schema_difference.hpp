// SPDX-License-Identifier: MIT
// Compares the schema of a row with the one that the operator is registered with.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <aton/verify/check.hpp>

namespace ATON_NAMESPACE::verify {

/// The first difference in the arguments (names, types, defaults) and in the results (number, types), as a sentence; empty if there is none.
/// SymInt is the same as int, and defaults are compared as values: 7. is 7.0.
[[nodiscard]] std::string schema_difference(std::string_view row, std::string_view registered);

/// The first difference between the schema of a row and that of the registered operator or of a recorded call. Aton's own schemas of ATen are
/// not compared: they are those of one release of torch.
[[nodiscard]] std::string find_schema_difference(dsl::entry const& row,
                                                 std::function<std::string(std::string_view)> const& registered_schema,
                                                 std::vector<recorded_call const*> const& recorded);

/// "; calls.jsonl:3 has SCHEMA, the row SCHEMA" if none of the calls is of the row's overload, and one of another overload; or empty.
[[nodiscard]] std::string call_of_other_overload(dsl::entry const& row, std::span<recorded_call const> calls);

} // namespace ATON_NAMESPACE::verify
