// SPDX-License-Identifier: MIT
// The gradients of max, average and adaptive average pools.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <aton/mappings/adaptive_pooling.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/transposed_convolution.hpp>
#include <aton/mappings/detail/unary.hpp>
#include <aton/mappings/pooling.hpp>
#include <aton/mappings/scatter.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline void expect_rank(value x, value grad, std::size_t n) {
    auto const spatial = static_cast<std::int64_t>(n);
    if (x.rank() != grad.rank() || (x.rank() != spatial + 1 && x.rank() != spatial + 2))
        throw unsupported_error("the gradient of a pool over an input of rank " + std::to_string(x.rank()));
}

/// x with its last n dimensions flattened into one.
inline value flat_planes(graph<7> g, value x, std::size_t n) {
    safe_vector<sym_int> sizes = g.sizes(x);
    sym_int const plane = product(last_sizes(g, x, n));
    sizes.resize(sizes.size() - n);
    sizes.push_back(plane);
    return reshape(g, x, sizes);
}

/// Windows at a distance of `apart` along each axis do not overlap. Each such subset of them is written to zeros, and
/// the results are added: for opsets in which ScatterElements cannot add.
inline value sum_of_subsets(graph<9> g, value zeros, value grad, value indices, ints const& apart) {
    std::int64_t const lead = grad.rank() - static_cast<std::int64_t>(apart.size());
    checked_int count = 1;
    for (std::int64_t m : apart) count = count * m;
    budget::expect("subsets of windows", count);
    std::optional<value> sum;
    for (std::int64_t k = 0; k != count; ++k) {
        value part = grad;
        value at = indices;
        std::int64_t rest = k;
        bool none = false;
        for (std::size_t i = 0; i != apart.size(); ++i) {
            std::int64_t const axis = lead + static_cast<std::int64_t>(i);
            std::int64_t const first = rest % apart[i];
            rest /= apart[i];
            none = none || (grad.size(axis).is_static() && grad.size(axis).size() <= first);
            if (none || apart[i] == 1) continue;
            part = slice(g, part, axis, first, to_the_end, apart[i]);
            at = slice(g, at, axis, first, to_the_end, apart[i]);
        }
        if (none) continue;
        value const written =
            write_elements_at(g, zeros, flat_planes(g, at, apart.size()), flat_planes(g, part, apart.size()), lead);
        sum = sum ? value(g.op<"Add">(*sum, written)) : written;
    }
    return sum.value_or(zeros);
}

/// Adds each gradient to the element of the plane that was the maximum. Windows at a distance of apart() do not overlap.
template <class Apart>
value scattered_gradients(graph<16> g, value zeros, value grad, value indices, std::size_t n, Apart const& /*apart*/) {
    return g.op<"ScatterElements">(zeros,
                                   flat_planes(g, indices, n),
                                   flat_planes(g, grad, n),
                                   attr::axis_i(zeros.rank() - 1),
                                   attr::reduction_s("add"));
}
template <class Apart>
value scattered_gradients(graph<9, 15> g, value zeros, value grad, value indices, std::size_t /*n*/,
                          Apart const& apart) {
    return sum_of_subsets(g, zeros, grad, indices, apart());
}

template <std::size_t N, class Graph, class Apart>
value max_pool_gradient(Graph g, value grad, value self, value indices, Apart const& apart) {
    expect_rank(self, grad, N);
    dtype const wide = opmath_type(self.dtype());
    if (!is_floating(wide)) return g.unsupported("the gradient of a pool of integers");
    safe_vector<sym_int> planes = g.sizes(self);
    sym_int const plane = product(last_sizes(g, self, N));
    planes.resize(planes.size() - N);
    planes.push_back(plane);
    value const zeros = filled(g, planes, 0, wide);
    if (is_empty(grad) || is_empty(self)) return g.cast(reshape(g, zeros, g.sizes(self)), self.dtype());
    value const y = scattered_gradients(g, zeros, g.cast(grad, wide), g.cast(indices, dtype::int64), N, apart);
    return g.cast(reshape(g, y, g.sizes(self)), self.dtype());
}

template <std::size_t N, class Graph>
inline constexpr auto max_pool_backward = [](Graph g, value grad, value self, int_list kernel, int_list stride,
                                             int_list padding, int_list dilation, bool ceil_mode,
                                             value indices) -> value {
    pool_windows const p(N, kernel, stride, padding, dilation, ceil_mode);
    return max_pool_gradient<N>(g, grad, self, indices, [&] {
        ints apart;
        for (std::size_t i = 0; i != p.n; ++i)
            apart.push_back((checked_int(p.extent(i)) + p.stride[i] - 1) / p.stride[i]);
        return apart;
    });
};

