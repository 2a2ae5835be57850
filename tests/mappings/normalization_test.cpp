// SPDX-License-Identifier: MIT
// Rows of the family normalization: calls that once had other results than ATen's.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a norm with infinite weights is not NaN where one part of a complex number is 0") {
    verify::sample const s{"aten::rms_norm",
                           {arg("input", row_of(dtype::float16, {0x1p-24, 60000})),
                            numbers("normalized_shape", {2}),
                            arg("weight", row_of(dtype::float16, {-infinity, 1})),
                            number("eps", 0.0625)}};
    dsl::entry const* const row = dsl::find(mappings::built_in_tables(), s.overload, 23);
    REQUIRE(row != nullptr);
    tensor const expected = row_of(dtype::float16, {-infinity, 1.4140625});
    CHECK(verify::compare(runtime::call_aten(s.overload, s.arguments).results[0].one(), expected).difference.empty());
    CHECK(verify::compare(run(translate(*row, row->schema, 23, s))[0].one(), expected).difference.empty());
}

TEST_CASE("the mean result of normalizing an empty tensor is 0") {
    gives("aten::native_layer_norm",
          {arg("input", of(dtype::float32, {2, 0}, {})),
           numbers("normalized_shape", {0}),
           none("weight"),
           none("bias"),
           number("eps", 0.5)},
          of(dtype::float32, {2, 1}, {0, 0}),
          1);
    gives("aten::native_group_norm",
          {arg("input", of(dtype::float32, {1, 2, 0}, {})),
           none("weight"),
           none("bias"),
           number("N", 1),
           number("C", 2),
           number("HxW", 0),
           number("group", 2),
           number("eps", 0.5)},
          of(dtype::float32, {1, 2}, {0, 0}),
          1);
}

} // namespace aton::tests
