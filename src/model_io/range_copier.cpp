// SPDX-License-Identifier: MIT
#include "range_copier.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

namespace ATON_NAMESPACE::detail {

namespace {

/// Bytes per system call that needs no buffer.
constexpr std::size_t large_piece = std::size_t{1} << 24;
/// Small enough to stay in the processor's cache between the two passes.
constexpr std::size_t buffered_piece = std::size_t{1} << 20;

} // namespace

/// If both positions have the same offset in their pages, copy_file_range() moves whole pages, or shares blocks on file systems that
/// support it. Otherwise it copies 64 KiB at a time, split at the page boundaries of both files: on ext4, 244 MB in the page cache take
/// 1.2 to 1.6 times as long as `cp` (as with sendfile()); a pipe of 1 MiB takes 0.7 to 0.9, memory 0.9 to 1.0.
range_copier::way range_copier::best(bool pages_agree) const {
    if (pages_agree && !refused_[0]) return way::copy_file_range;
    if (!refused_[1]) return way::splice;
    return refused_[2] ? way::memory : way::sendfile;
}

std::uint64_t range_copier::copy(int from, std::uint64_t position, std::uint64_t size, int to,
                                 std::uint64_t to_position) {
    std::uint64_t done = 0;
    while (done != size) {
        way const how = best((position + done) % page_size == (to_position + done) % page_size);
        auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, large_piece));
        ::ssize_t const n = step(how, from, position + done, wanted, to);
        if (n > 0) done += static_cast<std::uint64_t>(n);
        else if (n < 0 && errno == EINTR) continue;
        else if (how != way::memory)
            refused_[static_cast<std::size_t>(how)] = true; // only errors of way::memory are final
        else {
            if (n == 0) errno = 0;
            break;
        }
    }
    return done;
}

::ssize_t range_copier::step(way how, int from, std::uint64_t position, std::size_t size, int to) {
    auto at = static_cast<::off64_t>(position);
    switch (how) {
    case way::copy_file_range: return ::copy_file_range(from, &at, to, nullptr, size, 0);
    case way::splice: return through_pipe(from, position, size, to);
    case way::sendfile: return ::sendfile64(to, from, &at, size);
    default: return through_memory(from, position, size, to);
    }
}

::ssize_t range_copier::through_pipe(int from, std::uint64_t position, std::size_t size, int to) {
    if (pipe_[0] < 0 && !open_pipe()) return -1;
    auto at = static_cast<::off64_t>(position);
    ::ssize_t const taken = ::splice(from, &at, pipe_[1], nullptr, std::min(size, pipe_piece_), 0);
    if (taken <= 0) return taken;
    for (::ssize_t left = taken; left != 0;) {
        ::ssize_t const n = ::splice(pipe_[0], nullptr, to, nullptr, static_cast<std::size_t>(left), 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) { // the rest of the pipe is read from the file again
            int const reason = n == 0 ? EIO : errno;
            close_pipe();
            errno = reason;
            refused_[static_cast<std::size_t>(way::splice)] = true;
            return left == taken ? -1 : taken - left;
        }
        left -= n;
    }
    return taken;
}

::ssize_t range_copier::through_memory(int from, std::uint64_t position, std::size_t size, int to) {
    if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(buffered_piece);
    ::ssize_t const taken =
        ::pread64(from, buffer_.get(), std::min(size, buffered_piece), static_cast<::off64_t>(position));
    if (taken <= 0) return taken;
    ::ssize_t const n = ::write(to, buffer_.get(), static_cast<std::size_t>(taken));
    if (n == 0) errno = EIO;
    return n == 0 ? -1 : n;
}

bool range_copier::open_pipe() {
    if (::pipe2(pipe_.data(), O_CLOEXEC) != 0) {
        pipe_ = {-1, -1};
        return false;
    }
    for (int const size : {1 << 20, 1 << 18}) // may exceed the limit of the process
        if (int const got = ::fcntl(pipe_[1], F_SETPIPE_SZ, size); got > 0) {
            pipe_piece_ = static_cast<std::size_t>(got) / 2; // its slots hold pages of the source, which may be partial
            return true;
        }
    close_pipe();
    return false;
}

void range_copier::close_pipe() noexcept {
    for (int& end : pipe_) {
        if (end >= 0) ::close(end);
        end = -1;
    }
}

bool read_range(int from, std::uint64_t position, std::byte* to, std::size_t size) {
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

} // namespace ATON_NAMESPACE::detail
