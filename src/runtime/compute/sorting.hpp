// SPDX-License-Identifier: MIT
// Functions of tensors that depend on how elements compare: the largest few, and those that differ.
#pragma once

#include <cstdint>
#include <optional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// The `count` largest (or smallest) elements of an axis in order; of equal ones the first comes first. NaN is larger than every number.
/// A 0-d tensor counts as 1-d with one element.
[[nodiscard]] sorted top(tensor const& x, std::int64_t count, std::int64_t axis, bool largest);

/// Elements, or parts along an axis, that differ from each other; all are int64 and 1-d. NaN is equal to NaN here.
struct distinct {
    tensor first;   ///< where each one stands first
    tensor inverse; ///< for each element of `x`, in row-major order, its number among the distinct ones
    tensor counts;  ///< how often each one is there
};

enum class distinct_order : std::uint8_t {
    ascending,  ///< parts along an axis by their first element that differs
    occurrence, ///< by where they stand first
};

/// Of all elements, or of the parts along an axis. Of strings and complex numbers too.
[[nodiscard]] distinct distinct_of(tensor const& x, std::optional<std::int64_t> axis, distinct_order order);

/// The int64 indices that bring 1-d elements into ascending order; equal ones stay in theirs.
[[nodiscard]] tensor order_of(tensor const& keys);

} // namespace ATON_NAMESPACE::runtime
