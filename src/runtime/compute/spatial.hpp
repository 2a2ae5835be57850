// SPDX-License-Identifier: MIT
// Convolution and pooling over any number of spatial axes of [N, C, D1, D2, ...]. Windows are strided views, so
// everything runs on the device of the tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// A sliding window; each list has one entry per spatial axis.
struct window {
    sizes kernel;
    sizes strides;
    sizes dilations;
    sizes before; ///< padding before the first element
    sizes after;
    bool ceil = false; ///< The last window may reach past the end if it starts before the padding at the end.

    /// A window with strides and dilations of 1 and without padding.
    [[nodiscard]] static window of(sizes kernel);
    [[nodiscard]] std::size_t axes() const { return kernel.size(); }
    /// The number of elements from the first to the last of a window along an axis. Requires `check`.
    [[nodiscard]] std::int64_t extent(std::size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
    /// The extent of `windows` consecutive windows; 0 for zero windows. Throws aton::error if it exceeds the size of
    /// any tensor.
    [[nodiscard]] std::int64_t reach(std::size_t axis, std::int64_t windows) const;
};

/// Throws aton::error for lists that do not have `axes` entries, and for entries out of range.
void check(window const& w, std::size_t axes);
/// Checks the elements that a transposed convolution adds at the ends in the same way.
void check_output_padding(sizes const& extra, std::size_t axes);
/// The number of windows along each spatial axis of `x`. Throws aton::error if the window is larger than the padded
/// input.
[[nodiscard]] sizes window_counts(window const& w, tensor const& x);

/// [N, C, out..., kernel...], a view of the padded `x`.
[[nodiscard]] tensor windows(tensor const& x, window const& w, scalar const& fill = 0);
/// Adds up windows [N, C, out..., kernel...] in a tensor of these spatial sizes: the transpose of `windows`.
[[nodiscard]] tensor fold(tensor const& columns, window const& w, sizes const& spatial);

/// `weight` is [M, C / groups, kernel...], `bias` [M] or empty. Floats and integers; narrow floats are summed in
/// float32.
[[nodiscard]] tensor convolution(tensor const& x, tensor const& weight, tensor const& bias, window const& w,
                                 std::int64_t groups);
/// `weight` is [C, M / groups, kernel...]. The padding of `w` is removed from the result, which gets `extra` more
/// elements at the end. `widens`: narrow floats are summed in float32, otherwise rounded after each addition.
[[nodiscard]] tensor transposed_convolution(tensor const& x, tensor const& weight, tensor const& bias, window const& w,
                                            sizes const& extra, std::int64_t groups, bool widens = true);

struct pooled {
    tensor values;
    tensor indices; ///< int64: row-major position of the first maximum in its [D1, D2, ...]
};
/// NaN if any element is NaN. Padding is less than every number.
[[nodiscard]] tensor max_pool(tensor const& x, window const& w);
[[nodiscard]] pooled max_pool_with_indices(tensor const& x, window const& w);
/// The sum over each window; padding is 0.
[[nodiscard]] tensor sum_pool(tensor const& x, window const& w);
/// The sum divided by `divisor` if given, otherwise by the number of elements in the window, with or without padding.
[[nodiscard]] tensor average_pool(tensor const& x, window const& w, bool count_padding,
                                  std::optional<double> divisor = std::nullopt);
/// (sum(|x|^p))^(1/p)
[[nodiscard]] tensor lp_pool(tensor const& x, window const& w, double p);

} // namespace ATON_NAMESPACE::runtime
