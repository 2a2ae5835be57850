// SPDX-License-Identifier: MIT
// Discrete Fourier transforms of any length.
#pragma once

#include <cstdint>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// Complex numbers as two tensors of float32 or float64; an empty imaginary part stands for real numbers.
struct complex_parts {
    tensor real;
    tensor imaginary;
};

/// y[k] = sum over n of x[n] exp(-2 pi i k n / N) along an axis; `inverse`: exp(2 pi i k n / N). Not divided by N.
[[nodiscard]] complex_parts fourier(complex_parts const& x, std::int64_t axis, bool inverse);
/// The inverse of a transform of real numbers from its first N / 2 + 1 elements, times N.
[[nodiscard]] tensor fourier_to_real(complex_parts const& x, std::int64_t axis, std::int64_t length);

} // namespace ATON_NAMESPACE::runtime
