// SPDX-License-Identifier: MIT
// Rows of the family elementwise_unary: regressions against torch's results.
#include <string>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the logit between bounds of one half is infinite") {
    gives("aten::logit",
          {arg("self", row_of(dtype::float32, {0.5, 0.25})), number("eps", 1)},
          row_of(dtype::float32, {infinity, infinity}));
}

TEST_CASE("a row for reals refuses complex numbers") {
    tensor const z = runtime::cast(row_of(dtype::float32, {1}), dtype::complex64);
    CHECK(contains(refusal("aten::nan_to_num", {arg("self", z)}),
                   "argument 'self' is complex64; the mapping takes real tensors only"));
}

} // namespace aton::tests
