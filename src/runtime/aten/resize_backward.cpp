// SPDX-License-Identifier: MIT
// ATen operators: the gradients of resizing. As in ATen, each gradient is added to the elements that the result was read from.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include <aton/core/error.hpp>

#include "pooling.hpp"
#include "positions.hpp"
#include "resizing.hpp"
#include "runtime/check_allocation.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

/// Adds the gradients of an axis, times their weights, to the elements that they were read from.
tensor spread(tensor const& resize_gradient, std::size_t axis, axis_taps const& t, std::int64_t in) {
    std::vector<std::int64_t> outputs;
    for (std::size_t i = 0; i != t.indices.size(); ++i) outputs.push_back(static_cast<std::int64_t>(i) / t.taps);
    auto const here = [&](std::vector<std::int64_t> const& all) {
        return to_device(tensor::of_integers(all), resize_gradient.where());
    };
    tensor share = index_select(resize_gradient, static_cast<std::int64_t>(axis), here(outputs));
    if (!t.weights.empty()) {
        tensor const weights = tensor::empty(dtype::float64, {static_cast<std::int64_t>(t.weights.size())});
        std::copy(t.weights.begin(), t.weights.end(), weights.data<double>());
        tensor const along = along_axis(to_device(weights, resize_gradient.where()), resize_gradient.rank(), axis);
        share = share * cast(along, resize_gradient.dtype());
    }
    sizes to = resize_gradient.sizes();
    to[axis] = in;
    tensor const zeros = full(0, resize_gradient.dtype(), to, resize_gradient.where());
    return put(zeros, slice_positions(to, axis, here(t.indices)), share, put_op::add);
}

std::vector<resized_axis> gradient_axes(call const& c, tensor const& resize_gradient, std::size_t axes) {
    static constexpr std::string_view of_three[] = {"scales_d", "scales_h", "scales_w"};
    sizes const out = c.ints("output_size");
    sizes const in = c.ints("input_size");
    if (out.size() != axes || in.size() != axes + 2)
        throw error("output_size and input_size must have " + std::to_string(axes) + " and " +
                    std::to_string(axes + 2) + " elements");
    sizes expected(in.begin(), in.begin() + 2);
    expected.insert(expected.end(), out.begin(), out.end());
    (void)count_of(in); // throws for negative or too large sizes
    if (resize_gradient.sizes() != expected) throw error("the gradient must have shape " + to_string(expected));
    std::vector<resized_axis> all;
    for (std::size_t i = 0; i != axes; ++i) {
        std::string_view const single = of_three[3 - axes + i];
        resized_axis r{in[i + 2], out[i], c.maybe_f(c.has_argument(single) ? single : "scales")};
        if (r.in < 1 || r.out < 1) throw error("an axis of the input or of the result has size 0");
        check_fits_in_memory({r.out, max_taps}, dtype::float64); // even if the batch is empty
        if (c.has_argument("align_corners")) r.corners = c.b("align_corners");
        r.copies = true; // whatever the number of axes, unlike forwards
        all.push_back(r);
    }
    return all;
}

template <std::size_t Axes, taps_function InDouble, taps_function InFloat, bool Cubic = false>
results resize_gradient(call const& c) {
    tensor const given = c.t("grad_output");
    std::vector<resized_axis> const all = gradient_axes(c, given, Axes);
    if (!is_floating(given.dtype())) throw error("the gradient of an interpolation must be floating-point");
    if (Cubic && std::all_of(all.begin(), all.end(), [](resized_axis const& r) { return r.in == r.out; })) return given;
    tensor y = cast(given, compute_type(given.dtype()));
    for (std::size_t i = Axes; i-- != 0;)
        y = spread(y, i + 2, (y.dtype() == dtype::float64 ? InDouble : InFloat)(all[i]), all[i].in);
    return cast(y, given.dtype());
}

template <std::size_t Axes, bool Exact>
constexpr kernel nearest_gradient = resize_gradient<Axes, nearest_taps<Exact>, nearest_taps<Exact>>;
template <std::size_t Axes>
constexpr kernel linear_gradient = resize_gradient<Axes, linear_taps<double>, linear_taps<float>>;
constexpr kernel cubic_gradient = resize_gradient<2, cubic_taps<double>, cubic_taps<float>, true>;

} // namespace

rows resize_backward() {
    static constexpr row all[] = {
        {"upsample_nearest1d_backward", nearest_gradient<1, false>},
        {"upsample_nearest2d_backward", nearest_gradient<2, false>},
        {"upsample_nearest3d_backward", nearest_gradient<3, false>},
        {"_upsample_nearest_exact1d_backward", nearest_gradient<1, true>},
        {"_upsample_nearest_exact2d_backward", nearest_gradient<2, true>},
        {"_upsample_nearest_exact3d_backward", nearest_gradient<3, true>},
        {"upsample_linear1d_backward", linear_gradient<1>},
        {"upsample_bilinear2d_backward", linear_gradient<2>},
        {"upsample_trilinear3d_backward", linear_gradient<3>},
        {"upsample_bicubic2d_backward", cubic_gradient},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
