// SPDX-License-Identifier: MIT
// The tables that the oracle check runs: all_tables.cpp gives the whole library, an author's own file one family.
#pragma once

#include <span>

#include <aton/dsl/table.hpp>

/// The tables under test; earlier ones win.
std::span<aton::dsl::table_view const> oracle_tables();
