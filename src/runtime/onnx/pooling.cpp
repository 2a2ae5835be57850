// SPDX-License-Identifier: MIT
// ONNX operators: pooling.
#include <algorithm>
#include <string>
#include <vector>

#include "runtime/compute/spatial.hpp"
#include <aton/core/budget.hpp>
#include <aton/core/error.hpp>

#include "call.hpp"
#include "window_attributes.hpp"

namespace ATON_NAMESPACE::runtime::onnx_kernels {

namespace {

results average_pool(call const& c) {
    return runtime::average_pool(c.in(0), window_of(c, c.in(0)), c.i("count_include_pad", 0) != 0);
}

results lp_pool(call const& c) {
    double const p = c.opset() == 1 ? c.f("p", 2) : static_cast<double>(c.i("p", 2));
    return runtime::lp_pool(c.in(0), window_of(c, c.in(0)), p);
}

/// Converts row-major positions in [D1, D2, ...] to column-major ones.
tensor column_major(tensor const& places, sizes const& spatial) {
    tensor left = places;
    tensor out;
    std::int64_t stride = count_of(spatial);
    for (std::size_t i = spatial.size(); i-- != 0;) { // the last axis gets the largest stride
        auto const size = scalar(static_cast<long long>(spatial[i]));
        stride /= spatial[i];
        tensor const quotient = left / size;
        tensor const at = (left - quotient * size) * scalar(static_cast<long long>(stride));
        out = out ? out + at : at;
        left = quotient;
    }
    return out;
}

results max_pool(call const& c) {
    tensor const x = without_nan(c.in(0), true);
    window const w = window_of(c, x);
    if (!c.wants(1)) return runtime::max_pool(x, w);
    pooled const y = max_pool_with_indices(x, w);
    sizes const spatial = spatial_sizes(x);
    std::int64_t const plane = count_of(spatial);
    tensor const inside = c.i("storage_order", 0) == 0 ? y.indices : column_major(y.indices, spatial);
    sizes planes(x.rank(), 1);
    planes[0] = x.size(0);
    planes[1] = x.size(1);
    tensor const first = reshape(range(x.size(0) * x.size(1), 0, plane, x.where()), planes);
    return {y.values, inside + first};
}

axis_list spatial_axes(tensor const& x) {
    axis_list axes(spatial_sizes(x).size());
    for (std::size_t i = 0; i != axes.size(); ++i) axes[i] = static_cast<std::int64_t>(i) + 2;
    return axes;
}

results global_average_pool(call const& c) { return mean(c.in(0), spatial_axes(c.in(0)), true); }
results global_max_pool(call const& c) { return max(without_nan(c.in(0), true), spatial_axes(c.in(0)), true); }

results global_lp_pool(call const& c) {
    tensor const x = cast(c.in(0), c.in(0).dtype() == dtype::float64 ? dtype::float64 : dtype::float32);
    double const p = c.opset() == 1 ? c.f("p", 2) : static_cast<double>(c.i("p", 2));
    axis_list const axes = spatial_axes(x);
    tensor const y =
        p == 2 ? sqrt(sum(square(x), axes, true)) : pow(sum(pow(abs(x), scalar(p)), axes, true), scalar(1 / p));
    return cast(y, c.in(0).dtype());
}

results max_unpool(call const& c) {
    tensor const& x = c.in(0);
    tensor const& indices = c.in(1);
    window const w = bare_window_of(c, spatial_sizes(x).size());
    if (indices.sizes() != x.sizes()) throw error("indices must have the shape of the values");
    sizes inner = {x.size(0), x.size(1)}; // the shape to which the indices refer
    for (std::size_t i = 0; i != w.axes(); ++i)
        inner.push_back((checked_int(x.size(i + 2)) - 1) * w.strides[i] + w.kernel[i] - w.before[i] - w.after[i]);
    std::int64_t const count = count_of(inner);
    tensor const zeros = full(0, x.dtype(), {count}, x.where());
    tensor const y = reshape(put(zeros, flatten(indices), flatten(x)), inner);
    if (!c.has(2)) return y;
    sizes const to = c.integers(2);
    if (to.size() != inner.size()) throw error("output_shape " + to_string(to) + " does not fit " + to_string(inner));
    (void)count_of(to);
    sizes const before(to.size(), 0);
    sizes after(to.size(), 0);
    for (std::size_t i = 0; i != to.size(); ++i) after[i] = to[i] - inner[i];
    return pad(y, before, after, 0);
}

} // namespace

rows pooling() {
    static constexpr row all[] = {
        {"AveragePool", average_pool},
        {"GlobalAveragePool", global_average_pool},
        {"GlobalLpPool", global_lp_pool},
        {"GlobalMaxPool", global_max_pool},
        {"LpPool", lp_pool},
        {"MaxPool", max_pool},
        {"MaxUnpool", max_unpool},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::onnx_kernels
