// SPDX-License-Identifier: MIT
// Operands and results of operators: a tensor, a sequence of tensors, or nothing (a skipped input, an empty optional).
// An optional with a value is represented by that value.
// Public header.
#pragma once

#include <utility>
#include <vector>

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

/// A tensor, a sequence of tensors, or nothing.
class value {
public:
    value() = default;
    /// From a tensor or a sequence of tensors; an empty tensor handle makes no value.
    // NOLINTBEGIN(google-explicit-constructor): a tensor is a value.
    value(tensor t) : one_(std::move(t)) {}
    value(std::vector<tensor> sequence) : many_(std::move(sequence)), is_sequence_(true) {}
    // NOLINTEND(google-explicit-constructor)

    /// Whether there is a value.
    [[nodiscard]] explicit operator bool() const { return is_sequence_ || static_cast<bool>(one_); }
    /// Whether it is a tensor.
    [[nodiscard]] bool is_tensor() const { return static_cast<bool>(one_); }
    /// Whether it is a sequence, even an empty one.
    [[nodiscard]] bool is_sequence() const { return is_sequence_; }
    /// An empty tensor if the value is empty.
    [[nodiscard]] tensor const& one() const { return one_; }
    /// The tensors of a sequence; empty for anything else.
    [[nodiscard]] std::vector<tensor> const& many() const { return many_; }

private:
    tensor one_;
    std::vector<tensor> many_;
    bool is_sequence_ = false;
};

/// A copy on another device, of each tensor of a sequence; the value itself if it is already there.
/// Throws aton::error for a device without kernels, and where it does not have enough memory.
[[nodiscard]] value to_device(value const& v, device where);

} // namespace ATON_NAMESPACE::runtime
