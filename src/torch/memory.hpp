// SPDX-License-Identifier: MIT
// The memory of tensors that a run may write to: copied before, and written back after it.
#pragma once

#include <unordered_map>

#include <ATen/core/Tensor.h>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::torch {

/// Copies of storages. Only for tensors that have one.
class saved_memory {
public:
    /// Keeps what the memory of `t` holds now, unless that is already kept.
    void save(at::Tensor const& t);
    /// Writes back what has changed.
    void restore();

private:
    struct copy {
        at::Tensor memory; ///< all bytes of the storage
        at::Tensor before;
    };
    std::unordered_map<void const*, copy> copies_;
};

/// The storage of a tensor, as its identity; null for sparse and other tensors without one.
[[nodiscard]] void const* storage_of(at::Tensor const& t);

} // namespace ATON_NAMESPACE::torch
