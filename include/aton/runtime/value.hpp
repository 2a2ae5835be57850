// SPDX-License-Identifier: MIT
// Operands and results of operators: a tensor, a sequence of tensors, or nothing (a skipped input, an empty optional).
// An optional with a value is represented by that value.
#pragma once

#include <utility>
#include <vector>

#include <aton/runtime/tensor.hpp>

namespace ATON_NAMESPACE::runtime {

class value {
public:
    value() = default;
    // NOLINTBEGIN(google-explicit-constructor): a tensor is a value.
    value(tensor t) : one_(std::move(t)) {}
    value(std::vector<tensor> sequence) : many_(std::move(sequence)), is_sequence_(true) {}
    // NOLINTEND(google-explicit-constructor)

    [[nodiscard]] explicit operator bool() const { return is_sequence_ || static_cast<bool>(one_); }
    [[nodiscard]] bool is_tensor() const { return static_cast<bool>(one_); }
    [[nodiscard]] bool is_sequence() const { return is_sequence_; }
    /// An empty tensor if the value is empty.
    [[nodiscard]] tensor const& one() const { return one_; }
    [[nodiscard]] std::vector<tensor> const& many() const { return many_; }

private:
    tensor one_;
    std::vector<tensor> many_;
    bool is_sequence_ = false;
};

/// A copy on another device, of each tensor of a sequence; the value itself if it is already there.
[[nodiscard]] value to_device(value const& v, device where);

} // namespace ATON_NAMESPACE::runtime