/// Below opset 16, the sizes decide which windows overlap.
template <std::size_t N, class Graph>
inline constexpr auto adaptive_max_pool_backward = [](Graph g, value grad, value self, value indices) -> value {
    return max_pool_gradient<N>(g, grad, self, indices, [&] {
        ints apart;
        for (std::int64_t axis = self.rank() - static_cast<std::int64_t>(N); axis != self.rank(); ++axis) {
            if (!self.size(axis).is_static() || !grad.size(axis).is_static())
                refuse_below(16, "the gradient of an adaptive pool over a dynamic size");
            std::int64_t const in = self.size(axis).size();
            std::int64_t const out = grad.size(axis).size();
            bool const disjoint = in == 0 || out == 0 || in % out == 0;
            apart.push_back(disjoint ? checked_int(1) : (checked_int(out) + in - 1) / in + 1);
        }
        return apart;
    });
};

/// ATen's divisors of the windows along one axis, where the graph computes the number of elements or of windows.
inline value divisors_along(graph<7> g, sym_int in, sym_int out, pool_windows const& p, std::size_t i, bool padded) {
    value const start = arithmetic_sequence(g, -p.padding[i], out, p.stride[i]);
    value const end = min_of(g, g.op<"Add">(start, p.kernel[i]), g.to_value(padded ? in + p.padding[i] : in));
    return g.op<"Sub">(end, padded ? start : value(max_of(g, start, 0)));
}

/// Gradients of windows divided by ATen's divisors of these windows.
inline value shares(graph<7> g, value grad, safe_span<sym_int const> in, pool_windows const& p, bool count_include_pad,
                    std::optional<std::int64_t> divisor) {
    if (divisor && *divisor == 0) throw unsupported_error("divisor_override of 0");
    if (divisor || (count_include_pad && !p.ceil_mode))
        return g.op<"Div">(grad, static_cast<double>(divisor ? *divisor : p.volume()));
    safe_vector<sym_int> const out = last_sizes(g, grad, p.n);
    if (all_constant(in) && all_constant(out)) {
        tensor by{dtype::float64, constants(out), {}};
        ints const counts = divisors(p, constants(in), count_include_pad);
        if (by.element_count() != static_cast<std::int64_t>(counts.size()))
            throw unsupported_error("a gradient whose size is not that of the pool's result");
        for (std::int64_t n : counts) by.append(static_cast<double>(n));
        return g.op<"Div">(grad, g.constant(by.to(grad.dtype())));
    }
    std::optional<value> by;
    for (std::size_t i = 0; i != p.n; ++i) {
        value const along = divisors_along(g, in[i], out[i], p, i, count_include_pad);
        by = by ? value(g.op<"Mul">(unsqueeze(g, *by, by->rank()), along)) : along;
    }
    return g.op<"Div">(grad, g.cast(*by, grad.dtype()));
}

/// A transposed convolution of one channel per plane, whose weights are 1.
template <std::size_t N>
inline constexpr auto avg_pool_backward = [](graph<7> g, value grad, value self, int_list kernel, int_list stride,
                                             int_list padding, bool ceil_mode, bool count_include_pad,
                                             std::optional<std::int64_t> divisor) -> value {
    pool_windows const p(N, kernel, stride, padding, {}, ceil_mode);
    expect_rank(self, grad, N);
    dtype const wide = opmath_type(self.dtype());
    if (!is_floating(wide)) return g.unsupported("the gradient of an average pool of integers");
    if (is_empty(grad) || is_empty(self)) return filled(g, g.sizes(self), 0, self.dtype());
    safe_vector<sym_int> const in = last_sizes(g, self, N);
    value const share = shares(g, g.cast(grad, wide), in, p, count_include_pad, divisor);
    safe_vector<sym_int> one_channel = last_sizes(g, grad, N);
    one_channel.insert(one_channel.begin(), {-1, 1});
    ints weight_sizes{1, 1};
    weight_sizes.insert(weight_sizes.end(), p.kernel.begin(), p.kernel.end());
    budget::expect("a kernel", p.volume());
    tensor ones{wide, {weight_sizes.begin(), weight_sizes.end()}, {}};
    for (std::int64_t i = 0; i != p.volume(); ++i) ones.append(1.0);
    value const y = transposed_to(
        g, reshape(g, share, one_channel), g.constant(std::move(ones)), in, p.stride, p.padding, p.dilation, 1);
    return g.cast(reshape(g, y, g.sizes(self)), self.dtype());
};

