// SPDX-License-Identifier: MIT
// Binary search in sorted boundaries, and counting of integers.
#pragma once

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// For each value the int64 number of boundaries below it (`right`: not above it). Boundaries are sorted along their
/// last axis. 1-d boundaries apply to all values; others have the leading dimensions of the values. `sorter`: the
/// permutation that sorts the boundaries, or empty.
[[nodiscard]] tensor search_sorted(tensor const& boundaries, tensor const& values, bool right,
                                   tensor const& sorter = {});

/// Counts the occurrences of each of 0, ..., count - 1 among int64 numbers, or adds up their weights.
[[nodiscard]] tensor counted(tensor const& numbers, std::int64_t count, tensor const& weights = {});

} // namespace ATON_NAMESPACE::runtime::aten_kernels
