// SPDX-License-Identifier: MIT
// The elements of stored tensors as a stream of bytes: straight from the mapped file where they lie in order, else laid out in a buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <aton/core/stored_tensor.hpp>

#include "strided_copy.hpp"

namespace ATON_NAMESPACE::detail {

using byte_sink = std::function<void(std::byte const*, std::size_t)>;

/// Throws aton::error, naming `what`, unless every element lies inside of its bytes and the parts have as many as the sizes say.
void require_readable(stored_tensor const& t, std::string_view what);

// Of readable tensors:
/// What stored_tensor::byte_count() says, for sizes too whose product overflows before it comes to a zero.
[[nodiscard]] std::uint64_t stored_bytes(stored_tensor const& t);
[[nodiscard]] std::uint64_t stored_bytes(stored_part const& part, dtype type);
/// Whether it is a range of the file as it stands; false where there are no elements.
[[nodiscard]] bool is_plain(stored_tensor const& t);
/// Where the bytes of a plain tensor lie.
[[nodiscard]] file_span plain_bytes(stored_tensor const& t);

/// Takes what is laid out, and gives the memory for it.
class piece_sink {
public:
    /// Memory of `stored_reader::piece_bytes` for the next piece.
    virtual std::byte* buffer() = 0;
    virtual void filled(std::size_t size) = 0;

protected:
    ~piece_sink() = default;
};

/// Reads one tensor after the other, through the mapping of its file. One that became shorter is an error: sizes are asked for before each
/// piece, since the access itself would be SIGBUS.
class stored_reader {
public:
    static constexpr std::size_t piece_bytes = std::size_t{4} << 20;

    /// Row-major order, in pieces of at most 4 MiB. The tensor must be readable.
    void read(stored_tensor const& from, byte_sink const& sink);
    /// Of a part with elements; bytes that lie in order are handed over where they are.
    void read(stored_part const& part, dtype type, byte_sink const& sink);
    void lay_out(stored_part const& part, dtype type, piece_sink& sink);

private:
    void lay_out(std::byte const* from, strided_dim const* dims, std::size_t rank);
    void require_whole_file() const;
    void flush();

    std::unique_ptr<std::byte[]> own_buffer_;
    // the part that is being read
    stored_part const* part_ = nullptr;
    dtype type_ = dtype::undefined;
    std::size_t item_ = 0;
    piece_sink* sink_ = nullptr;
    std::size_t limit_ = piece_bytes; ///< what its pieces may have
    std::byte* buffer_ = nullptr;
    std::size_t filled_ = 0;
    std::int64_t done_ = 0; ///< elements that the sink has
};

/// Whether bytes of the file, one after the other, are the part's elements.
[[nodiscard]] inline bool is_run(stored_part const& part) { return part.factors.empty() && part.is_contiguous(); }

} // namespace ATON_NAMESPACE::detail
