// SPDX-License-Identifier: MIT
// Tensors for computation: dtype, sizes and strides over memory that views share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/tensor.hpp>
#include <aton/runtime/memory.hpp>
#include <aton/runtime/numbers.hpp>

namespace ATON_NAMESPACE::runtime {

using sizes = std::vector<std::int64_t>;

inline constexpr std::int64_t max_elements = std::int64_t{1} << 40; ///< maximum elements of a tensor

/// The product of sizes. Throws aton::error for a negative size, and if the product of the sizes that are not 0 exceeds
/// max_elements; so products of a tensor's sizes never overflow int64, even if it is empty.
[[nodiscard]] std::int64_t count_of(std::span<std::int64_t const> sizes);
/// "[2, 3]"
[[nodiscard]] std::string to_string(std::span<std::int64_t const> sizes);
/// The broadcast shape, by the rules of ONNX and ATen. Throws aton::error if the shapes do not broadcast.
[[nodiscard]] sizes broadcast(std::span<std::int64_t const> a, std::span<std::int64_t const> b);
/// `axis` counted from the front. Throws aton::error if it is out of range; a rank of 0 counts as 1.
[[nodiscard]] std::size_t axis_at(std::int64_t axis, std::size_t rank);

/// A tensor, or a view of one. Copies share their elements; functions only write into tensors that they have created.
class tensor {
public:
    /// Empty, for an optional without a value or a skipped input.
    tensor() = default;

    /// Uninitialized. Throws aton::error for sizes that are negative or too large.
    [[nodiscard]] static tensor empty(aton::dtype type, runtime::sizes of, allocator& from = cpu_allocator());
    /// On the CPU. Throws aton::error if the number of strings does not match the sizes.
    [[nodiscard]] static tensor of_strings(std::vector<std::string> text, runtime::sizes of);
    /// 1-d, on the CPU.
    [[nodiscard]] static tensor of_integers(std::span<std::int64_t const> values);
    /// 0-d, on the CPU.
    [[nodiscard]] static tensor of_scalar(scalar const& value, aton::dtype type);
    /// The elements of a constant, unpacked if they are packed. Throws aton::error if the number of bytes does not
    /// match the sizes.
    [[nodiscard]] static tensor from_constant(aton::tensor const& constant);
    /// The elements as a constant; requires a tensor on the CPU.
    [[nodiscard]] aton::tensor to_constant() const;

    [[nodiscard]] explicit operator bool() const { return memory_ != nullptr; }
    [[nodiscard]] aton::dtype dtype() const { return type_; }
    [[nodiscard]] runtime::sizes const& sizes() const { return sizes_; }
    [[nodiscard]] std::vector<std::int64_t> const& strides() const { return strides_; } ///< in elements
    [[nodiscard]] std::size_t rank() const { return sizes_.size(); }
    [[nodiscard]] std::int64_t size(std::size_t axis) const { return sizes_[axis]; }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] device where() const { return memory_ == nullptr ? device{} : memory_->where(); }
    [[nodiscard]] bool is_contiguous() const;
    [[nodiscard]] bool is_strings() const { return type_ == aton::dtype::string; }
    /// The number of elements before the first one, and of all elements, in the underlying memory.
    [[nodiscard]] std::int64_t storage_offset() const { return offset_; }
    [[nodiscard]] std::int64_t storage_count() const {
        return static_cast<std::int64_t>(memory_->bytes() / element_bytes(type_));
    }

    /// The first element.
    template <class T>
    [[nodiscard]] T* data() const {
        return reinterpret_cast<T*>(memory_->data()) + offset_; // NOLINT(*-reinterpret-cast): raw memory
    }
    [[nodiscard]] std::byte* bytes() const {
        return memory_->data() + offset_ * static_cast<std::int64_t>(element_bytes(type_));
    }
    /// The strings of a contiguous string tensor.
    [[nodiscard]] std::span<std::string> strings() const {
        return std::span(memory_->strings).subspan(static_cast<std::size_t>(offset_), static_cast<std::size_t>(count_));
    }
    /// Call this after writing strings: updates the memory that counts towards the limit. Throws aton::error if it is
    /// exceeded.
    void strings_changed() const { memory_->count_strings(); }

    // Views.
    [[nodiscard]] tensor permuted(std::span<std::size_t const> axes) const;
    /// Expands sizes of 1 and missing leading dimensions to those of `to`.
    [[nodiscard]] tensor expanded(runtime::sizes const& to) const;
    /// `count` elements of an axis from `start` on; `step` may be negative.
    [[nodiscard]] tensor sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) const;
    [[nodiscard]] tensor unsqueezed(std::size_t axis) const;
    [[nodiscard]] tensor squeezed(std::size_t axis) const;
    /// A view with other sizes and strides, relative to the first element. Bounds are not checked.
    [[nodiscard]] tensor viewed(runtime::sizes to, std::vector<std::int64_t> strides, std::int64_t offset = 0) const;
    /// Complex numbers as pairs of real ones in a last dimension of 2, and back; the elements of a pair must be
    /// adjacent.
    [[nodiscard]] tensor as_pairs() const;
    [[nodiscard]] tensor from_pairs() const;
    /// The same bytes as elements of another dtype. If the element size changes, the size of the last dimension, which
    /// must be contiguous, changes too.
    [[nodiscard]] tensor reinterpreted(aton::dtype as) const;

    // For tensors on the CPU. This tensor if it is contiguous, otherwise a contiguous copy.
    [[nodiscard]] tensor contiguous() const;
    /// The same elements in another shape.
    [[nodiscard]] tensor reshaped(runtime::sizes to) const;
    /// The elements of an int32 or int64 tensor, in row-major order.
    [[nodiscard]] std::vector<std::int64_t> integers() const;
    /// The only element. Throws aton::error if the count is not 1.
    [[nodiscard]] scalar item() const;

private:
    void require_axis(std::size_t axis) const;

    aton::dtype type_ = aton::dtype::undefined;
    runtime::sizes sizes_;
    std::vector<std::int64_t> strides_;
    std::int64_t offset_ = 0; ///< in elements
    std::int64_t count_ = 0;
    std::shared_ptr<buffer> memory_;
};

/// Strides of a contiguous tensor.
[[nodiscard]] std::vector<std::int64_t> contiguous_strides(std::span<std::int64_t const> sizes);

} // namespace ATON_NAMESPACE::runtime
