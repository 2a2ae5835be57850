// SPDX-License-Identifier: MIT
// Copies bytes from file to file inside the kernel, or through memory if the kernel refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

inline constexpr std::size_t page_size = 4096; ///< of files in the page cache

/// Writes ranges of files to the current position of another file. Methods that the kernel or a file system refuses are not tried again.
class range_copier {
public:
    range_copier();
    ~range_copier();
    range_copier(range_copier const&) = delete;
    range_copier& operator=(range_copier const&) = delete;

    /// Copies `size` bytes of `from` at `position`; the current position of `to` is `to_position`. Returns the number of bytes
    /// written. If it is smaller, errno has the reason: 0 if `from` is too short.
    [[nodiscard]] std::uint64_t copy(int from, std::uint64_t position, std::uint64_t size, int to,
                                     std::uint64_t to_position);

private:
    struct methods;
    std::unique_ptr<methods> methods_;
};

} // namespace ATON_NAMESPACE::system
