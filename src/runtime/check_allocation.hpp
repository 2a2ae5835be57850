// SPDX-License-Identifier: MIT
// Checks untrusted sizes before anything is computed for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

/// Throws aton::error if a tensor of so many bytes exceeds the limit of CPU memory.
void check_fits_in_memory(std::size_t bytes);

/// The memory of elements, where strings count without their characters.
[[nodiscard]] inline std::size_t bytes_of(dtype type, std::int64_t count) {
    return static_cast<std::size_t>(count) * (type == dtype::string ? sizeof(std::string) : element_bytes(type));
}

/// Throws aton::error if a tensor of this shape does not fit into memory.
inline void check_fits_in_memory(sizes const& of, dtype type) { (void)tensor::of_scalar(0, type).expanded(of); }

} // namespace ATON_NAMESPACE::runtime
