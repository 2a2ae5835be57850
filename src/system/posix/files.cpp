// SPDX-License-Identifier: MIT
#include "system/files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <limits>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ATON_NAMESPACE::system {

namespace {

file_facts facts_of(struct ::stat const& s) {
    file_facts out;
    if (S_ISREG(s.st_mode)) out.kind = file_kind::regular;
    if (S_ISDIR(s.st_mode)) out.kind = file_kind::folder;
    out.size = static_cast<std::uint64_t>(s.st_size);
    out.identity = {static_cast<std::uint64_t>(s.st_dev), static_cast<std::uint64_t>(s.st_ino)};
    return out;
}

} // namespace

std::string message_of(int reason) { return std::generic_category().message(reason); }

int open_to_read(std::string const& path) noexcept {
    return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

int open_to_write(std::string const& path) noexcept { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }

int create_new(std::string const& path) noexcept {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

bool close_file(int file) noexcept { return ::close(file) == 0; }

bool examine(int file, file_facts& to) noexcept {
    struct ::stat s{};
    if (::fstat(file, &s) != 0) return false;
    to = facts_of(s);
    return true;
}

bool examine(std::string const& path, file_facts& to) noexcept {
    struct ::stat s{};
    if (::stat(path.c_str(), &s) != 0) return false;
    to = facts_of(s);
    return true;
}

void const* map_file(int file, std::size_t size) noexcept {
    void* const start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    return start == MAP_FAILED ? nullptr : start;
}

void unmap_file(void const* start, std::size_t size) noexcept { (void)::munmap(const_cast<void*>(start), size); }

bool read_range(int from, std::uint64_t position, std::byte* to, std::size_t size) noexcept {
    while (size != 0) {
        ::ssize_t const n = ::pread64(from, to, size, static_cast<::off64_t>(position));
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = 0;
        if (n <= 0) return false;
        to += n;
        position += static_cast<std::uint64_t>(n);
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

bool write_all(int file, std::byte const* bytes, std::size_t size) noexcept {
    // With a warm page cache, ext4 writes 244 MB in 46 ms in pieces of 1 MiB, and in 110 ms in pieces of 8 MiB, which leave the
    // processor's cache between the two passes.
    constexpr std::size_t piece = std::size_t{1} << 20;
    while (size != 0) {
        ::ssize_t const n = ::write(file, bytes, std::min(size, piece));
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO;
        if (n <= 0) return false;
        bytes += n;
        size -= static_cast<std::size_t>(n);
    }
    return true;
}

bool allocate(int file, std::uint64_t size) noexcept {
    if (size > static_cast<std::uint64_t>(std::numeric_limits<::off_t>::max())) {
        errno = EFBIG;
        return false;
    }
    while (::fallocate(file, 0, 0, static_cast<::off_t>(size)) != 0) {
        if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) return false;
        if (errno != EINTR) break; // not supported by the file system
    }
    return true;
}

bool remove_file(std::string const& path) noexcept { return ::unlink(path.c_str()) == 0; }

bool replace_file(std::string const& from, std::string const& to) noexcept {
    return ::rename(from.c_str(), to.c_str()) == 0;
}

bool exchange_files(std::string const& one, std::string const& other) noexcept {
    return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

std::size_t last_separator(std::string_view path) noexcept { return path.find_last_of('/'); }

} // namespace ATON_NAMESPACE::system
