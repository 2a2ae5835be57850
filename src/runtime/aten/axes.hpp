// SPDX-License-Identifier: MIT
// Dimensions that arguments name, and sizes with one that is to be found out.
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

/// The dimension that an argument names; of a 0-d tensor 0, which it does not have.
[[nodiscard]] inline std::size_t axis_of(call const& c, tensor const& x, std::string_view name = "dim") {
    return axis_at(c.i(name), x.rank());
}
/// The same where a 0-d tensor will not do.
[[nodiscard]] inline std::size_t axis_in(call const& c, tensor const& x, std::string_view name = "dim") {
    if (x.rank() == 0) throw error("a 0-d tensor has no dimension");
    return axis_of(c, x, name);
}

[[nodiscard]] inline tensor at_least_1d(tensor const& x) { return x.rank() == 0 ? x.unsqueezed(0) : x; }
[[nodiscard]] inline tensor at_least_2d(tensor const& x) { return x.rank() >= 2 ? x : at_least_1d(x).unsqueezed(0); }
[[nodiscard]] inline tensor at_least_3d(tensor const& x) { return x.rank() >= 3 ? x : at_least_2d(x).unsqueezed(2); }

/// Dimensions counted from the front. Throws aton::error where one is named twice.
[[nodiscard]] std::vector<std::size_t> distinct_axes(ints const& axes, std::size_t rank);

/// Sizes with `count` elements, where one may be -1.
[[nodiscard]] sizes completed(sizes to, std::int64_t count);

/// A dimension from `start` to `end` as Python slices it: negative ones count from the end, both stay inside.
[[nodiscard]] tensor python_slice(tensor const& x, std::size_t axis, std::int64_t start, std::int64_t end,
                                  std::int64_t step = 1);
/// The view of one index, which may be negative, without the dimension.
[[nodiscard]] tensor selected(tensor const& x, std::size_t axis, std::int64_t index);
/// The diagonal of two dimensions, which becomes the last one.
[[nodiscard]] tensor diagonal_of(tensor const& x, std::int64_t offset = 0, std::int64_t dim1 = -2,
                                 std::int64_t dim2 = -1);
/// A view of the memory that `x` lies in. Throws aton::error where it would leave that.
[[nodiscard]] tensor strided(tensor const& x, sizes const& to, ints const& strides, std::optional<std::int64_t> offset);

/// Dimension i of the result is dimension order[i].
[[nodiscard]] tensor permuted_by(tensor const& x, ints const& order);

} // namespace ATON_NAMESPACE::runtime::aten_kernels
