// SPDX-License-Identifier: MIT
// Writes files atomically, from memory and from other files, with few system calls.
#include "output_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

constexpr std::size_t max_gathered = std::size_t{1} << 18;
/// Up to this size, copying costs less than a system call.
constexpr std::size_t small_piece = std::size_t{1} << 16;
/// Bytes per system call. With a warm page cache, ext4 writes 244 MB in 46 ms in pieces of 1 MiB, and in 110 ms in pieces of 8 MiB,
/// which leave the processor's cache between the two passes.
constexpr std::size_t piece = std::size_t{1} << 20;

/// The temporary files of this process. Whoever creates, renames or removes one has the lock, so that abandon_writes() finds it either
/// complete, under its own name, or here.
struct unfinished_files {
    std::mutex lock;
    std::set<std::string> names;
};

/// Never destroyed: other threads may still write when the process ends.
unfinished_files& unfinished() {
    static auto* const all = new unfinished_files;
    return *all;
}

/// Opens a new file in the folder of `path`. Its name does not extend that of the file, which may have the maximum length.
int open_temporary(std::string const& path, std::string& name) {
    static std::atomic<unsigned> serial{0};
    std::string const folder = path.substr(0, path.find_last_of('/') + 1);
    std::lock_guard const lock(unfinished().lock);
    for (int attempt = 0; attempt != 1000; ++attempt) { // skips files that a killed process left
        name = folder + ".aton." + std::to_string(::getpid()) + '.' + std::to_string(serial++) + ".tmp";
        auto const known = unfinished().names.insert(name).first;
        int const file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0) return file;
        int const reason = errno;
        unfinished().names.erase(known);
        errno = reason;
        if (reason != EEXIST) return file;
    }
    return -1;
}

} // namespace

output_file::output_file(std::string path)
    : path_(std::move(path)),
      gathered_(std::make_unique_for_overwrite<std::byte[]>(max_gathered)) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path_, ignored)) throw error(path_ + ": is a folder, not a file");
    if (is_pipe_or_device(path_)) file_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    else file_ = open_temporary(path_, temporary_);
    if (file_ >= 0) return;
    temporary_.clear();
    fail();
}

bool output_file::is_pipe_or_device(std::string const& path) {
    std::error_code ignored;
    auto const status = std::filesystem::status(path, ignored);
    return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
           !std::filesystem::is_directory(status);
}

output_file::~output_file() {
    if (file_ >= 0) ::close(file_);
    if (temporary_.empty() || state_ == state::kept) return;
    std::lock_guard const lock(unfinished().lock);
    ::unlink(temporary_.c_str());
    unfinished().names.erase(temporary_);
}

void output_file::fail() const {
    int const reason = errno;
    if (reason == 0 ||
        reason == EFAULT) // end of a file that is read, or of a mapped one, where an access would raise SIGBUS
        throw error(path_ + ": cannot be written: the file with its weights was truncated while it was read");
    throw error(path_ + ": cannot be written: " + std::strerror(reason));
}

void output_file::reserve(std::uint64_t size) {
    if (is_pipe_or_device() || size < piece) return;
    if (size > static_cast<std::uint64_t>(std::numeric_limits<::off_t>::max())) {
        errno = EFBIG;
        fail();
    }
    while (::fallocate(file_, 0, 0, static_cast<::off_t>(size)) != 0) {
        if (errno == ENOSPC || errno == EFBIG || errno == EDQUOT) fail();
        if (errno != EINTR) return; // not supported by the file system
    }
}

void output_file::send(std::byte const* bytes, std::size_t size) {
    while (size != 0) {
        ::ssize_t const n = ::write(file_, bytes, std::min(size, piece));
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = EIO;
        if (n <= 0) fail();
        bytes += n;
        size -= static_cast<std::size_t>(n);
    }
}

void output_file::flush() {
    send(gathered_.get(), gathered_size_);
    gathered_size_ = 0;
}

void output_file::write(std::byte const* bytes, std::size_t size) {
    auto const gather = [&](std::size_t n) {
        if (n == 0) return;
        if (gathered_size_ + n > max_gathered) flush();
        std::memcpy(gathered_.get() + gathered_size_, bytes, n);
        gathered_size_ += n;
        position_ += n;
        bytes += n;
        size -= n;
    };
    if (size > small_piece) {
        gather((page_size - position_ % page_size) % page_size);
        flush();
        std::size_t const direct = size - size % page_size;
        send(bytes, direct);
        position_ += direct;
        bytes += direct;
        size -= direct;
    }
    gather(size);
}

void output_file::gather(file_span const& from) {
    auto const n = static_cast<std::size_t>(from.size);
    if (n == 0) return;
    if (gathered_size_ + n > max_gathered) flush();
    if (!read_range(from.file, from.position, gathered_.get() + gathered_size_, n)) fail();
    gathered_size_ += n;
    position_ += n;
}

void output_file::copy(file_span const& from) {
    if (from.file < 0) return write(from.data, static_cast<std::size_t>(from.size));
    file_span left = from;
    auto const cut = [&](std::uint64_t n) {
        file_span const first{left.data, n, left.position, left.file};
        left = {left.data + n, left.size - n, left.position + n, left.file};
        return first;
    };
    if (left.size > small_piece) {
        gather(cut((page_size - position_ % page_size) % page_size));
        flush();
        file_span const direct = cut(left.size - left.size % page_size);
        std::uint64_t const n = copier_.copy(direct.file, direct.position, direct.size, file_, position_);
        position_ += n;
        if (n != direct.size) fail();
    }
    gather(left);
}

void output_file::pad_to(std::uint64_t position) {
    static constexpr std::byte zeros[page_size]{};
    while (position_ < position)
        write(zeros, static_cast<std::size_t>(std::min<std::uint64_t>(position - position_, page_size)));
}

void output_file::close() {
    flush();
    gathered_.reset();
    int const file = std::exchange(file_, -1);
    if (::close(file) != 0) fail();
}

void output_file::publish(std::initializer_list<output_file*> files) {
    std::lock_guard const lock(unfinished().lock);
    try {
        for (output_file* const each : files) each->rename(each != *std::prev(files.end()));
    } catch (...) {
        for (output_file* const each : files) each->undo();
        throw;
    }
    for (output_file* const each : files) each->keep();
}

void output_file::rename(bool can_undo) {
    if (is_pipe_or_device()) return;
    if (can_undo && ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_EXCHANGE) == 0) {
        state_ = state::exchanged; // the old file now has the temporary name
        return;
    }
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
    state_ = state::renamed;
}

void output_file::undo() noexcept {
    if (state_ == state::renamed) ::unlink(path_.c_str());
    if (state_ == state::exchanged) (void)::rename(temporary_.c_str(), path_.c_str());
    state_ = state::writing;
}

void output_file::keep() noexcept {
    if (state_ == state::exchanged) ::unlink(temporary_.c_str());
    unfinished().names.erase(temporary_);
    state_ = state::kept;
}

} // namespace ATON_NAMESPACE::detail

namespace ATON_NAMESPACE {

void write_file(std::string_view bytes, std::string const& path) {
    detail::output_file file(path);
    file.write(bytes);
    file.close();
    file.publish();
}

void abandon_writes() noexcept {
    detail::unfinished_files& all = detail::unfinished();
    all.lock.lock(); // forever: no file may be created or renamed any more
    for (std::string const& each : all.names) ::unlink(each.c_str());
}

} // namespace ATON_NAMESPACE
