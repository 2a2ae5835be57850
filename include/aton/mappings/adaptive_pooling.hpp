// SPDX-License-Identifier: MIT
// Adaptive pooling, whose window sizes follow from the output size.
// Public header.
#pragma once

#include <algorithm>
#include <tuple>

#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/detail/windows.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline bool all_one(safe_span<sym_int const> sizes) {
    return std::all_of(sizes.begin(), sizes.end(), [](sym_int const& s) { return s.is(1); });
}

/// The spatial sizes of x and of the output; `known` is whether all of them are static.
struct adaptive_sizes {
    bool known = true;
    bool divides = true;
    ints in, out, kernel;

    adaptive_sizes(value x, safe_span<sym_int const> output_size) {
        for (std::size_t i = 0; i != output_size.size(); ++i) {
            dim const& d = x.size(static_cast<std::int64_t>(i) + 2);
            known = known && d.is_static() && output_size[i].is_constant();
            if (!known) return;
            if (d.size() == 0) throw unsupported_error("adaptive pooling of a dimension of size 0");
            in.push_back(d.size());
            out.push_back(output_size[i].constant());
            divides = divides && out[i] > 0 && in[i] % out[i] == 0;
            kernel.push_back(out[i] > 0 ? in[i] / out[i] : 0);
        }
    }
    [[nodiscard]] window_table table() const {
        safe_vector<axis_windows> axes;
        for (std::size_t i = 0; i != in.size(); ++i) axes.push_back(adaptive(in[i], out[i]));
        return combine(axes);
    }
};

inline safe_vector<sym_int> broadcast_sizes(safe_span<sym_int const> given, std::size_t n) {
    if (given.size() == 1) return safe_vector<sym_int>(n, given[0]);
    return {given.begin(), given.end()};
}

/// Averages along one axis of any size: a product with a matrix that the graph computes, 1/count where a window covers an element.
inline value average_along(graph<13> g, value x, std::int64_t axis, sym_int out) {
    sym_int const in = g.size(x, axis);
    value const n = g.to_value(in);
    value const o = arithmetic_sequence(g, 0, out);
    value const m = g.to_value(out);
    value const start = g.op<"Div">(g.op<"Mul">(o, n), m);
    value const next = g.op<"Add">(g.op<"Mul">(g.op<"Add">(o, 1), n), g.op<"Sub">(m, 1));
    value const end = g.op<"Div">(next, m);
    value const at = unsqueeze(g, arithmetic_sequence(g, 0, in), 1);
    value const inside = g.op<"And">(g.op<"GreaterOrEqual">(at, start), g.op<"Less">(at, end));
    value const count = g.cast(g.op<"Sub">(end, start), x.dtype());
    value const weights = g.op<"Div">(g.cast(inside, x.dtype()), count);
    return swap_axes(g, g.op<"MatMul">(swap_axes(g, x, axis, -1), weights), axis, -1);
}

inline value adaptive_average(graph<13> g, value x, safe_span<sym_int const> output_size) {
    if (!is_floating(x.dtype())) return g.unsupported("adaptive average pooling of integers");
    if (all_one(output_size)) return g.op<"GlobalAveragePool">(x);
    adaptive_sizes const s(x, output_size);
    if (!s.known) {
        for (std::size_t i = 0; i != output_size.size(); ++i)
            x = average_along(g, x, static_cast<std::int64_t>(i) + 2, output_size[i]);
        return x;
    }
    if (s.in == s.out) return x;
    if (s.divides) return g.op<"AveragePool">(x, attr::kernel_shape_i(s.kernel), attr::strides_i(s.kernel));
    window_table const t = s.table();
    value const sum = reduce_sum(g, gather_windows(g, x, t, 0), ints{2}, false);
    return unflatten(g, g.op<"Div">(sum, g.cast(g.ints(t.counts()), x.dtype())), t);
}

/// The maximum of each plane and its index; works for dynamic sizes.
inline std::tuple<value, value> global_max(graph<13> g, value x) {
    safe_vector<sym_int> const sizes = g.sizes(x);
    value const flat_plane = reshape(g, x, {sizes[0], sizes[1], -1});
    ints const axes = iota(x.rank());
    value const at = g.op<"ArgMax">(flat_plane, attr::axis_i(2), attr::keepdims_i(1));
    auto const spatial = safe_span(axes).subspan(3);
    return {reduce<"ReduceMax">(g, x, safe_span(axes).subspan(2), true),
            spatial.empty() ? at : unsqueeze(g, at, spatial)};
}

inline std::tuple<value, value> adaptive_max(graph<13> g, value x, safe_span<sym_int const> output_size) {
    if (all_one(output_size)) return global_max(g, x);
    adaptive_sizes const s(x, output_size);
    if (!s.known) return g.unsupported("adaptive max pooling over a dynamic height or width");
    if (std::find(s.out.begin(), s.out.end(), 0) != s.out.end()) return g.unsupported("adaptive max pooling to size 0");
    if (s.divides && is_floating(x.dtype())) {
        auto const [y, flat_index] =
            g.op<"MaxPool">(x, outputs<2>, attr::kernel_shape_i(s.kernel), attr::strides_i(s.kernel));
        return {y, g.op<"Mod">(flat_index, s.table().plane)};
    }
    window_table const t = s.table().with_padding_last();
    return {max_of_windows(g, x, t), argmax_of_windows(g, x, t)};
}

template <std::size_t N>
inline constexpr auto adaptive_avg_pool = [](graph<13> g, value self, safe_span<sym_int const> output_size) {
    auto const sizes = broadcast_sizes(output_size, N);
    return widened(g, self, [&](value x) {
        return with_batch(g, x, N, [&](value batch) { return adaptive_average(g, batch, sizes); });
    });
};

template <std::size_t N>
inline constexpr auto adaptive_max_pool =
    [](graph<13> g, value self, safe_span<sym_int const> output_size) -> std::tuple<value, value> {
    auto const sizes = broadcast_sizes(output_size, N);
    bool const narrow = self.dtype() == dtype::bfloat16 && g.opset() < 22;
    value const x = narrow ? g.cast(self, dtype::float32) : self;
    auto const [y, indices] = with_batch_pair(g, x, N, [&](value batch) { return adaptive_max(g, batch, sizes); });
    return {g.cast(y, self.dtype()), indices};
};

} // namespace detail

// clang-format off: one row per line
inline constexpr auto adaptive_pooling = table(
    symbolic<"aten::adaptive_avg_pool1d(self, output_size)">(detail::adaptive_avg_pool<1>),
    symbolic<"aten::adaptive_avg_pool2d(self, output_size)">(detail::adaptive_avg_pool<2>),
    symbolic<"aten::adaptive_avg_pool3d(self, output_size)">(detail::adaptive_avg_pool<3>),
    symbolic<"aten::_adaptive_avg_pool2d(self, output_size)">(detail::adaptive_avg_pool<2>),
    symbolic<"aten::_adaptive_avg_pool3d(self, output_size)">(detail::adaptive_avg_pool<3>),
    symbolic<"aten::adaptive_max_pool1d(self, output_size)">(detail::adaptive_max_pool<1>),
    symbolic<"aten::adaptive_max_pool2d(self, output_size)">(detail::adaptive_max_pool<2>),
    symbolic<"aten::adaptive_max_pool3d(self, output_size)">(detail::adaptive_max_pool<3>));
// clang-format on

} // namespace ATON_NAMESPACE::mappings
