// SPDX-License-Identifier: MIT
// Rows of the family transforms: regressions against torch's results.
#include "row_results.hpp"

#include "runtime/compute/complex.hpp"

namespace aton::tests {

TEST_CASE("the imaginary parts of elements that are their own mirror image do not count") {
    tensor const half = runtime::complex_of(row_of(dtype::float32, {1, 2, 3}), row_of(dtype::float32, {5, 1, -4}));
    gives("aten::fft_irfft", {arg("self", half), number("n", 4)}, row_of(dtype::float32, {2, -1, 0, 0}));
    gives("aten::fft_irfft", {arg("self", half), number("n", 1)}, row_of(dtype::float32, {1}));
}

TEST_CASE("a half spectrum along another dimension than the last becomes real numbers there") {
    tensor const half = runtime::complex_of(of(dtype::float32, {3, 2}, {1, 0, 2, 6, 3, 1}),
                                            of(dtype::float32, {3, 2}, {5, 0, 1, 2, -4, 0}));
    gives("aten::fft_irfft",
          {arg("self", half), number("n", 4), number("dim", 0)},
          of(dtype::float32, {4, 2}, {2, 3.25, -1, -1.25, 0, -2.75, 0, 0.75}));
}

TEST_CASE("a half spectrum that is too short is padded with zeros") {
    gives("aten::fft_irfft",
          {arg("self", row_of(dtype::float32, {6, 3})), number("n", 6)},
          row_of(dtype::float32, {2, 1.5, 0.5, 0, 0.5, 1.5}));
}

TEST_CASE("half precision is transformed on GPUs only") {
    CHECK(refusal("aten::fft_fft", {arg("self", row_of(dtype::float16, {1, 2}))}) ==
          "aten::fft_fft (opset 13): a Fourier transform of float16, which ATen computes on GPUs only");
}

TEST_CASE("tables of transforms below opset 17 are limited") {
    tensor const x = runtime::tensor::empty(dtype::float32, {4096});
    CHECK(refusal("aten::fft_fft", {arg("self", x)}) ==
          "aten::fft_fft (opset 13): the table of a Fourier transform below opset 17, of 33554432 elements; at most "
          "4194304 are computed while a "
          "model is exported");
}

TEST_CASE("frequencies are rounded integers times a rounded factor") {
    gives("aten::fft_fftfreq", {number("n", 3), number("d", -2)}, row_of(dtype::float32, {-0.0, -1 / 6.0, 1 / 6.0}));
}

} // namespace aton::tests
