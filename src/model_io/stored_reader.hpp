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

namespace aton::detail {

using byte_sink = std::function<void(std::byte const*, std::size_t)>;

/// Throws aton::error, naming `what`, unless every element lies inside of its bytes and the parts have as many as the sizes say.
void require_readable(stored_tensor const& t, std::string_view what);

// Of readable tensors:
/// What stored_tensor::byte_count() says, for sizes too whose product overflows before it comes to a zero.
[[nodiscard]] std::uint64_t stored_bytes(stored_tensor const& t);
/// Whether it is a range of the file as it stands; false where there are no elements.
[[nodiscard]] bool is_plain(stored_tensor const& t);
/// Where the bytes of a plain tensor lie.
[[nodiscard]] file_span plain_bytes(stored_tensor const& t);

/// Reads one tensor after the other through one buffer, which is made when the first needs it.
class stored_reader {
public:
    /// Row-major order, in pieces of at most 8 MiB. The tensor must be readable.
    void read(stored_tensor const& from, byte_sink const& sink);

private:
    void read_part(stored_part const& part, dtype type, byte_sink const& sink);
    void lay_out(std::byte const* from, strided_dim const* dims, std::size_t rank);
    void flush();

    std::unique_ptr<std::byte[]> buffer_;
    std::size_t capacity_ = 0;
    std::size_t filled_ = 0;
    std::size_t item_ = 0;
    // the part that is being read
    stored_part const* part_ = nullptr;
    dtype type_ = dtype::undefined;
    std::int64_t done_ = 0; ///< elements that the sink has
    byte_sink const* sink_ = nullptr;
};

} // namespace aton::detail
