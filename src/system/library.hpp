// SPDX-License-Identifier: MIT
// Shared libraries that are loaded while the program runs, and what is known about their memory.
#pragma once

#include <cstdint>
#include <string>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// Loads the library at this path, which is not searched elsewhere. Returns nullptr, and says why, if it cannot be loaded.
[[nodiscard]] void* load_library(std::string const& path, std::string& why);
void close_library(void* library) noexcept;

struct symbol {
    void const* address = nullptr;                ///< nullptr: there is no such symbol
    static constexpr std::uint64_t unknown = ~0U; ///< systems whose libraries do not record sizes
    std::uint64_t size = unknown;
};
[[nodiscard]] symbol find_symbol(void* library, char const* name) noexcept;

enum class access : unsigned char { read, execute };
/// Whether the range is inside one segment of a loaded library, as constants are.
[[nodiscard]] bool is_loaded(void const* first, std::uint64_t size, access wanted = access::read) noexcept;

} // namespace ATON_NAMESPACE::system
