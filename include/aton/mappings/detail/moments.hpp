// SPDX-License-Identifier: MIT
// The variance and mean over some axes, shared by var, std and the normalizations.
// Internal header.
#pragma once

#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings::detail {

struct moments {
    value variance; ///< in float32 for half-precision x
    value mean;
};

/// The variance and mean over normalized axes. As in ATen, the variance is the sum of squares divided by max(0, n -
/// correction).
inline moments variance_and_mean(graph<7> g, value x, axis_list axes, double correction, bool keepdim) {
    dtype const type = opmath_type(x.dtype());
    value const wide = g.cast(x, type);
    value const mu = mean(g, wide, axes, true);
    value const centered = g.op<"Sub">(wide, mu);
    value n = count_along(g, x, axes, type);
    bool over_zero = false;
    if (n.is_constant()) {
        double const count = n.constant<double>();
        double const left = count - correction;
        over_zero = exactly_equal(count, 0) || !(left > 0); // of no elements also where the correction is negative
        n = g.scalar(over_zero ? 0.0 : left, type);
    } else if (!exactly_equal(correction, 0)) {
        value const zero = g.scalar(0, type);
        n = correction > 0 ? max_of(g, g.op<"Sub">(n, correction), zero)
                           : g.op<"Sub">(n, g.op<"Mul">(g.cast(g.op<"Greater">(n, zero), type), correction));
    }
    // ATen sums squares of float32 in float64, where they do not underflow. Over 0, magnitudes have the same quotients.
    value const sum = over_zero && type == dtype::float32 ? reduce<"ReduceL1">(g, centered, axes, keepdim)
                                                          : reduce<"ReduceSumSquare">(g, centered, axes, keepdim);
    value const y = g.op<"Div">(sum, n);
    return {y, g.cast(keepdim || axes.empty() ? mu : squeeze(g, mu, axes), x.dtype())};
}

} // namespace ATON_NAMESPACE::mappings::detail
