// SPDX-License-Identifier: MIT
// Helpers of operators over spatial axes: lists with one number per axis, windows, and images without a batch.
#pragma once

#include <cstddef>
#include <string_view>

#include "call.hpp"
#include "runtime/compute/spatial.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

/// One number per axis. A single number applies to all; `otherwise` is returned for an empty list and for an argument
/// that the schema does not have.
[[nodiscard]] sizes for_each_axis(call const& c, std::string_view name, std::size_t axes, sizes const& otherwise);

/// `x` as [N, C, ...], with a batch of one if it has none. Throws aton::error for other ranks.
[[nodiscard]] tensor batched(tensor const& x, std::size_t axes);
/// The result without the batch if `x` had none.
[[nodiscard]] tensor as_given(tensor const& y, tensor const& x);

/// The windows of an adaptive pool along an axis: window i is [start(i), end(i)).
struct adaptive {
    static constexpr std::int64_t max_windows = std::int64_t{1} << 22;

    std::int64_t in;
    std::int64_t out;

    [[nodiscard]] std::int64_t start(std::int64_t i) const { return i * in / out; }
    [[nodiscard]] std::int64_t end(std::int64_t i) const { return ((i + 1) * in + out - 1) / out; }
};

/// The windows that the arguments of a pool describe.
[[nodiscard]] window window_of(call const& c, std::size_t axes);
/// Positions in planes, the last axes of [N, C, ...], from indices into each plane.
[[nodiscard]] tensor in_planes(tensor const& indices, std::int64_t plane);
/// Writes values to indices of a plane; duplicates are added, or the last one remains.
[[nodiscard]] tensor put_to_planes(tensor const& values, tensor const& indices, sizes const& spatial, put_op op);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
