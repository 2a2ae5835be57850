// SPDX-License-Identifier: MIT
// Sizes that come from strangers, before anything is computed for them.
#pragma once

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

/// Throws aton::error where a tensor of these sizes does not fit into memory.
inline void require_room(sizes const& of, dtype type) { (void)tensor::of_scalar(0, type).expanded(of); }

} // namespace ATON_NAMESPACE::runtime
