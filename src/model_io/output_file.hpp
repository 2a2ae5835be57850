// SPDX-License-Identifier: MIT
// A file that appears whole or not at all: a temporary beside it is renamed. Pipes and devices are written to as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <aton/core/stored_tensor.hpp>

#include "range_copier.hpp"

namespace ATON_NAMESPACE::detail {

/// Bytes of memory go to the kernel in large pieces that end at page boundaries of the file, straight from where they lie; those of a
/// file do not leave the kernel. Only small ones are gathered first. Every member throws aton::error, one line that names the path.
class output_file {
public:
    explicit output_file(std::string path);
    /// Undoes what was not kept: no temporary is left, and what was published and can be taken back is.
    ~output_file();
    output_file(output_file const&) = delete;
    output_file& operator=(output_file const&) = delete;

    /// Whether a file of this name would not be replaced but written to.
    [[nodiscard]] static bool is_pipe_or_device(std::string const& path);
    /// Whether bytes can only be written one after the other, and nothing is renamed.
    [[nodiscard]] bool is_pipe_or_device() const { return temporary_.empty(); }

    /// Takes the space for a file of this size, so that a full disk shows before anything is written.
    void reserve(std::uint64_t size);
    void write(std::byte const* bytes, std::size_t size);
    void write(std::string_view bytes) {
        write(reinterpret_cast<std::byte const*>(bytes.data()), bytes.size()); // NOLINT(*-reinterpret-cast)
    }
    /// The bytes of a span: from its file, not through its mapping, so that a file that became shorter is an error and no signal.
    void copy(file_span const& from);
    /// Zeros up to this position.
    void pad_to(std::uint64_t position);

    /// No more bytes: errors that the kernel has kept until now are thrown.
    void close();
    /// Gives a closed file its name. Until keep() the destructor takes that back: the older file, which stays aside where
    /// `can_be_taken_back`, has its name again.
    void publish(bool can_be_taken_back = false);
    void keep() noexcept;

private:
    enum class state : unsigned char { writing, renamed, exchanged, kept };

    [[noreturn]] void fail() const;
    void flush();
    void gather(file_span const& from);
    void send(std::byte const* bytes, std::size_t size);

    std::string path_;
    std::string temporary_; ///< empty: a pipe or device
    int file_ = -1;
    state state_ = state::writing;
    std::uint64_t position_ = 0; ///< of the next byte, those that are gathered counted
    std::unique_ptr<std::byte[]> gathered_;
    std::size_t gathered_size_ = 0;
    range_copier copier_;
};

} // namespace ATON_NAMESPACE::detail
