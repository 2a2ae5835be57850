// SPDX-License-Identifier: MIT
// The second translation unit of two_units_test.
#include "shared_table.hpp"

aton::dsl::table_view rows_of_other_unit();
void const* table_of_other_unit();

aton::dsl::table_view rows_of_other_unit() { return shared_rows; }
void const* table_of_other_unit() { return &shared_rows; }
