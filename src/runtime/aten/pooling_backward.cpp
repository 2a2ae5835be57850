// SPDX-License-Identifier: MIT
// ATen operators: the gradients of pools.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/compute/normalization.hpp"
#include "runtime/compute/spatial.hpp"
#include <aton/core/error.hpp>

#include "pooling.hpp"
#include "positions.hpp"
#include "term.hpp"

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

void expect_planes(tensor const& x, tensor const& gradient, std::size_t axes) {
    if (gradient.rank() != x.rank() || (x.rank() != axes + 1 && x.rank() != axes + 2))
        throw error("the input and the gradient must have " + std::to_string(axes + 1) + " or " +
                    std::to_string(axes + 2) + " dimensions");
}

/// What each element of a window receives of its gradient; integers are truncated.
tensor share_of_windows(tensor const& gradient, tensor const& ones, window const& w, call const& c) {
    auto const average_of = [&](tensor const& x) {
        return average_pool(x, w, c.b("count_include_pad"), c.maybe_f("divisor_override"));
    };
    if (is_floating(gradient.dtype()))
        return cast(gradient * (average_of(ones) / sum_pool(ones, w)), c.t("self").dtype());
    tensor const wide = cast(ones, dtype::float64);
    tensor const count = cast(round(sum_pool(wide, w) / average_of(wide)), gradient.dtype());
    return binary(binary_op::div, gradient, count);
}

template <std::size_t Axes>
results avg_pool_backward(call const& c) {
    tensor const x = c.t("self");
    expect_planes(x, c.t("grad_output"), Axes);
    if (c.maybe_f("divisor_override") == 0.0) throw error("divisor_override is 0");
    if (!is_floating(x.dtype()) && x.dtype() != dtype::int64) throw error("the input is neither floats nor int64");
    if (c.t("grad_output").dtype() != x.dtype()) throw error("grad_output and self must have the same dtype");
    dtype const in = compute_type(x.dtype());
    tensor const gradient = cast(batched(c.t("grad_output"), Axes), in);
    window w = window_of(c, Axes);
    tensor const ones = full(1, in, batched(x, Axes).sizes(), x.where());
    tensor share = share_of_windows(gradient, ones, w, c);
    sizes to = share.sizes();
    for (std::int64_t const size : w.kernel) {
        share = share.unsqueezed(share.rank());
        to.push_back(size);
    }
    // In reverse order, since float16 is rounded window by window.
    sizes before(Axes + 2, 0);
    sizes after(Axes + 2, 0);
    sizes reach;
    for (std::size_t i = 0; i != Axes; ++i) {
        reach.push_back(w.reach(i, share.size(i + 2)));
        before[i + 2] = -w.before[i];
        after[i + 2] = w.before[i] + ones.size(i + 2) - reach[i];
    }
    w.before.assign(Axes, 0);
    w.after = w.before;
    auto const backwards = [](tensor t) {
        for (std::size_t i = 2; i != Axes + 2; ++i) t = t.sliced(i, t.size(i) - 1, t.size(i), -1);
        return t;
    };
    return as_given(pad(backwards(fold(backwards(share.expanded(to)), w, reach)), before, after, 0), x);
}

template <std::size_t Axes>
results max_pool_backward(call const& c) {
    tensor const x = c.t("self");
    expect_planes(x, c.t("grad_output"), Axes);
    tensor const gradient = cast(batched(c.t("grad_output"), Axes), compute_type(x.dtype()));
    sizes const spatial(x.sizes().end() - Axes, x.sizes().end());
    tensor const out = put_to_planes(gradient, batched(c.t("indices"), Axes), spatial, put_op::add);
    return cast(as_given(out, x), x.dtype());
}

/// As ATen does, adds in the dtype of the gradient.
template <std::size_t Axes>
results adaptive_max_pool_backward(call const& c) {
    tensor const x = c.t("self");
    tensor const gradient = c.t("grad_output");
    expect_planes(x, gradient, Axes);
    if (!is_floating(x.dtype()) || gradient.dtype() != x.dtype())
        throw error("the input and the gradient must have the same floating-point dtype");
    if (c.t("indices").sizes() != gradient.sizes()) throw error("the indices must have the sizes of the gradient");
    for (std::size_t i = x.rank() - Axes - 1; i != x.rank(); ++i)
        if (gradient.size(i) == 0) throw error("the gradient has a size of 0 beside the batch");
    sizes const spatial(x.sizes().end() - Axes, x.sizes().end());
    return as_given(put_to_planes(batched(gradient, Axes), batched(c.t("indices"), Axes), spatial, put_op::add), x);
}

/// Adds the share of each window to its elements, axis by axis.
template <std::size_t Axes>
results adaptive_avg_pool_backward(call const& c) {
    tensor const x = c.t("self");
    expect_planes(x, c.t("grad_output"), Axes);
    tensor y = cast(batched(c.t("grad_output"), Axes), compute_type(x.dtype()));
    for (std::size_t i = 2; i != Axes + 2; ++i) {
        adaptive const a{x.size(x.rank() + i - Axes - 2), y.size(i)};
        constexpr std::int64_t max_size = std::int64_t{1} << 28;
        if (a.out > adaptive::max_windows || a.in > max_size) // even if the batch is empty
            throw error(std::to_string(a.out) + " windows of " + std::to_string(a.in) + " elements are too many");
        std::vector<std::int64_t> windows;
        std::vector<std::int64_t> elements;
        std::vector<double> counts;
        for (std::int64_t o = 0; o != a.out; ++o)
            for (std::int64_t k = a.start(o); k != a.end(o); ++k) {
                windows.push_back(o);
                elements.push_back(k);
                counts.push_back(static_cast<double>(a.end(o) - a.start(o)));
            }
        auto const n = static_cast<std::int64_t>(windows.size());
        tensor const of_window = tensor::empty(dtype::int64, {n});
        tensor const of_element = tensor::empty(dtype::int64, {n});
        tensor const count = tensor::empty(dtype::float64, {n});
        std::copy(windows.begin(), windows.end(), of_window.data<std::int64_t>());
        std::copy(elements.begin(), elements.end(), of_element.data<std::int64_t>());
        std::copy(counts.begin(), counts.end(), count.data<double>());
        auto const axis = static_cast<std::int64_t>(i);
        tensor const seen = index_select(y, axis, to_device(of_window, y.where()));
        tensor const share = seen / cast(along_axis(to_device(count, y.where()), y.rank(), i), y.dtype());
        sizes to = y.sizes();
        to[i] = a.in;
        tensor const zeros = full(0, y.dtype(), to, y.where());
        y = put(zeros, slice_positions(to, i, to_device(of_element, y.where())), share, put_op::add);
    }
    return as_given(cast(y, x.dtype()), x);
}

} // namespace

rows pooling_backward() {
    static constexpr row all[] = {
        {"_adaptive_avg_pool2d_backward", adaptive_avg_pool_backward<2>},
        {"_adaptive_avg_pool3d_backward", adaptive_avg_pool_backward<3>},
        {"adaptive_max_pool2d_backward", adaptive_max_pool_backward<2>},
        {"adaptive_max_pool3d_backward", adaptive_max_pool_backward<3>},
        {"avg_pool2d_backward", avg_pool_backward<2>},
        {"avg_pool3d_backward", avg_pool_backward<3>},
        {"max_pool2d_with_indices_backward", max_pool_backward<2>},
        {"max_pool3d_with_indices_backward", max_pool_backward<3>},
    };
    return all;
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
