// SPDX-License-Identifier: MIT
// The memory of the machine.
#pragma once

#include <cstddef>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// In bytes; SIZE_MAX if the system does not say.
[[nodiscard]] std::size_t memory_of_machine() noexcept;
/// Asks for large pages, with which the first write is several times as fast. The system may refuse.
void prefer_large_pages(void* start, std::size_t size) noexcept;

/// Memory of zeros that this process shares with its children, of which only pages that are written to exist. Returns nullptr and sets errno on
/// failure.
[[nodiscard]] void* allocate_shared(std::size_t size) noexcept;
void release_shared(void* start, std::size_t size) noexcept;

} // namespace ATON_NAMESPACE::system
