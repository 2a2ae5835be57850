// SPDX-License-Identifier: MIT
#include "system/range_copier.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/types.h>
#include <unistd.h>

namespace ATON_NAMESPACE::system {

namespace {

/// Bytes per system call that needs no buffer.
constexpr std::size_t large_piece = std::size_t{1} << 24;
/// Small enough to stay in the processor's cache between the two passes.
constexpr std::size_t buffered_piece = std::size_t{1} << 20;

} // namespace

struct range_copier::methods {
    /// In the order of preference.
    enum class way : unsigned char { copy_file_range, splice, sendfile, memory };

    methods() = default;
    methods(methods const&) = delete;
    methods& operator=(methods const&) = delete;
    ~methods() { close_pipe(); }

    [[nodiscard]] way best(bool pages_agree) const;
    [[nodiscard]] ::ssize_t step(way how, int from, std::uint64_t position, std::size_t size, int to);
    [[nodiscard]] ::ssize_t through_pipe(int from, std::uint64_t position, std::size_t size, int to);
    [[nodiscard]] ::ssize_t through_memory(int from, std::uint64_t position, std::size_t size, int to);
    [[nodiscard]] bool open_pipe();
    void close_pipe() noexcept;
    void refuse(way how) { refused[static_cast<std::size_t>(how)] = true; }

    std::array<bool, 3> refused{};
    std::array<int, 2> pipe{-1, -1};
    std::size_t pipe_piece = 0;
    std::unique_ptr<std::byte[]> buffer;
};

range_copier::range_copier() : methods_(std::make_unique<methods>()) {}
range_copier::~range_copier() = default;

/// If both positions have the same offset in their pages, copy_file_range() moves whole pages, or shares blocks on file systems that
/// support it. Otherwise it copies 64 KiB at a time, split at the page boundaries of both files: on ext4, 244 MB in the page cache take
/// 1.2 to 1.6 times as long as `cp` (as with sendfile()); a pipe of 1 MiB takes 0.7 to 0.9, memory 0.9 to 1.0.
range_copier::methods::way range_copier::methods::best(bool pages_agree) const {
    if (pages_agree && !refused[0]) return way::copy_file_range;
    if (!refused[1]) return way::splice;
    return refused[2] ? way::memory : way::sendfile;
}

std::uint64_t range_copier::copy(int from, std::uint64_t position, std::uint64_t size, int to,
                                 std::uint64_t to_position) {
    std::uint64_t done = 0;
    while (done != size) {
        auto const how = methods_->best((position + done) % page_size == (to_position + done) % page_size);
        auto const wanted = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, large_piece));
        ::ssize_t const n = methods_->step(how, from, position + done, wanted, to);
        if (n > 0) done += static_cast<std::uint64_t>(n);
        else if (n < 0 && errno == EINTR) continue;
        else if (how != methods::way::memory) methods_->refuse(how); // only errors of way::memory are final
        else {
            if (n == 0) errno = 0;
            break;
        }
    }
    return done;
}

::ssize_t range_copier::methods::step(way how, int from, std::uint64_t position, std::size_t size, int to) {
    auto at = static_cast<::off64_t>(position);
    switch (how) {
    case way::copy_file_range: return ::copy_file_range(from, &at, to, nullptr, size, 0);
    case way::splice: return through_pipe(from, position, size, to);
    case way::sendfile: return ::sendfile64(to, from, &at, size);
    default: return through_memory(from, position, size, to);
    }
}

::ssize_t range_copier::methods::through_pipe(int from, std::uint64_t position, std::size_t size, int to) {
    if (pipe[0] < 0 && !open_pipe()) return -1;
    auto at = static_cast<::off64_t>(position);
    ::ssize_t const taken = ::splice(from, &at, pipe[1], nullptr, std::min(size, pipe_piece), 0);
    if (taken <= 0) return taken;
    for (::ssize_t left = taken; left != 0;) {
        ::ssize_t const n = ::splice(pipe[0], nullptr, to, nullptr, static_cast<std::size_t>(left), 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) { // the rest of the pipe is read from the file again
            int const reason = n == 0 ? EIO : errno;
            close_pipe();
            errno = reason;
            refuse(way::splice);
            return left == taken ? -1 : taken - left;
        }
        left -= n;
    }
    return taken;
}

::ssize_t range_copier::methods::through_memory(int from, std::uint64_t position, std::size_t size, int to) {
    if (buffer == nullptr) buffer = std::make_unique_for_overwrite<std::byte[]>(buffered_piece);
    ::ssize_t const taken =
        ::pread64(from, buffer.get(), std::min(size, buffered_piece), static_cast<::off64_t>(position));
    if (taken <= 0) return taken;
    ::ssize_t const n = ::write(to, buffer.get(), static_cast<std::size_t>(taken));
    if (n == 0) errno = EIO;
    return n == 0 ? -1 : n;
}

bool range_copier::methods::open_pipe() {
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
        pipe = {-1, -1};
        return false;
    }
    for (int const size : {1 << 20, 1 << 18}) // may exceed the limit of the process
        if (int const got = ::fcntl(pipe[1], F_SETPIPE_SZ, size); got > 0) {
            pipe_piece = static_cast<std::size_t>(got) / 2; // its slots hold pages of the source, which may be partial
            return true;
        }
    close_pipe();
    return false;
}

void range_copier::methods::close_pipe() noexcept {
    for (int& end : pipe) {
        if (end >= 0) ::close(end);
        end = -1;
    }
}

} // namespace ATON_NAMESPACE::system
