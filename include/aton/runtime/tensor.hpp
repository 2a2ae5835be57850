// SPDX-License-Identifier: MIT
// Tensors for computation: dtype, sizes and strides over memory that views share.
// Public header.
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

/// The sizes of a tensor, one for each dimension.
using sizes = std::vector<std::int64_t>;

/// The maximum number of elements of a tensor.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 40;

/// The product of sizes. Throws aton::error for a negative size, and if the product of the sizes that are not 0 exceeds
/// max_elements; so products of a tensor's sizes never overflow int64, even if it is empty.
[[nodiscard]] std::int64_t count_of(std::span<std::int64_t const> sizes);
/// The sizes as a string, for messages: "[2, 3]".
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
    /// Throws aton::error where there is not enough memory.
    [[nodiscard]] static tensor of_integers(std::span<std::int64_t const> values);
    /// 0-d, on the CPU.
    /// Throws aton::error for a dtype that aton::tensor cannot hold.
    [[nodiscard]] static tensor of_scalar(scalar const& value, aton::dtype type);
    /// The elements of a constant, unpacked if they are packed. Throws aton::error if the number of bytes does not
    /// match the sizes.
    [[nodiscard]] static tensor from_constant(aton::tensor const& constant);
    /// The elements as a constant.
    /// Throws aton::error where there is not enough memory, and for a tensor that is not on the CPU.
    [[nodiscard]] aton::tensor to_constant() const;

    /// Whether there is a tensor, even one without elements.
    [[nodiscard]] explicit operator bool() const { return memory_ != nullptr; }
    /// The element type.
    [[nodiscard]] aton::dtype dtype() const { return type_; }
    /// The size of each dimension.
    [[nodiscard]] runtime::sizes const& sizes() const { return sizes_; }
    /// The distance of neighboring elements along each dimension, in elements.
    [[nodiscard]] std::vector<std::int64_t> const& strides() const { return strides_; }
    /// The number of dimensions.
    [[nodiscard]] std::size_t rank() const { return sizes_.size(); }
    /// The size of one dimension. Throws aton::error for an axis beyond the rank.
    [[nodiscard]] std::int64_t size(std::size_t axis) const {
        if (axis >= sizes_.size()) require_axis(axis);
        return sizes_[axis];
    }
    /// The number of elements.
    [[nodiscard]] std::int64_t count() const { return count_; }
    /// The device that has the elements.
    [[nodiscard]] device where() const { return memory_ == nullptr ? device{} : memory_->where(); }
    /// Whether the elements are adjacent and in row-major order.
    [[nodiscard]] bool is_contiguous() const;
    /// Whether the elements are strings.
    [[nodiscard]] bool is_strings() const { return type_ == aton::dtype::string; }
    /// The number of elements before the first one, and of all elements, in the underlying memory.
    [[nodiscard]] std::int64_t storage_offset() const { return offset_; }
    /// The number of elements in the memory that it views.
    [[nodiscard]] std::int64_t storage_count() const {
        return static_cast<std::int64_t>(memory_->bytes() / element_bytes(type_));
    }

    /// The first element.
    template <class T>
    [[nodiscard]] T* data() const {
        return reinterpret_cast<T*>(memory_->data()) + offset_; // NOLINT(*-reinterpret-cast): raw memory
    }
    /// The first byte of the first element.
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
    /// The dimensions in another order: dimension `i` of the view is `axes[i]`. `axes` must be a permutation.
    [[nodiscard]] tensor permuted(std::span<std::size_t const> axes) const;
    /// Expands sizes of 1 and missing leading dimensions to those of `to`.
    /// Throws aton::error where the sizes do not fit, or exceed the limit of memory.
    [[nodiscard]] tensor expanded(runtime::sizes const& to) const;
    /// `count` elements of an axis from `start` on; `step` may be negative.
    /// Throws aton::error for elements that the axis does not have.
    [[nodiscard]] tensor sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) const;
    /// A new dimension of size 1 before `axis`. Throws aton::error for an axis beyond the rank.
    [[nodiscard]] tensor unsqueezed(std::size_t axis) const;
    /// Without dimension `axis`. Throws aton::error where its size is not 1.
    [[nodiscard]] tensor squeezed(std::size_t axis) const;
    /// A view with other sizes and strides, relative to the first element. Bounds are not checked.
    /// Throws aton::error for sizes that are negative or too large.
    [[nodiscard]] tensor viewed(runtime::sizes to, std::vector<std::int64_t> strides, std::int64_t offset = 0) const;
    /// Complex numbers as pairs of real ones in a last dimension of 2, and back; the elements of a pair must be
    /// adjacent.
    /// Throws aton::error for other dtypes.
    [[nodiscard]] tensor as_pairs() const;
    /// The inverse of as_pairs(). Throws aton::error for other dtypes, and for pairs that are not adjacent.
    [[nodiscard]] tensor from_pairs() const;
    /// The same bytes as elements of another dtype. If the element size changes, the size of the last dimension, which
    /// must be contiguous, changes too.
    /// Throws aton::error where the bytes do not divide into such elements, and for strings.
    [[nodiscard]] tensor reinterpreted(aton::dtype as) const;

    // For tensors on the CPU. This tensor if it is contiguous, otherwise a contiguous copy.
    /// The tensor itself where it is contiguous, otherwise a copy that is. Throws aton::error where there is not enough memory.
    [[nodiscard]] tensor contiguous() const;
    /// The same elements in another shape.
    /// Throws aton::error for another number of elements.
    [[nodiscard]] tensor reshaped(runtime::sizes to) const;
    /// The elements of an int32 or int64 tensor, in row-major order.
    /// Throws aton::error for other dtypes, and for a tensor that is not on the CPU.
    [[nodiscard]] std::vector<std::int64_t> integers() const;
    /// The only element. Throws aton::error if the count is not 1 or the tensor is not on the CPU.
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
