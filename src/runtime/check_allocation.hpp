// SPDX-License-Identifier: MIT
// Checks untrusted sizes before anything is computed for them.
#pragma once

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

/// Throws aton::error if a tensor of this shape does not fit into memory.
inline void check_fits_in_memory(sizes const& of, dtype type) { (void)tensor::of_scalar(0, type).expanded(of); }

} // namespace ATON_NAMESPACE::runtime
