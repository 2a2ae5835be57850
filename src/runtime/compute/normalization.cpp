// SPDX-License-Identifier: MIT
// Normalization by mean and variance.
#include "runtime/compute/normalization.hpp"

#include <string>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime {

tensor widened(tensor const& x) {
    if (!is_floating(x.dtype())) throw error("a floating-point dtype is required, not " + std::string(name(x.dtype())));
    return x.dtype() == dtype::float64 ? x : cast(x, dtype::float32);
}

tensor along_axis(tensor const& vector, std::size_t rank, std::size_t axis) {
    sizes to(rank, 1);
    to[axis] = vector.count();
    return reshape(vector, to);
}

standardized standardize(tensor const& x, axis_list const& axes, double epsilon) {
    tensor const middle = mean(x, axes, true);
    tensor const centered = x - middle;
    tensor const spread = mean(square(centered), axes, true);
    tensor const inverse = unary(unary_op::rsqrt, spread + scalar(epsilon));
    return {centered * inverse, middle, inverse};
}

standardized standardize_groups(tensor const& x, std::int64_t groups, double epsilon) {
    if (x.rank() < 2 || groups < 1 || x.size(1) % groups != 0)
        throw error(std::to_string(groups) + " groups do not divide the channels of " + to_string(x.sizes()));
    std::int64_t const n = x.size(0);
    std::int64_t const rest = n == 0 ? 0 : x.count() / count_of(sizes{n, groups});
    standardized s = standardize(reshape(x, {n, groups, rest}), {2}, epsilon);
    return {reshape(s.values, x.sizes()), s.mean.squeezed(2), s.inverse_deviation.squeezed(2)};
}

tensor divide_by_rms(tensor const& x, axis_list const& axes, double epsilon) {
    return x * unary(unary_op::rsqrt, mean(square(x), axes, true) + scalar(epsilon));
}

tensor batch_norm(tensor const& x, tensor const& mean, tensor const& variance, tensor const& scale, tensor const& bias,
                  double epsilon) {
    bool wide = false;
    for (tensor const* t : {&x, &mean, &variance, &scale, &bias}) wide = wide || (*t && t->dtype() == dtype::float64);
    dtype const computed = wide ? dtype::float64 : dtype::float32;
    std::size_t const axis = x.rank() < 2 ? 0 : 1;
    std::int64_t const channels = x.rank() < 2 ? 1 : x.size(1);
    for (tensor const* t : {&mean, &variance, &scale, &bias})
        if (*t && t->count() != channels)
            throw error("shape " + to_string(t->sizes()) + " does not fit " + std::to_string(channels) + " channels");
    tensor factor = unary(unary_op::rsqrt, cast(variance, computed) + scalar(epsilon));
    if (scale) factor = factor * cast(scale, computed);
    tensor shift = -(cast(mean, computed) * factor);
    if (bias) shift = shift + cast(bias, computed);
    auto const fitted = [&](tensor const& t) { return along_axis(t, x.rank(), axis); };
    if (x.rank() == 0) return cast(cast(x, computed) * reshape(factor, {}) + reshape(shift, {}), x.dtype());
    return cast(cast(x, computed) * fitted(factor) + fitted(shift), x.dtype());
}

} // namespace ATON_NAMESPACE::runtime
