// SPDX-License-Identifier: MIT
// Dimension arguments, shapes with an inferred size, and views that several operators use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

using ints = std::vector<std::int64_t>;

/// The dimension of an argument, counted from the front; 0 for a 0-d tensor.
[[nodiscard]] inline std::size_t axis_of(call const& c, tensor const& x, std::string_view name = "dim") {
    return axis_at(c.i(name), x.rank());
}
/// Like axis_of, but throws aton::error for a 0-d tensor.
[[nodiscard]] inline std::size_t axis_in(call const& c, tensor const& x, std::string_view name = "dim") {
    if (x.rank() == 0) throw error("a 0-d tensor has no dimensions");
    return axis_of(c, x, name);
}

[[nodiscard]] inline tensor at_least_1d(tensor const& x) { return x.rank() == 0 ? x.unsqueezed(0) : x; }
[[nodiscard]] inline tensor at_least_2d(tensor const& x) { return x.rank() >= 2 ? x : at_least_1d(x).unsqueezed(0); }
[[nodiscard]] inline tensor at_least_3d(tensor const& x) { return x.rank() >= 3 ? x : at_least_2d(x).unsqueezed(2); }

/// Dimensions counted from the front. Throws aton::error for a duplicate.
[[nodiscard]] std::vector<std::size_t> distinct_axes(ints const& axes, std::size_t rank);

/// Replaces a size of -1 so that the product of sizes is `count`.
[[nodiscard]] sizes completed(sizes to, std::int64_t count);

/// Python's slice of a dimension: negative bounds count from the end, and both are clamped.
[[nodiscard]] tensor python_slice(tensor const& x, std::size_t axis, std::int64_t start, std::int64_t end,
                                  std::int64_t step = 1);
/// The view at one index, which may be negative, without the dimension.
[[nodiscard]] tensor selected(tensor const& x, std::size_t axis, std::int64_t index);
/// The slice of `x` that the arguments dim, start, end and step ask for.
[[nodiscard]] tensor slice_of(call const& c, tensor const& x);
/// The view of `x` that the arguments dim and index ask for.
[[nodiscard]] tensor selection_of(call const& c, tensor const& x);
/// The diagonal of two dimensions, as the last one.
[[nodiscard]] tensor diagonal_of(tensor const& x, std::int64_t offset = 0, std::int64_t dim1 = -2,
                                 std::int64_t dim2 = -1);
/// A strided view of the memory of `x`. Throws aton::error if it would reach beyond.
[[nodiscard]] tensor strided(tensor const& x, sizes const& to, ints const& strides, std::optional<std::int64_t> offset);

/// Dimension i of the result is dimension order[i].
[[nodiscard]] tensor permuted_by(tensor const& x, ints const& order);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
