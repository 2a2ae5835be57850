// SPDX-License-Identifier: MIT
// Convolution and pooling over the spatial axes of [N, C, D1, D2, ...] tensors, of any number. Windows are strided views: what is made
// of them runs wherever the tensors lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <aton/runtime/compute.hpp>

namespace ATON_NAMESPACE::runtime {

/// What slides over the spatial axes; each list has one entry for each of them.
struct window {
    sizes kernel;
    sizes strides;
    sizes dilations;
    sizes before; ///< padding in front of the first element
    sizes after;
    bool ceil = false; ///< A last window may reach beyond the padding, where it starts before the padding behind.

    /// Strides and dilations of 1, no padding.
    [[nodiscard]] static window of(sizes kernel);
    [[nodiscard]] std::size_t axes() const { return kernel.size(); }
    /// Elements from the first to the last that it sees along an axis. Only of a window that `check` let through.
    [[nodiscard]] std::int64_t extent(std::size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
    /// The same of so many windows beside each other; 0 of none. Throws aton::error where no tensor has so many.
    [[nodiscard]] std::int64_t reach(std::size_t axis, std::int64_t windows) const;
};

/// Throws aton::error for lists that are not as long as there are axes, and for numbers that no window has.
void check(window const& w, std::size_t axes);
/// The same of the elements that a transposed convolution adds at the ends.
void check_output_padding(sizes const& extra, std::size_t axes);
/// How many windows there are on each spatial axis of `x`. Throws aton::error where the window is larger than what it slides over.
[[nodiscard]] sizes window_counts(window const& w, tensor const& x);

/// [N, C, out..., kernel...], a view of the padded `x`.
[[nodiscard]] tensor windows(tensor const& x, window const& w, scalar const& fill = 0);
/// What windows [N, C, out..., kernel...] add up to in a tensor of these spatial sizes: the transpose of `windows`.
[[nodiscard]] tensor fold(tensor const& columns, window const& w, sizes const& spatial);

/// `weight` is [M, C / groups, kernel...], `bias` [M] or no tensor. Floats and integers; narrow floats are summed in float32.
[[nodiscard]] tensor convolution(tensor const& x, tensor const& weight, tensor const& bias, window const& w,
                                 std::int64_t groups);
/// `weight` is [C, M / groups, kernel...]. The padding of `w` is cut off the result, which has `extra` more elements at the end. `widens`:
/// narrow floats are summed in float32, else rounded after each sum.
[[nodiscard]] tensor transposed_convolution(tensor const& x, tensor const& weight, tensor const& bias, window const& w,
                                            sizes const& extra, std::int64_t groups, bool widens = true);

struct pooled {
    tensor values;
    tensor indices; ///< int64: where the first of the largest stands in its [D1, D2, ...], row-major
};
/// NaN where any is. Padding is less than every number.
[[nodiscard]] tensor max_pool(tensor const& x, window const& w);
[[nodiscard]] pooled max_pool_with_indices(tensor const& x, window const& w);
/// The sum over the windows, padding is 0.
[[nodiscard]] tensor sum_pool(tensor const& x, window const& w);
/// The sum over a divisor: as given, else the number of elements in the window, with those of the padding or without.
[[nodiscard]] tensor average_pool(tensor const& x, window const& w, bool count_padding,
                                  std::optional<double> divisor = std::nullopt);
/// (sum(|x|^p))^(1/p)
[[nodiscard]] tensor lp_pool(tensor const& x, window const& w, double p);

} // namespace ATON_NAMESPACE::runtime
