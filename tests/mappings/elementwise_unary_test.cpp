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
    gives("aten::asin", {arg("self", z(2, 0.0))}, z(1.5707964, 1.316958));
    gives("aten::asin", {arg("self", z(2, -0.0))}, z(1.5707964, -1.316958));
    gives("aten::acos", {arg("self", z(-2, 0.0))}, z(3.1415927, -1.316958));
    gives("aten::acos", {arg("self", z(-2, -0.0))}, z(3.1415927, 1.316958));
    gives("aten::atan", {arg("self", z(-0.0, 3))}, z(-1.5707964, 0.3465736));
    gives("aten::asinh", {arg("self", z(-0.0, 2))}, z(-1.316958, 1.5707964));
    gives("aten::acosh", {arg("self", z(-3, -0.0))}, z(1.7627472, -3.1415927));
    gives("aten::atanh", {arg("self", z(2, -0.0))}, z(0.54930615, -1.5707964));
}

TEST_CASE("complex functions of numbers near 0 and of huge ones keep their precision") {
    auto const z = [](double re, double im) { return row_of(dtype::float32, {re, im}).from_pairs(); };
    gives("aten::sqrt", {arg("self", z(3e38, 3e38))}, z(1.9029766e19, 7.8823872e18));
    gives("aten::sinh", {arg("self", z(-infinity, infinity))}, z(infinity, nan));
    gives("aten::tanh", {arg("self", z(100, 1))}, z(1, 0));
    gives("aten::asin", {arg("self", z(1e-10, 1e-12))}, z(1e-10, 1e-12));
    gives("aten::acos", {arg("self", z(3e38, -3e38))}, z(0.7853982, 89.636566));
    gives("aten::acos", {arg("self", z(infinity, nan))}, z(nan, -infinity));
    gives("aten::atanh", {arg("self", z(1e-8, 1e20))}, z(0, 1.5707964));
    gives("aten::log1p", {arg("self", z(1e-9, 1e-7))}, z(1.000005e-9, 1e-7));
    gives("aten::log1p", {arg("self", z(-1.5, 0.25))}, z(-0.5815754, 2.6779451));
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
