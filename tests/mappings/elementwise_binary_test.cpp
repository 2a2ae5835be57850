// SPDX-License-Identifier: MIT
// Rows of the family elementwise_binary: regressions against torch's results.
#include <string_view>

#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a number that divides unsigned integers wraps around first") {
    for (std::string_view const mode : {"trunc", "floor"})
        gives("aten::div.Scalar_mode",
              {arg("self", row_of(dtype::uint8, {255, 7})), number("other", -2), word("rounding_mode", mode)},
              row_of(dtype::uint8, {1, 0}));
    gives("aten::floor_divide.Scalar",
          {arg("self", row_of(dtype::uint8, {255})), number("other", -2)},
          row_of(dtype::uint8, {1}));
}

TEST_CASE("a sum with a factor is rounded once in half types") {
    gives("aten::rsub.Scalar",
          {arg("self", row_of(dtype::bfloat16, {0.4375})), number("other", 1), number("alpha", 2.5625)},
          row_of(dtype::bfloat16, {-0.12109375}));
}

TEST_CASE("two exponents are computed as roots, except in float16") {
    for (dtype const t : {dtype::float32, dtype::float16}) {
        double const of_zero = t == dtype::float16 ? infinity : -infinity;
        double const of_infinity = t == dtype::float16 ? 0 : nan;
        gives("aten::pow.Tensor_Scalar",
              {arg("self", row_of(t, {-infinity, -0.0, 4})), number("exponent", -0.5)},
              row_of(t, {of_infinity, of_zero, 0.5}));
    }
    gives("aten::float_power.Tensor_Scalar",
          {arg("self", row_of(dtype::float16, {-infinity, 4})), number("exponent", 0.5)},
          row_of(dtype::float64, {nan, 2}));
}

TEST_CASE("powers of complex numbers at infinity are those of the products and roots that ATen computes") {
    tensor const z = row_of(dtype::float32, {infinity, -infinity}).from_pairs();
    tensor const undefined = row_of(dtype::float32, {nan, nan}).from_pairs();
    gives("aten::pow.Tensor_Scalar", {arg("self", z), number("exponent", -0.5)}, undefined);
    gives("aten::pow.Tensor_Scalar", {arg("self", z), number("exponent", -2)}, undefined);
}

TEST_CASE("a complex number to the power of a fraction is refused") {
    tensor const z = runtime::cast(row_of(dtype::float32, {1}), dtype::complex64);
    CHECK_FALSE(refusal("aten::pow.Tensor_Scalar", {arg("self", z), number("exponent", 1.0625)}).empty());
}

TEST_CASE("squares and cubes of complex numbers are products, with infinities too") {
    tensor const z = of(dtype::float32, {2, 2}, {infinity, -0.5, -3, -3e38}).from_pairs();
    gives("aten::pow.Tensor_Scalar",
          {arg("self", z), number("exponent", 2)},
          of(dtype::float32, {2, 2}, {infinity, -infinity, -infinity, infinity}).from_pairs());
    gives("aten::pow.Tensor_Scalar",
          {arg("self", z), number("exponent", 3)},
          of(dtype::float32, {2, 2}, {nan, -infinity, infinity, nan}).from_pairs());
}

TEST_CASE("ldexp by integers keeps the dtype, and its power does not overflow") {
    gives("aten::ldexp.Tensor",
          {arg("self", row_of(dtype::float16, {0x1p-20, 1, 0})), arg("other", row_of(dtype::int32, {30, 20, 2000000}))},
          row_of(dtype::float16, {1024, infinity, 0}));
    gives("aten::ldexp.Tensor",
          {arg("self", row_of(dtype::float32, {0x1p-140, 1})), arg("other", row_of(dtype::int32, {200, -200}))},
          row_of(dtype::float32, {0x1p60, 0}));
}

TEST_CASE("the divisor of complex numbers is rounded to their dtype, where it may be 0") {
    gives("aten::div.Scalar",
          {arg("self", of(dtype::float32, {1, 2}, {-1.5, infinity}).from_pairs()), number("other", 1e-310)},
          of(dtype::float32, {1, 2}, {-infinity, infinity}).from_pairs());
}

TEST_CASE("powers of complex numbers with complex exponents") {
    auto const z = [](double re, double im) { return row_of(dtype::float32, {re, im}).from_pairs(); };
    gives("aten::pow.Tensor_Tensor", {arg("self", z(0, 1)), arg("exponent", z(0, 1))}, z(0.20787957, 0));
    gives("aten::pow.Tensor_Tensor", {arg("self", z(0, 0)), arg("exponent", z(2, 1))}, z(0, 0));
    gives("aten::pow.Tensor_Tensor", {arg("self", z(0, 0)), arg("exponent", z(-1, 2))}, z(infinity, nan));
    gives("aten::pow.Scalar", {number("self", 2), arg("exponent", z(1, -3))}, z(-0.97398883, -1.7468102));
    gives("aten::pow.Scalar", {number("self", 1), arg("exponent", z(infinity, 3))}, z(1, 0));
    gives("aten::pow.Tensor_Scalar", {arg("self", z(1, -2)), number("exponent", 2.5)}, z(-6.9606647, -2.7296243));
    CHECK(contains(refusal("aten::pow.Tensor_Scalar", {arg("self", z(1, -2)), number("exponent", 1e10)}),
                   "a complex number to a power beyond 10^6"));
}

} // namespace aton::tests
