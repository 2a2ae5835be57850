// SPDX-License-Identifier: MIT
// Tensors that are computed with: dtype, sizes and strides over memory that views share.
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

namespace aton::runtime {

using sizes = std::vector<std::int64_t>;

inline constexpr std::int64_t most_elements = std::int64_t{1} << 40; ///< of a tensor

/// The product of sizes. Throws aton::error for a negative one, and where those that are not 0 have a product beyond most_elements: so
/// none that is made of sizes of a tensor, an empty one too, leaves int64.
[[nodiscard]] std::int64_t count_of(std::span<std::int64_t const> sizes);
/// "[2, 3]"
[[nodiscard]] std::string to_string(std::span<std::int64_t const> sizes);
/// Both, as ONNX and ATen broadcast. Throws aton::error where they do not fit.
[[nodiscard]] sizes broadcast(std::span<std::int64_t const> a, std::span<std::int64_t const> b);
/// `axis` counted from the front. Throws aton::error where the rank has no such axis; a rank of 0 counts as 1.
[[nodiscard]] std::size_t axis_at(std::int64_t axis, std::size_t rank);

/// A tensor, or a view of one. Copies share their elements; what computes writes only into tensors that it has made.
class tensor {
public:
    /// No tensor: of an optional that is empty, of an input that is skipped.
    tensor() = default;

    /// Elements are not set. Throws aton::error for sizes that are negative or too large.
    [[nodiscard]] static tensor empty(aton::dtype type, runtime::sizes of, allocator& from = cpu_allocator());
    /// On the CPU. Throws aton::error where there are not as many strings as the sizes say.
    [[nodiscard]] static tensor of_strings(std::vector<std::string> text, runtime::sizes of);
    /// 1-d, on the CPU.
    [[nodiscard]] static tensor of_integers(std::span<std::int64_t const> values);
    /// 0-d, on the CPU.
    [[nodiscard]] static tensor of_scalar(scalar const& value, aton::dtype type);
    /// The elements of a constant, unpacked where it packs them. Throws aton::error where its bytes do not fit its sizes.
    [[nodiscard]] static tensor from_constant(aton::tensor const& constant);
    /// The elements as a constant; the tensor must be on the CPU.
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
    /// Elements in front of the first one, and all, in the memory that it views.
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
    /// The strings of a contiguous tensor of them.
    [[nodiscard]] std::span<std::string> strings() const {
        return std::span(memory_->strings).subspan(static_cast<std::size_t>(offset_), static_cast<std::size_t>(count_));
    }
    /// After they were written: what they take now counts towards the limit of memory. Throws aton::error where it is too much.
    void strings_changed() const { memory_->count_strings(); }

    // Views.
    [[nodiscard]] tensor permuted(std::span<std::size_t const> axes) const;
    /// Sizes of 1, and those in front that are missing, become those of `to`.
    [[nodiscard]] tensor expanded(runtime::sizes const& to) const;
    /// `count` elements of an axis from `start` on, `step` apart, which may be negative.
    [[nodiscard]] tensor sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step = 1) const;
    [[nodiscard]] tensor unsqueezed(std::size_t axis) const;
    [[nodiscard]] tensor squeezed(std::size_t axis) const;
    /// A view with other sizes and strides from the first element on; the caller answers for what it reaches.
    [[nodiscard]] tensor viewed(runtime::sizes to, std::vector<std::int64_t> strides, std::int64_t offset = 0) const;
    /// Complex numbers as pairs of real ones, in a last dimension of 2, and back; the pairs must lie together.
    [[nodiscard]] tensor as_pairs() const;
    [[nodiscard]] tensor from_pairs() const;
    /// The same bytes as elements of another dtype. Of another width: the last dimension, whose elements lie together, changes its size.
    [[nodiscard]] tensor reinterpreted(aton::dtype as) const;

    // Of tensors on the CPU: contiguous, or a copy that is.
    [[nodiscard]] tensor contiguous() const;
    /// With other sizes of the same count.
    [[nodiscard]] tensor reshaped(runtime::sizes to) const;
    /// int32 and int64, in order.
    [[nodiscard]] std::vector<std::int64_t> integers() const;
    /// The only element.
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

} // namespace aton::runtime
