// SPDX-License-Identifier: MIT
// Rows of operators that other libraries than torch register: the runtime knows each of them by the same schema.
#include <doctest/doctest.h>

#include <string>

#include <aton/aten/schema_table.hpp>
#include <aton/mappings/built_in.hpp>
#include <aton/runtime/aten_operator.hpp>

#include "runtime/aten/libraries.hpp"

namespace aton::tests {

TEST_CASE("each row of a library's operator has a kernel with the schema of the row") {
    int rows = 0;
    for (dsl::table_view const family : mappings::built_in_tables())
        for (dsl::entry const& row : family) {
            if (!aton::aten::find_schema(row.overload).empty()) continue;
            ++rows;
            CAPTURE(std::string(row.overload));
            CHECK(runtime::has_aten_operator(row.overload));
            CHECK(runtime::aten_kernels::library_schema(row.overload) == row.schema);
        }
    CHECK(rows > 10);
}

TEST_CASE("other operators have no schema of a library") {
    CHECK(runtime::aten_kernels::library_schema("torchvision::nm").empty());
    CHECK(runtime::aten_kernels::library_schema("aten::relu").empty());
}

} // namespace aton::tests
