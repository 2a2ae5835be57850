// SPDX-License-Identifier: MIT
// Functions that depend on how elements compare: the top k elements, and unique elements.
#pragma once

#include <cstdint>
#include <optional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// The `count` largest (or smallest) elements of an axis, in order; equal elements keep their order. NaN is greater
/// than every number. A 0-d tensor counts as 1-d.
[[nodiscard]] sorted top(tensor const& x, std::int64_t count, std::int64_t axis, bool largest);

/// Distinct elements, or slices along an axis; all tensors are int64 and 1-d. NaN equals NaN here.
struct distinct {
    tensor first;   ///< position of the first occurrence of each
    tensor inverse; ///< for each element of `x`, in row-major order, its index among the distinct ones
    tensor counts;  ///< number of occurrences of each
};

enum class distinct_order : std::uint8_t {
    ascending,  ///< slices along an axis in lexicographic order
    occurrence, ///< by first occurrence
};

/// Over all elements, or over slices along an axis. Supports strings and complex numbers.
[[nodiscard]] distinct distinct_of(tensor const& x, std::optional<std::int64_t> axis, distinct_order order);

/// The int64 indices that sort 1-d elements in ascending order; stable.
[[nodiscard]] tensor order_of(tensor const& keys);

} // namespace ATON_NAMESPACE::runtime
