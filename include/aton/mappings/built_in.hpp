// SPDX-License-Identifier: MIT
// The built-in tables as a compiled library (target aton::mappings), for programs that only look rows up.
// Public header.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include <aton/dsl/table.hpp>

namespace ATON_NAMESPACE::mappings {

/// Every built-in row, one table for each family: what library() in <aton/mappings.hpp> is, but compiled once, where
/// that header compiles all rows in each source that includes it. `aton::dsl::find(aton::mappings::built_in_tables(),
/// "aten::elu", opset)`
[[nodiscard]] std::span<dsl::table_view const> built_in_tables();

/// The name of built_in_tables()[i]: "activation" is the table `aton::mappings::activation` of the header
/// <aton/mappings/activation.hpp>.
[[nodiscard]] std::string_view built_in_name(std::size_t i) noexcept;

} // namespace ATON_NAMESPACE::mappings
