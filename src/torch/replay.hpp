// SPDX-License-Identifier: MIT
// Runs a recorded program with torch's operators.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "recorder.hpp"

namespace ATON_NAMESPACE::torch {

/// Throws aton::error unless the operators of a recording, on the same inputs, give the outputs that the run gave: what C++ writes to the
/// memory of tensors, or what another thread computes, is not recorded. Memory that is written to gets its old values back.
void require_complete(recording const& r, std::vector<at::Tensor> const& inputs);

} // namespace ATON_NAMESPACE::torch
