// SPDX-License-Identifier: MIT
// Rows of the family short_time_transforms: regressions against torch's results.
#include "row_results.hpp"

#include "runtime/compute/complex.hpp"

namespace aton::tests {

namespace {

runtime::tensor pairs(runtime::sizes const& sizes, std::vector<double> const& real,
                      std::vector<double> const& imaginary) {
    return runtime::reshape(runtime::complex_of(row_of(dtype::float32, real), row_of(dtype::float32, imaginary)),
                            sizes);
}
/// A spectrum of the frequencies 0, 1, 2 in two frames.
runtime::aten_argument half_spectrum() { return arg("self", pairs({3, 2}, {1, 2, 0, 1, 3, -1}, {0, 0, 2, -1, 0, 0})); }
runtime::aten_argument whole_spectrum() {
    return arg("self", pairs({4, 2}, {1, 2, 0, 1, 3, -1, 2, 0}, {0, 1, 2, -1, 0, 4, 0, 0}));
}
runtime::aten_argument hat() { return arg("window", row_of(dtype::float32, {1, 2, 2, 1})); }

} // namespace

TEST_CASE("istft keeps what lies outside of the centers only on request") {
    gives("aten::istft",
          {half_spectrum(), number("n_fft", 4), number("hop_length", 2), hat(), number("center", 0)},
          row_of(dtype::float32, {1, -0.75, 0.55, 0.6, -0.125, 0.25}));
    gives("aten::istft",
          {half_spectrum(), number("n_fft", 4), number("hop_length", 2), hat()},
          row_of(dtype::float32, {0.55, 0.6}));
}

TEST_CASE("istft gives the length that is asked for, with the samples after the last center, and then zeros") {
    gives("aten::istft",
          {half_spectrum(), number("n_fft", 4), number("hop_length", 2), hat(), number("length", 5)},
          row_of(dtype::float32, {0.55, 0.6, -0.125, 0.25, 0}));
    gives("aten::istft",
          {half_spectrum(),
           number("n_fft", 4),
           number("hop_length", 2),
           hat(),
           number("center", 0),
           number("normalized", 1),
           number("length", 1)},
          row_of(dtype::float32, {2}));
    CHECK(refusal("aten::istft", {half_spectrum(), number("n_fft", 4), number("length", 0)}) ==
          "aten::istft (opset 13): a signal of no samples");
}

TEST_CASE("istft cuts frames into pieces of hops that do not divide them") {
    gives("aten::istft",
          {whole_spectrum(), number("n_fft", 4), number("hop_length", 3), hat(), number("center", 0)},
          row_of(dtype::float32, {1, -0.75, 0.5, 0.625, 0.625, -0.125, 0.25}));
    gives("aten::istft",
          {half_spectrum(),
           number("n_fft", 4),
           number("hop_length", 1),
           number("win_length", 2),
           arg("window", row_of(dtype::float32, {1, 3}))},
          row_of(dtype::float32, {0.425}));
    gives("aten::istft", // a hop as long as a frame would be
          {half_spectrum(), number("n_fft", 4), number("center", 0), number("length", 4)},
          row_of(dtype::float32, {1, -0.375, 1.125, 0.125}));
}

TEST_CASE("istft of a whole spectrum gives complex numbers on request") {
    gives("aten::istft",
          {whole_spectrum(),
           number("n_fft", 4),
           number("hop_length", 3),
           hat(),
           number("center", 0),
           number("return_complex", 1)},
          pairs({7}, {1.5, -0.5, 0.25, 0.25, 0.5, 0, 0.5}, {0.5, -0.25, -0.25, 0.75, -0.25, 0.75, -1}));
    CHECK(refusal("aten::istft", {half_spectrum(), number("n_fft", 4), number("return_complex", 1)}) ==
          "aten::istft (opset 13): onesided together with return_complex");
    CHECK(refusal("aten::istft", {whole_spectrum(), number("n_fft", 4), number("onesided", 1)}) ==
          "aten::istft (opset 13): a number of frequencies that does not fit n_fft");
}

} // namespace aton::tests
