// SPDX-License-Identifier: MIT
// The kinds of Fourier transforms, over several dimensions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/compute/fourier.hpp"

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The divisor of the result, numbered as in at::native::fft_norm_mode.
enum class norm_mode : std::uint8_t { none, by_root, by_size };

/// Converts real numbers to a dtype that transforms support; complex ones stay.
[[nodiscard]] tensor as_signal(tensor const& x);
[[nodiscard]] complex_parts parts_of(tensor const& x);
void require_real(tensor const& x);

[[nodiscard]] tensor complex_to_complex(complex_parts const& x, std::vector<std::size_t> const& axes, norm_mode norm,
                                        bool forward);
/// With `onesided`, the first half of the results along the last axis.
[[nodiscard]] tensor real_to_complex(tensor const& x, std::vector<std::size_t> axes, norm_mode norm, bool forward,
                                     bool onesided);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
