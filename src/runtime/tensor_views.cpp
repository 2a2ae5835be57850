// SPDX-License-Identifier: MIT
// Views: tensors with other sizes, strides or dtypes on the same memory.
#include <cstddef>
#include <string>
#include <utility>

#include <aton/core/error.hpp>
#include <aton/runtime/tensor.hpp>

#include "check_allocation.hpp"

namespace ATON_NAMESPACE::runtime {

tensor tensor::permuted(std::span<std::size_t const> axes) const {
    if (axes.size() != rank())
        throw error(std::to_string(axes.size()) + " axes do not permute shape " + to_string(sizes_));
    tensor t = *this;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        t.sizes_[i] = size(axes[i]);
        t.strides_[i] = strides_[axes[i]];
    }
    return t;
}

tensor tensor::expanded(runtime::sizes const& to) const {
    tensor t = *this;
    t.count_ = count_of(to);
    t.sizes_ = to;
    t.strides_.assign(to.size(), 0);
    bool fits = to.size() >= sizes_.size();
    for (std::size_t i = 0; fits && i != sizes_.size(); ++i) {
        std::size_t const k = to.size() - sizes_.size() + i;
        fits = sizes_[i] == to[k] || sizes_[i] == 1;
        if (sizes_[i] != 1) t.strides_[k] = strides_[i];
    }
    if (!fits) throw error("shape " + to_string(sizes_) + " does not expand to " + to_string(to));
    // Functions of an expanded tensor take time for all its elements.
    check_fits_in_memory(bytes_of(type_, t.count_));
    return t;
}

void tensor::require_axis(std::size_t axis) const {
    if (axis >= rank())
        throw error("axis " + std::to_string(axis) + " is out of range for rank " + std::to_string(rank()));
}

tensor tensor::sliced(std::size_t axis, std::int64_t start, std::int64_t count, std::int64_t step) const {
    require_axis(axis);
    bool fits = count <= 0 || (start >= 0 && start < sizes_[axis]);
    if (fits && count > 1 && step != 0) {
        std::int64_t const steps =
            step > 0 ? (sizes_[axis] - 1 - start) / step : -(start / step); // steps within bounds
        fits = count - 1 <= steps;
    }
    if (!fits)
        throw error(std::to_string(count) + " elements from " + std::to_string(start) + " are out of range for axis " +
                    std::to_string(axis) + " of " + to_string(sizes_));
    tensor t = *this;
    t.sizes_[axis] = count;
    if (count > 1) t.strides_[axis] *= step;
    t.count_ = count_of(t.sizes_);
    if (count != 0) t.offset_ += start * strides_[axis];
    return t;
}

tensor tensor::unsqueezed(std::size_t axis) const {
    if (axis != rank()) require_axis(axis);
    tensor t = *this;
    t.sizes_.insert(t.sizes_.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    t.strides_.insert(t.strides_.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return t;
}

tensor tensor::squeezed(std::size_t axis) const {
    require_axis(axis);
    if (sizes_[axis] != 1)
        throw error("axis " + std::to_string(axis) + " of " + to_string(sizes_) + " does not have size 1");
    tensor t = *this;
    t.sizes_.erase(t.sizes_.begin() + static_cast<std::ptrdiff_t>(axis));
    t.strides_.erase(t.strides_.begin() + static_cast<std::ptrdiff_t>(axis));
    return t;
}

tensor tensor::viewed(runtime::sizes to, std::vector<std::int64_t> strides, std::int64_t offset) const {
    tensor t = *this;
    t.count_ = count_of(to);
    t.sizes_ = std::move(to);
    t.strides_ = std::move(strides);
    t.offset_ += offset;
    return t;
}

tensor tensor::as_pairs() const {
    if (!is_complex(type_)) throw error(std::string(name(type_)) + " is not complex");
    tensor t = *this;
    t.type_ = type_ == aton::dtype::complex64 ? aton::dtype::float32 : aton::dtype::float64;
    t.offset_ *= 2;
    t.count_ *= 2;
    for (std::int64_t& s : t.strides_) s *= 2;
    t.sizes_.push_back(2);
    t.strides_.push_back(1);
    return t;
}

tensor tensor::from_pairs() const {
    bool const floats = type_ == aton::dtype::float32 || type_ == aton::dtype::float64;
    bool together = floats && !sizes_.empty() && sizes_.back() == 2 && strides_.back() == 1 && offset_ % 2 == 0;
    for (std::size_t i = 0; together && i + 1 != sizes_.size(); ++i) together = strides_[i] % 2 == 0 || sizes_[i] <= 1;
    together = together || (floats && count_ == 0 && !sizes_.empty() && sizes_.back() == 2);
    if (!together)
        throw error(std::string(name(type_)) + " of shape " + to_string(sizes_) + " cannot be viewed as pairs");
    tensor t = *this;
    t.type_ = type_ == aton::dtype::float32 ? aton::dtype::complex64 : aton::dtype::complex128;
    t.offset_ /= 2;
    t.count_ /= 2;
    t.sizes_.pop_back();
    t.strides_.pop_back();
    for (std::int64_t& s : t.strides_) s /= 2;
    return t;
}

tensor tensor::reinterpreted(aton::dtype as) const {
    std::string const refusal =
        std::string(name(type_)) + to_string(sizes_) + " cannot be viewed as " + std::string(name(as));
    if (is_strings() || element_bytes(as) == 0) throw error(refusal);
    auto const from = static_cast<std::int64_t>(element_bytes(type_));
    auto const to = static_cast<std::int64_t>(element_bytes(as));
    tensor t = *this;
    t.type_ = as;
    if (from == to) return t;
    auto const scaled = [&](std::int64_t n) {
        if (n * from % to != 0) throw error(refusal);
        return n * from / to;
    };
    if (sizes_.empty() || (strides_.back() != 1 && sizes_.back() != 1)) throw error(refusal);
    for (std::size_t i = 0; i + 1 != sizes_.size(); ++i)
        if (sizes_[i] > 1) t.strides_[i] = scaled(strides_[i]);
    t.sizes_.back() = scaled(sizes_.back());
    t.strides_.back() = 1;
    t.offset_ = scaled(offset_);
    t.count_ = count_of(t.sizes_);
    return t;
}

} // namespace ATON_NAMESPACE::runtime
