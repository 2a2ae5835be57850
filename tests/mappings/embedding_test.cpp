// SPDX-License-Identifier: MIT
// Rows of the family embedding: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

namespace {

std::vector<runtime::aten_argument> bags_without_rows(std::int64_t bags) {
    return {arg("weight", of(dtype::float32, {3, 2}, {1, 2, 3, 4, 5, 6})),
            arg("indices", row_of(dtype::int64, {})),
            arg("offsets", row_of(dtype::int64, std::vector<double>(static_cast<std::size_t>(bags), 0))),
            number("mode", 2)};
}

} // namespace

TEST_CASE("the maximum of a bag without rows is 0, also where there are no rows at all") {
    gives("aten::embedding_bag", bags_without_rows(2), of(dtype::float32, {2, 2}, {0, 0, 0, 0}));
    gives("aten::embedding_bag", bags_without_rows(2), row_of(dtype::int64, {0, 0}), 2);
    gives("aten::embedding_bag", bags_without_rows(2), of(dtype::int64, {2, 2}, {0, 0, 0, 0}), 3);
    gives("aten::embedding_bag", bags_without_rows(0), of(dtype::float32, {0, 2}, {}));
}

} // namespace aton::tests
