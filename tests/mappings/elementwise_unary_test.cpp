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

TEST_CASE("frexp of zeros, infinities, NaN, subnormal and the largest numbers") {
    std::vector<runtime::aten_argument> const call = {
        arg("self",
            row_of(dtype::float32, {0, infinity, -infinity, nan, 1, -0.75, 0x1p-149, 3.4028234663852886e38, 0.5, -8}))};
    gives("aten::frexp.Tensor",
          call,
          row_of(dtype::float32, {0, infinity, -infinity, nan, 0.5, -0.75, 0.5, 0x1.fffffep-1, 0.5, -0.5}));
    gives("aten::frexp.Tensor", call, row_of(dtype::int32, {0, 0, 0, 0, 1, 0, -148, 128, 0, 4}), 1);
    std::vector<runtime::aten_argument> const wide = {
        arg("self", row_of(dtype::float64, {0x1p-1074, 0x1.fffffffffffffp1023}))};
    gives("aten::frexp.Tensor", wide, row_of(dtype::float64, {0.5, 0x1.fffffffffffffp-1}));
    gives("aten::frexp.Tensor", wide, row_of(dtype::int32, {-1073, 1024}), 1);
}

} // namespace aton::tests
