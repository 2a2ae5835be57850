// SPDX-License-Identifier: MIT
// Where numbers stand among sorted ones.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// The int64 number of boundaries, which are sorted along their last axis, below each value (`right`: not above it). 1-d boundaries hold
/// for all values; others have, in front of the last axis, the sizes of the values. `sorter`: what sorts the boundaries, or none.
[[nodiscard]] tensor search_sorted(tensor const& boundaries, tensor const& values, bool right,
                                   tensor const& sorter = {});

/// How many of the int64 numbers from 0 to count - 1 there are, or the sums of their weights.
[[nodiscard]] tensor counted(tensor const& numbers, std::int64_t count, tensor const& weights = {});

} // namespace ATON_NAMESPACE::runtime::aten_kernels
