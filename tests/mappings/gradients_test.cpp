// SPDX-License-Identifier: MIT
// Rows of the family gradients: regressions against torch's results.
#include "row_results.hpp"

namespace aton::tests {

TEST_CASE("twice an integer wraps around in a gradient of second order") {
    gives("aten::gradient.scalarint",
          {arg("self", row_of(dtype::int32, {3, 2147483647, 5, -2147483648, -7})),
           number("spacing", 2),
           number("dim", 0),
           number("edge_order", 2)},
          row_of(dtype::float32, {-4.5, 0.5, 0.25, -3, -4}));
}

TEST_CASE("a distance beyond the range of float16 is not rounded to infinity in a gradient") {
    for (int const order : {1, 2})
        gives("aten::gradient.scalarint",
              {arg("self", row_of(dtype::float16, {1000, -4000, 20, -40000})),
               number("spacing", 1e5),
               number("dim", 0),
               number("edge_order", order)},
              row_of(dtype::float16,
                     order == 1 ? std::vector<double>{-0.05, -0.0049, -0.18, -0.400390625}
                                : std::vector<double>{-0.0951, -0.0049, -0.18, -0.62060546875}));
}

TEST_CASE("only the last distance is doubled as an integer in a gradient with coordinates") {
    tensor const at = row_of(dtype::int32, {0, 1100000003, 1100000010, 17, 1200000004});
    gives("aten::gradient.tensorarrayint",
          {arg("self", row_of(dtype::int64, {1, 3, 7, 4, 9})),
           runtime::aten_argument::of_tensors({at}).named("spacing"),
           number("dim", 0),
           number("edge_order", 2)},
          row_of(dtype::float32, {1.5443048477, -4.9441843033, -4.9441838264, 15.7386417389, -8.3480558395}));
}

} // namespace aton::tests
