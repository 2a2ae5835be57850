// SPDX-License-Identifier: MIT
// The oracle check over every built-in table.
#include <aton/mappings/built_in.hpp>

#include "oracle_tables.hpp"

std::span<aton::dsl::table_view const> oracle_tables() { return aton::mappings::built_in_tables(); }
