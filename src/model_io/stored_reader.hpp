// SPDX-License-Identifier: MIT
// The elements of stored tensors as a stream of bytes: directly from the mapped file if they are contiguous, otherwise through a buffer.
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

/// Throws aton::error, naming `what`, unless every element is inside its bytes and the parts have as many elements as the sizes specify.
void require_readable(stored_tensor const& t, std::string_view what);

// For readable tensors:
/// stored_tensor::byte_count(), also correct if the product of the sizes overflows before a zero.
[[nodiscard]] std::uint64_t stored_bytes(stored_tensor const& t);
[[nodiscard]] std::uint64_t stored_bytes(stored_part const& part, dtype type);
/// Whether the elements are a contiguous range of the file; false if there are none.
[[nodiscard]] bool is_plain(stored_tensor const& t);
/// The bytes of a plain tensor.
[[nodiscard]] file_span plain_bytes(stored_tensor const& t);

/// Provides memory for pieces, and receives them when they are filled.
class piece_sink {
public:
    /// Memory of `stored_reader::piece_bytes` for the next piece.
    virtual std::byte* buffer() = 0;
    virtual void filled(std::size_t size) = 0;

protected:
    ~piece_sink() = default;
};

/// Reads tensors through the mappings of their files. A truncated file is an error: its size is checked before each piece, because the
/// access itself would raise SIGBUS.
class stored_reader {
public:
    static constexpr std::size_t piece_bytes = std::size_t{4} << 20;

    /// Reads in row-major order, in pieces of at most 4 MiB. The tensor must be readable.
    void read(stored_tensor const& from, byte_sink const& sink);
    /// Reads a non-empty part; contiguous bytes are passed on without copying.
    void read(stored_part const& part, dtype type, byte_sink const& sink);
    void lay_out(stored_part const& part, dtype type, piece_sink& sink);

private:
    void lay_out(std::byte const* from, strided_dim const* dims, std::size_t rank);
    void require_whole_file() const;
    [[nodiscard]] std::byte* next_buffer();
    void flush();

    std::unique_ptr<std::byte[]> own_buffer_;
    std::unique_ptr<std::byte[]> unconverted_; ///< elements as in the file, of a part with another dtype there
    // the current part
    stored_part const* part_ = nullptr;
    dtype type_ = dtype::undefined;
    std::size_t item_ = 0; ///< bytes of an element in the file
    piece_sink* sink_ = nullptr;
    std::size_t limit_ = piece_bytes; ///< maximum bytes of its pieces
    std::byte* buffer_ = nullptr;
    std::size_t filled_ = 0; ///< bytes, before a conversion
    std::int64_t done_ = 0;  ///< elements that were passed to the sink
};

/// Whether the elements of the part are contiguous bytes of the file.
[[nodiscard]] inline bool is_run(stored_part const& part) { return part.is_unchanged() && part.is_contiguous(); }

} // namespace ATON_NAMESPACE::detail
