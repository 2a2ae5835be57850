// SPDX-License-Identifier: MIT
// Rows of the family prims_elementwise: Python numbers as operands, and what prims round differently from ATen.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("prims::div truncates if the first operand is an integer, even beside floats") {
    gives("prims::div",
          {arg("self", row_of(dtype::int64, {7, -7, 0})), arg("other", row_of(dtype::int64, {2, 2, 5}))},
          row_of(dtype::int64, {3, -3, 0}));
    gives("prims::div",
          {arg("self", row_of(dtype::int64, {3, -4})), number("other", 2.5)},
          row_of(dtype::float32, {1, -1}));
    gives("prims::div",
          {number("self", 2), arg("other", row_of(dtype::float32, {3, -1.5}))},
          row_of(dtype::float32, {0, -1}));
    gives("prims::div",
          {number("self", true), arg("other", row_of(dtype::float32, {3, -0.5}))},
          row_of(dtype::float32, {0, -2}));
    gives("prims::div",
          {number("self", 7.5), arg("other", row_of(dtype::int64, {3, -4}))},
          row_of(dtype::float32, {2.5, -1.875}));
}

TEST_CASE("prims::maximum and minimum convert a number to the dtype of the tensor") {
    gives("prims::maximum",
          {arg("self", row_of(dtype::int64, {3, -4})), number("other", 2.5)},
          row_of(dtype::int64, {3, 2}));
    gives("prims::minimum",
          {number("self", 2.5), arg("other", row_of(dtype::int64, {3, -4}))},
          row_of(dtype::int64, {2, -4}));
    CHECK(contains(refusal("prims::maximum", {arg("self", row_of(dtype::int8, {3})), number("other", 300)}), "300"));
}

TEST_CASE("prims::cbrt keeps the sign of zeros and infinities") {
    gives("prims::cbrt",
          {arg("self", row_of(dtype::float64, {-8, 27, -0.0, -infinity}))},
          row_of(dtype::float64, {-2, 3, -0.0, -infinity}));
}

} // namespace aton::tests
