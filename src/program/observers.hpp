// SPDX-License-Identifier: MIT
// Observers of quantization-aware training, which are off in a program for inference.
#pragma once

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

/// Replaces fused observers whose flag in the file is off by the fake quantization that they then are: they update no statistics, and quantize
/// with the scale and zero point of their buffers.
void settle_observers(program& p);

} // namespace ATON_NAMESPACE::program
