// SPDX-License-Identifier: MIT
// Files by descriptors, which are those of the C library on every system, and by paths in UTF-8. What fails returns -1, nullptr or false, and
// errno has the reason, for which message_of() has the words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::system {

/// What is wrong, as in "cannot be opened: Permission denied".
[[nodiscard]] std::string message_of(int reason);

enum class file_kind : unsigned char { regular, folder, other };

/// Identifies a file independently of its name.
using file_identity = std::pair<std::uint64_t, std::uint64_t>;

struct file_facts {
    file_kind kind = file_kind::other; ///< other: a device, pipe or socket
    std::uint64_t size = 0;
    file_identity identity{};
};

/// Opens a file, or a folder, so that it can be examined. Does not wait for the other end of a pipe.
[[nodiscard]] int open_to_read(std::string const& path) noexcept;
/// Opens a pipe or device that exists.
[[nodiscard]] int open_to_write(std::string const& path) noexcept;
/// Creates a file and opens it for writing; EEXIST if there is one. It may be removed while it is open.
[[nodiscard]] int create_new(std::string const& path) noexcept;
[[nodiscard]] bool close_file(int file) noexcept;

[[nodiscard]] bool examine(int file, file_facts& to) noexcept;
[[nodiscard]] bool examine(std::string const& path, file_facts& to) noexcept;

/// The bytes of a regular file that is not empty.
[[nodiscard]] void const* map_file(int file, std::size_t size) noexcept;
void unmap_file(void const* start, std::size_t size) noexcept;

/// Reads exactly `size` bytes at `position`. errno is 0 if the file is too short.
[[nodiscard]] bool read_range(int from, std::uint64_t position, std::byte* to, std::size_t size) noexcept;
/// Writes all bytes at the current position.
[[nodiscard]] bool write_all(int file, std::byte const* bytes, std::size_t size) noexcept;
/// Allocates space for a file of this size. Succeeds where the file system does not support it; fails if there is not enough.
[[nodiscard]] bool allocate(int file, std::uint64_t size) noexcept;

bool remove_file(std::string const& path) noexcept;
/// Gives a file another name, in place of the file that has it.
[[nodiscard]] bool replace_file(std::string const& from, std::string const& to) noexcept;
/// Exchanges the names of two files. Fails where the file system does not support it, and if one of them does not exist.
[[nodiscard]] bool exchange_files(std::string const& one, std::string const& other) noexcept;

/// The position of what separates the last folder of a path from the name; npos if there is no folder.
[[nodiscard]] std::size_t last_separator(std::string_view path) noexcept;

} // namespace ATON_NAMESPACE::system
