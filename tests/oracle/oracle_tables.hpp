// SPDX-License-Identifier: MIT
// The tables that the oracle check runs: those of all_tables.cpp are the whole library; other files define one family.
#pragma once

#include <span>

#include <aton/dsl/table.hpp>

/// The tables under test; earlier ones take priority.
std::span<aton::dsl::table_view const> oracle_tables();
