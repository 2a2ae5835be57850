// SPDX-License-Identifier: MIT
// Rows of the family unique: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("unique_consecutive along a dimension compares whole slices") {
    std::vector<runtime::aten_argument> const call = {arg("self", of(dtype::int64, {2, 4}, {1, 2, 2, 1, 3, 3, 3, 3})),
                                                      number("return_inverse", true),
                                                      number("return_counts", true),
                                                      number("dim", 1)};
    gives("aten::unique_consecutive", call, of(dtype::int64, {2, 3}, {1, 2, 1, 3, 3, 3}));
    gives("aten::unique_consecutive", call, row_of(dtype::int64, {0, 1, 1, 2}), 1);
    gives("aten::unique_consecutive", call, row_of(dtype::int64, {1, 2, 1}), 2);
}

} // namespace aton::tests
