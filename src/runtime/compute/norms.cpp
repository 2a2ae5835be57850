// SPDX-License-Identifier: MIT
// Norms and log-sum-exp along axes.
#include "runtime/compute/norms.hpp"

#include <limits>

namespace ATON_NAMESPACE::runtime {

namespace {

bool is_half(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }

} // namespace

tensor norm(tensor const& x, double p, axis_list const& axes, bool keep) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (is_half(x.dtype())) return cast(norm(cast(x, dtype::float32), p, axes, keep), x.dtype()); // rounded once
    tensor const size = abs(x);
    if (p == infinity) return max(size, axes, keep);
    if (p == -infinity) return min(size, axes, keep);
    if (p == 0) return sum(cast(unequal(size, scalar(0)), size.dtype()), axes, keep);
    bool const of_nothing = x.count() == 0 && !(p < 0); // 0 also where p is NaN, or 1 / p is 0 in float32
    if (p == 1 || of_nothing) return sum(size, axes, keep);
    if (p == 2) return sqrt(sum(square(size), axes, keep));
    return pow(sum(pow(size, scalar(p)), axes, keep), scalar(1 / p));
}

tensor log_sum_exp(tensor const& x, axis_list const& axes, bool keep) {
    if (is_half(x.dtype())) return cast(log_sum_exp(cast(x, dtype::float32), axes, keep), x.dtype());
    tensor const largest = max(x, axes, true);
    tensor const shift = where(unary(unary_op::isfinite, largest), largest, scalar(0));
    tensor const total = log(sum(exp(x - shift), axes, keep));
    return total + reshape(shift, total.sizes());
}

} // namespace ATON_NAMESPACE::runtime