/// Gathers and adds along one axis what the windows that contain each element have as their share. These windows are
/// those of the adaptive pool in the other direction.
inline value spread_along(graph<9> g, value y, std::int64_t axis, sym_int in) {
    sym_int const out = g.size(y, axis);
    std::int64_t const following = y.rank() - axis - 1;
    if (out.is(1)) {
        safe_vector<sym_int> to(static_cast<std::size_t>(y.rank()), -1);
        to[static_cast<std::size_t>(axis)] = in;
        value const by = g.cast(g.to_value(in), y.dtype());
        return expand(g, g.op<"Div">(y, by), to);
    }
    value const counts = windows_along(g, in, out).counts;
    value const share = g.op<"Div">(y, g.cast(beside_axes(g, counts, following), y.dtype()));
    computed_windows const back = windows_along(g, out, in);
    value const seen = gather_of(g, share, back.at, axis);
    value const counted = g.op<"Where">(beside_axes(g, back.counted, following), seen, g.scalar_like(0, seen));
    return reduce_sum(g, counted, ints{axis}, false);
}
/// The same with tables that are computed at export.
inline value spread_along(graph<9> g, value y, std::int64_t axis, std::int64_t in, std::int64_t out) {
    if (in == out) return y;
    if (in == 0 || out == 0) throw unsupported_error("the gradient of an adaptive pool of size 0");
    std::int64_t const following = y.rank() - axis - 1;
    tensor by{dtype::float64, {out}, {}};
    for (ints const& taps : adaptive(in, out).taps)
        by.append(static_cast<double>(std::count_if(taps.begin(), taps.end(), [](auto at) { return at >= 0; })));
    value const share = g.op<"Div">(y, beside_axes(g, g.constant(by.to(y.dtype())), following));
    axis_windows const back = adaptive(out, in);
    tensor at{dtype::int64, {back.length(), in}, {}};
    tensor counted{dtype::bool_, {back.length(), in}, {}};
    bool partial = false;
    for (std::int64_t k = 0; k != back.length(); ++k)
        for (ints const& taps : back.taps) {
            std::int64_t const tap = taps[static_cast<std::size_t>(k)];
            partial = partial || tap < 0;
            at.append(std::max<std::int64_t>(tap, 0));
            counted.append(tap >= 0);
        }
    value seen = gather_of(g, share, g.constant(std::move(at)), axis);
    if (partial) {
        value const mask = beside_axes(g, g.constant(std::move(counted)), following);
        seen = g.op<"Where">(mask, seen, g.scalar_like(0, seen));
    }
    return back.length() == 1 ? squeeze(g, seen, axis) : reduce_sum(g, seen, ints{axis}, false);
}

template <std::size_t N>
inline constexpr auto adaptive_avg_pool_backward = [](graph<9> g, value grad, value self) -> value {
    expect_rank(self, grad, N);
    if (!is_floating(self.dtype())) return g.unsupported("the gradient of an average pool of integers");
    return in_opmath(g, g.cast(grad, self.dtype()), [&](value y) {
        for (std::int64_t axis = self.rank() - 1; axis != self.rank() - 1 - static_cast<std::int64_t>(N); --axis) {
            dim const& in = self.size(axis);
            dim const& out = y.size(axis);
            bool const known = in.is_static() && out.is_static() && out.size() != 1;
            y = known ? spread_along(g, y, axis, in.size(), out.size()) : spread_along(g, y, axis, g.size(self, axis));
        }
        return y;
    });
};

} // namespace detail

inline constexpr auto pooling_backward =
    table(symbolic<"aten::max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, "
                   "ceil_mode, indices)">(detail::max_pool_backward<2, graph<16>>),
          symbolic<"aten::max_pool2d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, "
                   "ceil_mode, indices)">(detail::max_pool_backward<2, graph<9, 15>>),
          symbolic<"aten::max_pool3d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, "
                   "ceil_mode, indices)">(detail::max_pool_backward<3, graph<16>>),
          symbolic<"aten::max_pool3d_with_indices_backward(grad_output, self, kernel_size, stride, padding, dilation, "
                   "ceil_mode, indices)">(detail::max_pool_backward<3, graph<9, 15>>),
          symbolic<"aten::adaptive_max_pool2d_backward(grad_output, self, indices)">(
              detail::adaptive_max_pool_backward<2, graph<16>>),
          symbolic<"aten::adaptive_max_pool2d_backward(grad_output, self, indices)">(
              detail::adaptive_max_pool_backward<2, graph<9, 15>>),
          symbolic<"aten::adaptive_max_pool3d_backward(grad_output, self, indices)">(
              detail::adaptive_max_pool_backward<3, graph<16>>),
          symbolic<"aten::adaptive_max_pool3d_backward(grad_output, self, indices)">(
              detail::adaptive_max_pool_backward<3, graph<9, 15>>),
          symbolic<"aten::avg_pool2d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, "
                   "count_include_pad, divisor_override)">(detail::avg_pool_backward<2>),
          symbolic<"aten::avg_pool3d_backward(grad_output, self, kernel_size, stride, padding, ceil_mode, "
                   "count_include_pad, divisor_override)">(detail::avg_pool_backward<3>),
          symbolic<"aten::_adaptive_avg_pool2d_backward(grad_output, self)">(detail::adaptive_avg_pool_backward<2>),
          symbolic<"aten::_adaptive_avg_pool3d_backward(grad_output, self)">(detail::adaptive_avg_pool_backward<3>));

} // namespace ATON_NAMESPACE::mappings
