// SPDX-License-Identifier: MIT
// Rows of the family view: regressions against torch's results.
#include <cstdint>
#include <vector>

#include "row_results.hpp"

namespace aton::tests {

namespace {

std::vector<runtime::aten_argument> view(tensor const& x, dtype as) { return {arg("self", x), type("dtype", as)}; }

} // namespace

TEST_CASE("bytes are elements of other dtypes, little-endian") {
    tensor const bytes = of(dtype::uint8, {2, 4}, {0, 0, 192, 191, 1, 0, 0, 128});
    gives("aten::view.dtype", view(bytes, dtype::int16), of(dtype::int16, {2, 2}, {0, -16448, 1, -32768}));
    gives("aten::view.dtype", view(bytes, dtype::int32), of(dtype::int32, {2, 1}, {-1077936128, -2147483647}));
    gives("aten::view.dtype", view(bytes, dtype::float32), of(dtype::float32, {2, 1}, {-1.5, -0x1p-149}));
    gives("aten::view.dtype", view(bytes, dtype::float16), of(dtype::float16, {2, 2}, {0, -1.9375, 0x1p-24, -0.0}));
    gives("aten::view.dtype", view(bytes, dtype::bool_), of(dtype::bool_, {2, 4}, {0, 0, 1, 1, 1, 0, 0, 1}));
}

TEST_CASE("integers are several smaller ones, or floats of the same size") {
    tensor const words = of(dtype::int32, {2}, {-2, 0x7f800000});
    gives("aten::view.dtype", view(words, dtype::uint8), of(dtype::uint8, {8}, {254, 255, 255, 255, 0, 0, 128, 127}));
    gives("aten::view.dtype", view(words, dtype::int16), of(dtype::int16, {4}, {-2, -1, 0, 32640}));
    gives("aten::view.dtype", view(words, dtype::float32), of(dtype::float32, {2}, {nan, infinity}));
    gives("aten::view.dtype",
          view(of(dtype::int64, {2}, {-4616189618054758400.0, 1}), dtype::float64),
          of(dtype::float64, {2}, {-1, 0x1p-1074}));
}

} // namespace aton::tests
