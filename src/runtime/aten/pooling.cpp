// SPDX-License-Identifier: MIT
// ATen operators: pooling.
#include "pooling.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "runtime/compute/spatial.hpp"
#include <aton/core/error.hpp>

#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

sizes for_each_axis(call const& c, std::string_view name, std::size_t axes, sizes const& otherwise) {
    sizes list = c.has_argument(name) ? c.ints(name) : sizes{};
    if (list.empty()) list = otherwise;
    if (list.size() == 1) list.resize(axes, list[0]);
    if (list.size() != axes)
        throw error("argument '" + std::string(name) + "' must have one number for each of " + std::to_string(axes) +
                    " axes");
    return list;
}

tensor batched(tensor const& x, std::size_t axes) {
    if (x.rank() != axes + 1 && x.rank() != axes + 2)
        throw error("self has " + std::to_string(x.rank()) + " dimensions, not " + std::to_string(axes + 1) + " or " +
                    std::to_string(axes + 2));
    return x.rank() == axes + 1 ? x.unsqueezed(0) : x;
}

tensor as_given(tensor const& y, tensor const& x) { return y.rank() == x.rank() ? y : y.squeezed(0); }

window window_of(call const& c, std::size_t axes) {
    window w = window::of(for_each_axis(c, "kernel_size", axes, {}));
    w.strides = for_each_axis(c, "stride", axes, w.kernel);
    w.before = w.after = for_each_axis(c, "padding", axes, {0});
    if (c.has_argument("dilation")) w.dilations = for_each_axis(c, "dilation", axes, {1});
    w.ceil = c.b("ceil_mode");
    check(w, axes);
    for (std::size_t i = 0; i != axes; ++i)
        if (w.before[i] > w.extent(i) / 2 && w.before[i] > w.kernel[i] / 2)
            throw error("padding is more than half of the kernel");
    return w;
}

tensor in_planes(tensor const& indices, std::int64_t plane) {
    sizes to(indices.rank(), 1);
    to[0] = indices.size(0);
    to[1] = indices.size(1);
    return indices + reshape(range(to[0] * to[1], 0, plane, indices.where()), to);
}

tensor put_to_planes(tensor const& values, tensor const& indices, sizes const& spatial, put_op op) {
    if (values.sizes() != indices.sizes()) throw error("the indices do not have the shape of the values");
    sizes to = {values.size(0), values.size(1)};
    to.insert(to.end(), spatial.begin(), spatial.end());
    std::int64_t const plane = count_of(spatial);
    if (indices.count() != 0) {
        auto const outside = logical_or(less(indices, 0), greater_equal(indices, scalar(plane)));
        if (to_host(reduce(reduce_op::any, outside, all_axes(outside))).item() == scalar(true))
            throw error("an index is out of range for its plane");
    }
    return put(full(0, values.dtype(), to, values.where()), in_planes(indices, plane), values, op);
}

