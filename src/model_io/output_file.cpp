// SPDX-License-Identifier: MIT
// Writes files atomically, from memory and from other files, with few system calls.
#include "output_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <mutex>
#include <set>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/model_io/model_io.hpp>

#include "system/files.hpp"
#include "system/process.hpp"

namespace ATON_NAMESPACE::detail {

namespace {

constexpr std::size_t max_gathered = std::size_t{1} << 18;
/// Up to this size, copying costs less than a system call.
constexpr std::size_t small_piece = std::size_t{1} << 16;
/// From this size on, space is allocated before anything is written.
constexpr std::uint64_t large_file = std::uint64_t{1} << 20;

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
    std::string const folder = path.substr(0, system::last_separator(path) + 1);
    std::lock_guard const lock(unfinished().lock);
    for (int attempt = 0; attempt != 1000; ++attempt) { // skips files that a killed process left
        name = folder + ".aton." + std::to_string(system::process_id()) + '.' + std::to_string(serial++) + ".tmp";
        auto const known = unfinished().names.insert(name).first;
        int const file = system::create_new(name);
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
    system::file_facts facts;
    bool const exists = system::examine(path_, facts);
    if (exists && facts.kind == system::file_kind::folder) throw error(path_ + ": is a folder, not a file");
    if (exists && facts.kind == system::file_kind::other) file_ = system::open_to_write(path_);
    else file_ = open_temporary(path_, temporary_);
    if (file_ >= 0) return;
    temporary_.clear();
    fail();
}

bool output_file::is_pipe_or_device(std::string const& path) {
    system::file_facts facts;
    return system::examine(path, facts) && facts.kind == system::file_kind::other;
}

output_file::~output_file() {
    if (file_ >= 0) (void)system::close_file(file_);
    if (temporary_.empty() || state_ == state::kept) return;
    std::lock_guard const lock(unfinished().lock);
    system::remove_file(temporary_);
    unfinished().names.erase(temporary_);
}

void output_file::fail() const {
    int const reason = errno;
    if (reason == 0 ||
        reason == EFAULT) // end of a file that is read, or of a mapped one, where an access would raise SIGBUS
        throw error(path_ + ": cannot be written: the file with its weights was truncated while it was read");
    throw error(path_ + ": cannot be written: " + system::message_of(reason));
}

void output_file::reserve(std::uint64_t size) {
    if (is_pipe_or_device() || size < large_file) return;
    if (!system::allocate(file_, size)) fail();
}

void output_file::send(std::byte const* bytes, std::size_t size) {
    if (!system::write_all(file_, bytes, size)) fail();
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
        gather((system::page_size - position_ % system::page_size) % system::page_size);
        flush();
        std::size_t const direct = size - size % system::page_size;
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
    if (!system::read_range(from.file, from.position, gathered_.get() + gathered_size_, n)) fail();
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
        gather(cut((system::page_size - position_ % system::page_size) % system::page_size));
        flush();
        file_span const direct = cut(left.size - left.size % system::page_size);
        std::uint64_t const n = copier_.copy(direct.file, direct.position, direct.size, file_, position_);
        position_ += n;
        if (n != direct.size) fail();
    }
    gather(left);
}

void output_file::pad_to(std::uint64_t position) {
    static constexpr std::byte zeros[system::page_size]{};
    while (position_ < position)
        write(zeros, static_cast<std::size_t>(std::min<std::uint64_t>(position - position_, system::page_size)));
}

void output_file::close() {
    flush();
    gathered_.reset();
    int const file = std::exchange(file_, -1);
    if (!system::close_file(file)) fail();
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
    if (can_undo && system::exchange_files(temporary_, path_)) {
        state_ = state::exchanged; // the old file now has the temporary name
        return;
    }
    if (!system::replace_file(temporary_, path_)) fail();
    state_ = state::renamed;
}

void output_file::undo() noexcept {
    if (state_ == state::renamed) system::remove_file(path_);
    if (state_ == state::exchanged) (void)system::replace_file(temporary_, path_);
    state_ = state::writing;
}

void output_file::keep() noexcept {
    if (state_ == state::exchanged) system::remove_file(temporary_);
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
    for (std::string const& each : all.names) system::remove_file(each);
}

} // namespace ATON_NAMESPACE
