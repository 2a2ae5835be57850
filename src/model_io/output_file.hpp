// SPDX-License-Identifier: MIT
// A file that is written atomically: a temporary file in the same folder is renamed. Pipes and devices are written directly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include <aton/core/stored_tensor.hpp>

#include "system/range_copier.hpp"

namespace ATON_NAMESPACE::detail {

/// Memory is written without copying, in large pieces that end at page boundaries of the file; bytes of other files are copied in the
/// kernel. Only small pieces are gathered first. Every member throws aton::error, one line that names the path.
class output_file {
public:
    explicit output_file(std::string path);
    /// Removes the temporary file of a file that was not published.
    ~output_file();
    output_file(output_file const&) = delete;
    output_file& operator=(output_file const&) = delete;

    /// Whether the path would be written directly instead of being replaced.
    [[nodiscard]] static bool is_pipe_or_device(std::string const& path);
    /// Whether this is a pipe or device, which can only be appended to and is not renamed.
    [[nodiscard]] bool is_pipe_or_device() const { return temporary_.empty(); }

    /// Allocates space for a file of this size, so that a full disk is detected before anything is written.
    void reserve(std::uint64_t size);
    void write(std::byte const* bytes, std::size_t size);
    void write(std::string_view bytes) {
        write(reinterpret_cast<std::byte const*>(bytes.data()), bytes.size()); // NOLINT(*-reinterpret-cast)
    }
    /// Copies a span from its file, not through its mapping, so that a truncated file is an error and not a signal.
    void copy(file_span const& from);
    /// Appends zeros up to this position.
    void pad_to(std::uint64_t position);

    /// Ends writing. Throws errors that the kernel reports late.
    void close();
    /// Gives closed files their names, in this order. If that fails, none of them is changed.
    static void publish(std::initializer_list<output_file*> files);
    void publish() { publish({this}); }

private:
    enum class state : unsigned char { writing, renamed, exchanged, kept };

    [[noreturn]] void fail() const;
    /// With `can_undo`, the old file is kept under the temporary name.
    void rename(bool can_undo);
    void undo() noexcept;
    void keep() noexcept;
    void flush();
    void gather(file_span const& from);
    void send(std::byte const* bytes, std::size_t size);

    std::string path_;
    std::string temporary_; ///< empty for a pipe or device
    int file_ = -1;
    state state_ = state::writing;
    std::uint64_t position_ = 0; ///< of the next byte, including gathered bytes
    std::unique_ptr<std::byte[]> gathered_;
    std::size_t gathered_size_ = 0;
    system::range_copier copier_;
};

} // namespace ATON_NAMESPACE::detail
