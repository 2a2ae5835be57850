// SPDX-License-Identifier: MIT
// Rows of the family random: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("the dropout mask of an empty tensor has the dtype of the input") {
    tensor const nothing = of(dtype::float32, {0, 2}, {});
    gives("aten::native_dropout", {arg("input", nothing), number("p", 0.5), number("train", true)}, nothing, 1);
}

TEST_CASE("random numbers of a dtype without fractions, and empty ranges, are refused") {
    tensor const x = of(dtype::float32, {2, 3}, {0, 1, 2, 3, 4, 5});
    CHECK(refusal("aten::rand_like", {arg("self", x), type("dtype", dtype::int64)}) ==
          "aten::rand_like (opset 13): random numbers of int64");
    CHECK(refusal("aten::randint_like.low_dtype", {arg("self", x), number("low", 3), number("high", 3)}) ==
          "aten::randint_like.low_dtype (opset 13): the range of the random integers is empty");
    CHECK(refusal("aten::randint_like.low_dtype",
                  {arg("self", x), number("low", -(std::int64_t{1} << 53)), number("high", 1)}) ==
          "aten::randint_like.low_dtype (opset 13): random integers from a range of more than 2^53");
    CHECK(refusal("aten::bernoulli.p", {arg("self", x), number("p", 1.5)}) ==
          "aten::bernoulli.p (opset 13): p is not between 0 and 1");
    CHECK(refusal("aten::exponential", {arg("self", x), number("lambd", 0.0)}) ==
          "aten::exponential (opset 13): lambd is not positive");
}

TEST_CASE("dropout of everything keeps NaN, as a product with 0") {
    tensor const x = of(dtype::float32, {3}, {1, nan, infinity});
    for (char const* op : {"aten::dropout", "aten::alpha_dropout"})
        gives(op, {arg("input", x), number("p", 1.0), number("train", true)}, of(dtype::float32, {3}, {0, nan, nan}));
}

TEST_CASE("a certain event happens, and an empty interval has one number") {
    tensor const x = of(dtype::float64, {2, 2}, {9, 9, 9, 9});
    gives("aten::bernoulli.p", {arg("self", x), number("p", 1.0)}, of(dtype::float64, {2, 2}, {1, 1, 1, 1}));
    gives("aten::uniform",
          {arg("self", x), number("from", 2.5), number("to", 2.5)},
          of(dtype::float64, {2, 2}, {2.5, 2.5, 2.5, 2.5}));
}

} // namespace aton::tests
