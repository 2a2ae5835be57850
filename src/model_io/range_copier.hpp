// SPDX-License-Identifier: MIT
// Bytes from file to file inside the kernel, and through memory where the kernel refuses.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <sys/types.h>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::detail {

/// Writes ranges of files to where another file stands. Ways that the kernel or a file system refuses are not tried again.
class range_copier {
public:
    range_copier() = default;
    ~range_copier() { close_pipe(); }
    range_copier(range_copier const&) = delete;
    range_copier& operator=(range_copier const&) = delete;

    /// Up to `size` bytes of `from` at `position`; `to` stands at `to_position`. Returns how many it wrote, which are fewer only where
    /// errno says why: 0 if `from` ends before.
    [[nodiscard]] std::uint64_t copy(int from, std::uint64_t position, std::uint64_t size, int to,
                                     std::uint64_t to_position);

private:
    /// In the order in which they are tried.
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

/// Reads all of `size` bytes at `position`. Where it cannot, returns false, and errno says why: 0 if the file ends before.
[[nodiscard]] bool read_range(int from, std::uint64_t position, std::byte* to, std::size_t size);

} // namespace ATON_NAMESPACE::detail
