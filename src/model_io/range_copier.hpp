// SPDX-License-Identifier: MIT
// Copies bytes from file to file inside the kernel, or through memory if the kernel refuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/types.h>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::detail {

inline constexpr std::size_t page_size = 4096; ///< of files in the page cache

/// Writes ranges of files to the current position of another file. Methods that the kernel or a file system refuses are not tried again.
class range_copier {
public:
    range_copier() = default;
    ~range_copier() { close_pipe(); }
    range_copier(range_copier const&) = delete;
    range_copier& operator=(range_copier const&) = delete;

    /// Copies `size` bytes of `from` at `position`; the current position of `to` is `to_position`. Returns the number of bytes
    /// written. If it is smaller, errno has the reason: 0 if `from` is too short.
    [[nodiscard]] std::uint64_t copy(int from, std::uint64_t position, std::uint64_t size, int to,
                                     std::uint64_t to_position);

private:
    /// In the order of preference.
    enum class way : unsigned char { copy_file_range, splice, sendfile, memory };

    [[nodiscard]] way best(bool pages_agree) const;
    [[nodiscard]] ::ssize_t step(way how, int from, std::uint64_t position, std::size_t size, int to);
    [[nodiscard]] ::ssize_t through_pipe(int from, std::uint64_t position, std::size_t size, int to);
    [[nodiscard]] ::ssize_t through_memory(int from, std::uint64_t position, std::size_t size, int to);
    [[nodiscard]] bool open_pipe();
    void close_pipe() noexcept;

    std::array<bool, 3> refused_{};
    std::array<int, 2> pipe_{-1, -1};
    std::size_t pipe_piece_ = 0;
    std::unique_ptr<std::byte[]> buffer_;
};

/// Reads exactly `size` bytes at `position`. On failure, returns false and errno has the reason: 0 if the file is too short.
[[nodiscard]] bool read_range(int from, std::uint64_t position, std::byte* to, std::size_t size);

} // namespace ATON_NAMESPACE::detail
