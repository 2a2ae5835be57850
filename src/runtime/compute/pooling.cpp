// SPDX-License-Identifier: MIT
// Pooling: the maximum, the sum and the mean of windows, one spatial axis after the other.
#include "runtime/compute/spatial.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "windows.hpp"

namespace ATON_NAMESPACE::runtime {

namespace {

constexpr std::int64_t max_passes = 32; ///< maximum kernel size along an axis for element-by-element reduction

/// The elements at offset `k` in all windows along an axis.
tensor places(tensor const& x, window const& w, std::size_t axis, std::int64_t count, std::int64_t k) {
    return x.sliced(axis + 2, k * w.dilations[axis], count, w.strides[axis]);
}

tensor along(tensor const& x, window const& w, std::size_t axis, std::int64_t count, binary_op op, reduce_op whole) {
    if (w.kernel[axis] > max_passes) {
        sizes to = x.sizes();
        std::vector<std::int64_t> strides = x.strides();
        to[axis + 2] = count;
        to.push_back(w.kernel[axis]);
        strides.push_back(strides[axis + 2] * w.dilations[axis]);
        if (count > 1) strides[axis + 2] *= w.strides[axis];
        return reduce(whole, x.viewed(to, strides), {-1});
    }
    tensor out = places(x, w, axis, count, 0);
    for (std::int64_t k = 1; k < w.kernel[axis]; ++k) out = binary(op, out, places(x, w, axis, count, k));
    return out;
}

tensor over_axes(tensor const& x, window const& w, binary_op op, reduce_op whole, scalar const& fill) {
    sizes const counts = window_counts(w, x);
    tensor out = padded(x, w, counts, fill);
    for (std::size_t i = w.axes(); i-- != 0;) out = along(out, w, i, counts[i], op, whole);
    return contiguous(out);
}

scalar minimum_of(dtype t) {
    if (is_floating(t)) return -std::numeric_limits<double>::infinity();
    if (!is_signed_integral(t)) return 0;
    return static_cast<long long>(std::numeric_limits<std::int64_t>::min() >> (64 - bits(t)));
}

/// The position of each element of the padded tensor in [D1, D2, ...]; for padding, that of the first element of a
/// window that starts there.
tensor element_positions(tensor const& x, window const& w, sizes const& padded) {
    sizes const spatial(x.sizes().begin() + 2, x.sizes().end());
    std::vector<std::int64_t> const strides = contiguous_strides(spatial);
    tensor out = full(0, dtype::int64, {1, 1}, x.where());
    for (std::size_t i = 0; i != w.axes(); ++i) {
        tensor const at = range(padded[i + 2], -w.before[i], 1, x.where());
        tensor const inside = where(less(at, 0),
                                    binary(binary_op::remainder, at, scalar(static_cast<long long>(w.dilations[i]))),
                                    clamp(at, 0, static_cast<double>(spatial[i] - 1)));
        out = out.unsqueezed(out.rank()) + inside * scalar(static_cast<long long>(strides[i]));
    }
    return out;
}

/// The number of elements of each window along an axis, with or without padding.
tensor counted(tensor const& x, window const& w, std::size_t axis, std::int64_t windows, bool padding) {
    std::vector<std::int64_t> n(static_cast<std::size_t>(windows), 0);
    std::int64_t const first = padding ? 0 : w.before[axis];
    std::int64_t const end = w.before[axis] + x.size(axis + 2) + (padding ? w.after[axis] : 0);
    std::int64_t const step = w.dilations[axis];
    for (std::int64_t i = 0; i != windows; ++i) {
        auto const below = [&](std::int64_t limit) { // elements of the window below the limit
            std::int64_t const slack = limit - i * w.strides[axis];
            return std::clamp<std::int64_t>(slack <= 0 ? 0 : (slack - 1) / step + 1, 0, w.kernel[axis]);
        };
        n[static_cast<std::size_t>(i)] = below(end) - below(first);
    }
    return to_device(tensor::of_integers(n), x.where());
}

} // namespace

tensor max_pool(tensor const& x, window const& w) {
    return over_axes(x, w, binary_op::maximum, reduce_op::max, minimum_of(x.dtype()));
}

pooled max_pool_with_indices(tensor const& x, window const& w) {
    sizes const counts = window_counts(w, x);
    tensor values = padded(x, w, counts, minimum_of(x.dtype()));
    for (std::size_t i = 0; i != w.axes(); ++i)
        if (x.size(i + 2) == 0) throw error("a window without elements has no index of a maximum");
    tensor indices = element_positions(x, w, values.sizes()).expanded(values.sizes());
    tensor const seen = seen_by(values, w, counts);
    if (largest found = kernels_of(x.where()).first_largest(seen, seen_by(indices, w, counts), 2 + w.axes());
        found.values)
        return {std::move(found.values), std::move(found.numbers)};
    for (std::size_t i = w.axes();
         i-- != 0;) { // the last axis first: of equal elements the first in row-major order remains, of NaN the last
        tensor best = places(values, w, i, counts[i], 0);
        tensor at = places(indices, w, i, counts[i], 0);
        for (std::int64_t k = 1; k < w.kernel[i]; ++k) {
            tensor const other = places(values, w, i, counts[i], k);
            tensor larger = greater(other, best);
            if (is_floating(x.dtype())) larger = logical_or(larger, isnan(other));
            best = where(larger, other, best);
            at = where(larger, places(indices, w, i, counts[i], k), at);
        }
        values = best;
        indices = at;
    }
    return {contiguous(values), contiguous(indices)};
}

tensor sum_pool(tensor const& x, window const& w) {
    if (is_narrow(x)) return cast(sum_pool(cast(x, dtype::float32), w), x.dtype());
    return over_axes(x, w, binary_op::add, reduce_op::sum, 0);
}

tensor average_pool(tensor const& x, window const& w, bool count_padding, std::optional<double> divisor) {
    if (is_narrow(x)) return cast(average_pool(cast(x, dtype::float32), w, count_padding, divisor), x.dtype());
    tensor const total = sum_pool(x, w);
    if (divisor) return total / scalar(*divisor);
    tensor count = full(1, dtype::int64, {1, 1}, x.where());
    for (std::size_t i = 0; i != w.axes(); ++i)
        count = count.unsqueezed(count.rank()) * counted(x, w, i, total.size(i + 2), count_padding);
    return total / cast(count, x.dtype());
}

tensor lp_pool(tensor const& x, window const& w, double p) {
    if (is_narrow(x)) return cast(lp_pool(cast(x, dtype::float32), w, p), x.dtype());
    if (p == 1) return sum_pool(abs(x), w);
    if (p == 2) return sqrt(sum_pool(square(x), w));
    return pow(sum_pool(pow(abs(x), scalar(p)), w), scalar(1 / p));
}

} // namespace ATON_NAMESPACE::runtime
