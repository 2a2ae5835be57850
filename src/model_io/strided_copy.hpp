// SPDX-License-Identifier: MIT
// Copies strided elements to dense memory at about memory speed: rows, transposes in tiles, everything else by element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::detail {

/// A dimension of a strided block: sizes and strides in elements.
struct strided_dim {
    std::int64_t size = 0;
    std::int64_t stride = 0;
};

/// The same elements in the same order with as few dimensions as possible: drops those of size 1, and merges neighbors that one stride
/// covers. No size may be 0.
[[nodiscard]] std::vector<strided_dim> merge_dims(std::vector<std::int64_t> const& sizes,
                                                  std::vector<std::int64_t> const& strides);

/// Copies the elements of a block (merged dims, `item` bytes each: 1, 2, 4, 8 or 16) that starts at `from`, in row-major order.
void strided_copy(std::byte* to, std::byte const* from, strided_dim const* dims, std::size_t rank, std::size_t item);

} // namespace ATON_NAMESPACE::detail
