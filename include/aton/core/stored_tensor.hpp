// SPDX-License-Identifier: MIT
// Tensors whose elements stay in a file: their position, order, and scaling when they are copied to another file.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE {

/// A range of bytes of an open and mapped file. The creator keeps the file and the mapping alive.
struct file_span {
    std::byte const* data = nullptr; ///< mapped, read-only; null: there are no bytes, see stored_tensor::is_absent()
    std::uint64_t size = 0;          ///< in bytes
    std::uint64_t position =
        0;         ///< of `data` in the file; in memory: a number that no other bytes have, such as the address
    int file = -1; ///< descriptor, open for reading; -1: only in memory
};

/// A strided view: element [i, j, ...] is at `offset + i * strides[0] + j * strides[1] + ...` elements from the start of `bytes`.
/// The creator ensures that every element is inside `bytes`.
struct stored_part {
    file_span bytes;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides; ///< in elements, one for each size; 0 repeats
    std::int64_t offset = 0;           ///< in elements
    /// Floating dtypes only: element [i, ...] is multiplied by factors[i]. Empty: no scaling.
    std::vector<double> factors;
    /// The dtype of the elements in the file, of whose width `offset` and `strides` count, if it is not that of the tensor: they are
    /// converted when they are read. Both are floating dtypes of 16 bits or more.
    dtype stored_as = dtype::undefined;

    /// The dtype of the elements in the file, for a part of a tensor of dtype `type`.
    [[nodiscard]] dtype type_in_file(dtype type) const { return stored_as == dtype::undefined ? type : stored_as; }
    /// Whether the elements are those in the file: neither scaled nor converted.
    [[nodiscard]] bool is_unchanged() const { return factors.empty() && stored_as == dtype::undefined; }
    /// The number of elements, the product of the sizes.
    [[nodiscard]] std::int64_t element_count() const {
        std::int64_t n = 1;
        for (std::int64_t s : sizes) n *= s;
        return n;
    }
    /// Whether the elements are adjacent, in row-major order.
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

struct stored_tensor;

/// Elements that are computed from those in files whenever they are read, piece by piece.
class computed_elements {
public:
    computed_elements() = default;
    virtual ~computed_elements() = default;
    computed_elements(computed_elements const&) = delete;
    computed_elements& operator=(computed_elements const&) = delete;

    /// The tensor that they are computed from.
    [[nodiscard]] virtual stored_tensor const& source() const = 0;
    /// Passes the bytes of all elements to `sink`, in row-major order. Elements of less than 8 bits are packed, the first one in the lowest
    /// bits of a byte. Throws aton::error.
    virtual void read(std::function<void(std::byte const*, std::size_t)> const& sink) const = 0;
};

/// A dense tensor whose elements come from files: those of its parts, concatenated, each part in row-major order.
struct stored_tensor {
    dtype type = dtype::undefined; ///< a multiple of 8 bits, unless the elements are computed
    std::vector<std::int64_t> sizes;
    std::vector<stored_part> parts;
    std::shared_ptr<computed_elements const> computed = {}; ///< if not null, the elements, and there are no parts

    /// The number of elements, the product of the sizes.
    [[nodiscard]] std::int64_t element_count() const {
        std::int64_t n = 1;
        for (std::int64_t s : sizes) n *= s;
        return n;
    }
    /// The number of bytes that the tensor takes when it is written.
    [[nodiscard]] std::uint64_t byte_count() const {
        return (static_cast<std::uint64_t>(element_count()) * bits(type) + 7) / 8;
    }
    /// Whether the bytes can be copied without change.
    [[nodiscard]] bool is_plain() const {
        return parts.size() == 1 && parts[0].is_unchanged() && parts[0].is_contiguous();
    }
    /// Whether no file has its elements: a program that was saved with fake or meta tensors has only their types. Each such tensor has
    /// a `position` of its own, so that no two of them are taken for the same bytes.
    [[nodiscard]] bool is_absent() const {
        if (computed != nullptr) return computed->source().is_absent();
        for (stored_part const& p : parts)
            if (p.bytes.data == nullptr && p.element_count() != 0) return true;
        return false;
    }
};

} // namespace ATON_NAMESPACE