namespace {

template <std::size_t Axes>
results max_pool_only(call const& c) {
    tensor const x = c.t("self");
    return as_given(max_pool(batched(x, Axes), window_of(c, Axes)), x);
}

template <std::size_t Axes>
results max_pool_and_indices(call const& c) {
    tensor const x = c.t("self");
    auto const [values, indices] = max_pool_with_indices(batched(x, Axes), window_of(c, Axes));
    return {as_given(values, x), as_given(indices, x)};
}

template <std::size_t Axes>
results avg_pool(call const& c) {
    tensor const x = c.t("self");
    std::optional<double> divisor;
    if (c.has_argument("divisor_override")) divisor = c.maybe_f("divisor_override");
    if (divisor && *divisor == 0) throw error("divisor_override is 0");
    return as_given(average_pool(batched(x, Axes), window_of(c, Axes), c.b("count_include_pad"), divisor), x);
}

template <std::size_t Axes>
results max_unpool(call const& c) {
    tensor const x = c.t("self");
    sizes const spatial = for_each_axis(c, "output_size", Axes, {});
    for (std::size_t i = x.rank() == Axes + 2 ? 1 : 0; i != x.rank(); ++i)
        if (x.size(i) == 0) throw error("only the batch dimension may be empty");
    return as_given(put_to_planes(batched(x, Axes), batched(c.t("indices"), Axes), spatial, put_op::assign), x);
}

/// The starts of the windows of a plane along an axis: [N, C, out].
tensor random_starts(tensor const& samples, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    if (out < 1 || kernel < 1 || out > in || kernel > in - out + 1)
        throw error("windows of size " + std::to_string(kernel) + " do not fit into " + std::to_string(in) +
                    " elements " + std::to_string(out) + " times");
    tensor const last = full(scalar(in - kernel), dtype::int64, {1}, samples.where());
    if (out == 1) return last.expanded({samples.size(0), samples.size(1), 1});
    tensor const alpha = full(scalar(static_cast<double>(in - kernel)), samples.dtype(), {}, samples.where()) /
                         scalar(static_cast<double>(out - 1));
    tensor const s = samples.unsqueezed(2);
    tensor const at = range(out, 0, 1, samples.where());
    tensor const starts = cast((cast(at, samples.dtype()) + s) * alpha, dtype::int64) - cast(s * alpha, dtype::int64);
    return where(equal(at, scalar(out - 1)), last, starts);
}

/// The maximum of windows at random places.
template <std::size_t Axes>
results fractional_max_pool(call const& c) {
    tensor const given = c.t("self");
    tensor const x = batched(given, Axes);
    sizes const kernel = for_each_axis(c, "kernel_size", Axes, {});
    sizes const counts = for_each_axis(c, "output_size", Axes, {});
    tensor const samples = c.t("random_samples");
    if (samples.sizes() != sizes{x.size(0), x.size(1), static_cast<std::int64_t>(Axes)})
        throw error("random_samples must have shape [N, C, " + std::to_string(Axes) + "]");
    sizes to = {x.size(0), x.size(1)};
    tensor places = full(0, dtype::int64, sizes(2 + 2 * Axes, 1), x.where());
    for (std::size_t i = 0; i != Axes; ++i) {
        std::int64_t const size = x.size(i + 2);
        std::size_t const which = Axes == 2 ? 1 - i : i; // two are given as width and height
        tensor const sample = samples.sliced(2, static_cast<std::int64_t>(which), 1).squeezed(2);
        tensor const starts = random_starts(sample, size, counts[i], kernel[i]);
        sizes of_start(2 + 2 * Axes, 1);
        of_start[0] = x.size(0);
        of_start[1] = x.size(1);
        of_start[2 + i] = counts[i];
        sizes of_step(2 + 2 * Axes, 1);
        of_step[2 + Axes + i] = kernel[i];
        tensor const along = reshape(starts, of_start) + reshape(range(kernel[i], 0, 1, x.where()), of_step);
        places = places * scalar(size) + along;
        to.push_back(counts[i]);
    }
    to.push_back(count_of(kernel));
    std::int64_t const plane = count_of(std::span(x.sizes()).subspan(2));
    places = reshape(places, to);
    tensor const values = take(x, in_planes(places, plane));
    std::size_t const last = to.size() - 1;
    // The index of the last NaN, if there is one.
    tensor const numbered = where(isnan(values), range(to[last], 0, 1, x.where()), scalar(-1));
    tensor const last_nan = max(numbered, {-1}, true);
    tensor const best = where(less(last_nan, 0), arg_max(values, -1, true), last_nan);
    return {as_given(take_along(values, best, -1).squeezed(last), given),
            as_given(take_along(places, best, -1).squeezed(last), given)};
}

} // namespace

rows pooling() {
    static constexpr row all[] = {
        {"max_pool1d", max_pool_only<1>},
        {"max_pool2d", max_pool_only<2>},
        {"max_pool3d", max_pool_only<3>},
        {"max_pool1d_with_indices", max_pool_and_indices<1>},
        {"max_pool2d_with_indices", max_pool_and_indices<2>},
        {"max_pool3d_with_indices", max_pool_and_indices<3>},
        {"avg_pool1d", avg_pool<1>},
        {"avg_pool2d", avg_pool<2>},
        {"avg_pool3d", avg_pool<3>},
        {"max_unpool2d", max_unpool<2>},
        {"max_unpool3d", max_unpool<3>},
        {"fractional_max_pool2d", fractional_max_pool<2>},
        {"fractional_max_pool3d", fractional_max_pool<3>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
