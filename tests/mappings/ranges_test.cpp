// SPDX-License-Identifier: MIT
// Rows of the family ranges: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("a number argument of linspace is not rounded to float32") {
    gives("aten::linspace.Tensor_Scalar",
          {arg("start", of(dtype::float64, {}, {0})),
           number("end", 0.1),
           number("steps", 2),
           type("dtype", dtype::float64)},
          row_of(dtype::float64, {0, 0.1}));
}

TEST_CASE("powers of a logspace of integers have the base that was given, also below 1") {
    struct sequence {
        double start;
        double end;
        std::int64_t steps;
        double base;
        dtype result;
        std::vector<double> expected;
    };
    std::vector<sequence> const all{
        {1, -3, 9, 1.1, dtype::int8, {1, 1, 1, 0, 0, 0, 0, 0, 0}},
        {1, 9, 5, 1.7, dtype::int32, {1, 4, 14, 41, 118}},
        {-2, 4, 7, 0.5, dtype::int8, {4, 2, 1, 0, 0, 0, 0}},
        {3.7, 3, 1, 1.7, dtype::int64, {7}}, // a single exponent is not rounded
        {1, -1, 5, 3, dtype::uint8, {3, 0, 0, 0, 0}},
        {3, -3, 3, 0, dtype::int8, {0, 1, 0}},
        {-2.5, 3.5, 4, 2.5, dtype::float32, {0.101192884, 0.63245552, 3.952847, 24.705293}}};
    for (sequence const& s : all) {
        CAPTURE(s.base);
        gives("aten::logspace",
              {number("start", s.start),
               number("end", s.end),
               number("steps", s.steps),
               number("base", s.base),
               type("dtype", s.result)},
              row_of(s.result, s.expected));
        if (s.end < 0) continue; // beyond the dtype, the cast of the graph is not defined
        gives("aten::logspace.Tensor_Tensor",
              {arg("start", of(dtype::float64, {}, {s.start})),
               arg("end", of(dtype::float64, {}, {s.end})),
               number("steps", s.steps),
               number("base", s.base),
               type("dtype", s.result)},
              row_of(s.result, s.expected));
    }
}

TEST_CASE("steps between ends whose difference overflows the dtype are infinite, as in torch") {
    for (dtype const t : {dtype::float32, dtype::float64, dtype::float16}) {
        double const far = t == dtype::float32 ? 3e38 : t == dtype::float64 ? 1.5e308 : 6e4;
        CAPTURE(name(t));
        std::vector<runtime::aten_argument> const numbers{
            number("start", -far), number("end", far), number("steps", 4), type("dtype", t)};
        gives("aten::linspace", numbers, row_of(t, {nan, infinity, -infinity, nan}));
        gives("aten::logspace", numbers, row_of(t, {nan, infinity, 0, nan}));
        std::vector<runtime::aten_argument> const tensors{arg("start", of(dtype::float64, {}, {-far})),
                                                          arg("end", of(dtype::float64, {}, {far})),
                                                          number("steps", 4),
                                                          type("dtype", t)};
        gives("aten::linspace.Tensor_Tensor", tensors, row_of(t, {nan, infinity, -infinity, nan}));
        gives("aten::logspace.Tensor_Tensor", tensors, row_of(t, {nan, infinity, 0, nan}));
    }
}

TEST_CASE("ends of a sequence of integers that do not fit are refused, as by torch") {
    std::string const why = refusal(
        "aten::linspace", {number("start", 300), number("end", 3), number("steps", 4), type("dtype", dtype::int8)});
    CHECK(contains(why, "the number 300.000000, which does not fit in int8"));
}

} // namespace aton::tests
