// SPDX-License-Identifier: MIT
// Rows of the family elementwise_unary: calls that once had other results than ATen's.
#include <string>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the logit between bounds of one half is infinite") {
    gives("aten::logit",
          {arg("self", row_of(dtype::float32, {0.5, 0.25})), number("eps", 1)},
          row_of(dtype::float32, {infinity, infinity}));
}

TEST_CASE("complex numbers are not tested for NaN") {
    tensor const z = runtime::cast(row_of(dtype::float32, {1}), dtype::complex64);
    for (std::string const name : {"isnan", "isinf", "isfinite", "nan_to_num"})
        CHECK(contains(refusal("aten::" + name, {arg("self", z)}), "complex numbers"));
}

} // namespace aton::tests
