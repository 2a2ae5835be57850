// SPDX-License-Identifier: MIT
// Tensors whose elements stay in a file: where they lie, in which order, and what is done to them on the way to another file.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE {

/// A range of bytes of a file that is open and mapped; whoever made it keeps both alive.
struct file_span {
    std::byte const* data = nullptr; ///< mapped, read-only
    std::uint64_t size = 0;          ///< in bytes
    std::uint64_t position = 0;      ///< of `data` in the file
    int file = -1;                   ///< open for reading; -1: memory alone
};

/// A strided view of elements: [i, j, ...] lies at `offset + i * strides[0] + j * strides[1] + ...` elements from the start of `bytes`.
/// Whoever makes one sees to it that every element lies inside of `bytes`.
struct stored_part {
    file_span bytes;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides; ///< in elements, as many as sizes; 0 repeats
    std::int64_t offset = 0;           ///< in elements
    /// Floating dtypes: each element is multiplied by factors[i], i its index along dimension 0. Empty: copied as it is.
    std::vector<double> factors;

    /// The number of elements, the product of the sizes.
    [[nodiscard]] std::int64_t element_count() const {
        std::int64_t n = 1;
        for (std::int64_t s : sizes) n *= s;
        return n;
    }
    /// Whether the elements lie one after the other in row-major order.
    [[nodiscard]] bool is_contiguous() const {
        std::int64_t expected = 1;
        for (std::size_t i = sizes.size(); i-- > 0;) {
            if (sizes[i] == 0) return true;
            if (sizes[i] != 1 && strides[i] != expected) return false;
            expected *= sizes[i];
        }
        return true;
    }
};

/// A dense tensor that is written from files: the elements of its parts one after the other, each part in row-major order.
struct stored_tensor {
    dtype type = dtype::undefined; ///< whole bytes
    std::vector<std::int64_t> sizes;
    std::vector<stored_part> parts;

    /// The number of elements, the product of the sizes.
    [[nodiscard]] std::int64_t element_count() const {
        std::int64_t n = 1;
        for (std::int64_t s : sizes) n *= s;
        return n;
    }
    /// The number of bytes that the tensor takes when it is written.
    [[nodiscard]] std::uint64_t byte_count() const {
        return static_cast<std::uint64_t>(element_count()) * (bits(type) / 8);
    }
    /// Whether the bytes can be taken from the file as they stand.
    [[nodiscard]] bool is_plain() const {
        return parts.size() == 1 && parts[0].factors.empty() && parts[0].is_contiguous();
    }
};

} // namespace ATON_NAMESPACE
