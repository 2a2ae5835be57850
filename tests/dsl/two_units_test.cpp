// SPDX-License-Identifier: MIT
// One definition in two translation units: the same table has the same address and the same rows in both.
#include <doctest/doctest.h>

#include "shared_table.hpp"

aton::dsl::table_view rows_of_other_unit();
void const* table_of_other_unit();

TEST_CASE("a table in a header is one table") {
    CHECK(table_of_other_unit() == &shared_rows);
    CHECK(rows_of_other_unit().data() == aton::dsl::table_view(shared_rows).data());
    CHECK(rows_of_other_unit().size() == 2);
}
