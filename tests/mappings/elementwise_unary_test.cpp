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
    CHECK(contains(refusal("aten::erf", {arg("self", z)}),
                   "argument 'self' is complex64; the mapping takes real tensors only"));
}

TEST_CASE("at the branch cuts of complex functions, the sign of a zero decides") {
    auto const z = [](double re, double im) { return row_of(dtype::float32, {re, im}).from_pairs(); };
    gives("aten::sqrt", {arg("self", z(-4, -0.0))}, z(0, -2));
    gives("aten::sqrt", {arg("self", z(-4, 0.0))}, z(0, 2));
}

TEST_CASE("complex functions of numbers near 0 and of huge ones keep their precision") {
    auto const z = [](double re, double im) { return row_of(dtype::float32, {re, im}).from_pairs(); };
    gives("aten::sqrt", {arg("self", z(3e38, 3e38))}, z(1.9029766e19, 7.8823872e18));
    gives("aten::sinh", {arg("self", z(-infinity, infinity))}, z(infinity, nan));
    gives("aten::tanh", {arg("self", z(100, 1))}, z(1, 0));
}

} // namespace aton::tests
