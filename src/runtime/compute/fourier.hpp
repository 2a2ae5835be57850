// SPDX-License-Identifier: MIT
// Discrete Fourier transforms of any length.
#pragma once

#include <cstdint>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// Complex numbers in two tensors of float32 or float64; no imaginary one: real numbers.
struct complex_parts {
    tensor real;
    tensor imaginary;
};

/// y[k] = sum over n of x[n] exp(-2 pi i k n / N) along an axis; `inverse`: exp(2 pi i k n / N). Not divided by N.
[[nodiscard]] complex_parts fourier(complex_parts const& x, std::int64_t axis, bool inverse);
/// The first N / 2 + 1 elements of a transform of real numbers back to those numbers, times N.
[[nodiscard]] tensor fourier_to_real(complex_parts const& x, std::int64_t axis, std::int64_t length);

} // namespace ATON_NAMESPACE::runtime
