// SPDX-License-Identifier: MIT
// Adaptive pooling, whose window sizes follow from the output size.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/unary.hpp>
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

/// The windows along one axis whose size or number of windows only the graph knows. Tables of int64 and bool, [longest
/// window, windows]: the positions, where shorter windows repeat their last element, and whether an entry is not such a
/// repetition.
struct computed_windows {
    value at;
    value counted;
    value counts; ///< int64 [windows]: the number of elements
};
inline computed_windows windows_along(graph<7> g, sym_int in, sym_int out) {
    value const n = g.to_value(in);
    value const m = g.to_value(max(out, 1)); // no division by 0 where there are no windows
    value const i = arithmetic_sequence(g, 0, out);
    value const first = g.op<"Div">(g.op<"Mul">(i, n), m);
    value const last = g.op<"Div">(g.op<"Sub">(g.op<"Mul">(g.op<"Add">(i, 1), n), 1), m);
    value const counts = g.op<"Add">(g.op<"Sub">(last, first), 1);
    sym_int const longest = reduce<"ReduceMax">(g, counts, ints{0}, false);
    value const entry = g.op<"Add">(unsqueeze(g, arithmetic_sequence(g, 0, longest), 1), first);
    return {min_of(g, entry, last), is_at_most(g, entry, last), counts};
}

/// Appends dimensions of size 1 to a table, so that it broadcasts against n more axes.
inline value beside_axes(graph<7> g, value table, std::int64_t n) {
    ints axes;
    for (std::int64_t i = 0; i < n; ++i) axes.push_back(table.rank() + i);
    return n <= 0 ? table : unsqueeze(g, table, axes);
}

/// Averages along one axis of any size. Where, not a product with 0, drops the repetitions: they may be infinite or NaN.
inline value average_along(graph<9> g, value x, std::int64_t axis, sym_int out) {
    if (out.is(1)) return reduce<"ReduceMean">(g, x, ints{axis}, true);
    computed_windows const w = windows_along(g, g.size(x, axis), out);
    std::int64_t const following = x.rank() - axis - 1;
    value const seen = gather_of(g, x, w.at, axis);
    value const counted = g.op<"Where">(beside_axes(g, w.counted, following), seen, g.scalar_like(0, seen));
    value const counts = g.cast(beside_axes(g, w.counts, following), x.dtype());
    return g.op<"Div">(reduce_sum(g, counted, ints{axis}, false), counts);
}

/// Whether the result of the call is known to have the same size along an axis as x.
inline bool keeps_size(graph<7> g, value x, std::int64_t axis, sym_int out) {
    dim const& d = x.size(axis);
    if (d.is_static() || g.context().expected.empty()) return d.is_static() && out.is(d.size());
    shape const& expected = g.context().expected[0].shape;
    std::int64_t const at = static_cast<std::int64_t>(expected.rank()) - x.rank() + axis; // without a batch, one less
    return at >= 0 && d.same_as(expected[static_cast<std::size_t>(at)]);
}

inline value adaptive_average(graph<9> g, value x, safe_span<sym_int const> output_size) {
    if (!is_floating(x.dtype())) return g.unsupported("adaptive average pooling of integers");
    if (all_one(output_size)) return g.op<"GlobalAveragePool">(x);
    adaptive_sizes const s(x, output_size);
    if (!s.known)
        return in_opmath(g, x, [&](value y) {
            for (std::int64_t axis = x.rank() - 1; axis != 1; --axis)
                if (sym_int const& out = output_size[static_cast<std::size_t>(axis - 2)]; !keeps_size(g, x, axis, out))
                    y = average_along(g, y, axis, out);
            return y;
        });
    if (s.in == s.out) return x;
    if (std::all_of(s.in.begin(), s.in.end(), [](std::int64_t n) { return n == 1; })) {
        safe_vector<sym_int> sizes = g.sizes(x);
        std::copy(s.out.begin(), s.out.end(), sizes.begin() + 2);
        return expand(g, x, sizes);
    }
    if (s.divides) return g.op<"AveragePool">(x, attr::kernel_shape_i(s.kernel), attr::strides_i(s.kernel));
    window_table const t = s.table();
    value const sum = reduce_sum(g, gather_windows(g, x, t, 0), ints{2}, false);
    return unflatten(g, g.op<"Div">(sum, g.cast(g.ints(t.counts()), x.dtype())), t);
}

/// The maximum of each plane and its index; works for dynamic sizes.
inline std::tuple<value, value> global_max(graph<8> g, value x) {
    safe_vector<sym_int> const sizes = g.sizes(x);
    value const flat_plane = reshape(g, x, {sizes[0], sizes[1], -1});
    ints const axes = iota(x.rank());
    value const at = g.op<"ArgMax">(flat_plane, attr::axis_i(2), attr::keepdims_i(1));
    auto const spatial = safe_span(axes).subspan(3);
    auto const pool = [&](value each) { return reduce<"ReduceMax">(g, each, safe_span(axes).subspan(2), true); };
    return with_nan(g, x, {pool(x), spatial.empty() ? at : unsqueeze(g, at, spatial)}, pool);
}

/// Maxima and their indices where only the graph knows a size. ATen takes the first maximum, but of NaN, which is
/// greater, the last.
inline std::tuple<value, value> computed_max(graph<9> g, value x, safe_span<sym_int const> output_size) {
    if (!is_floating(x.dtype())) throw unsupported_error("adaptive max pooling of integers");
    value seen = x; // (batch, channel, window, out, window, out, ...)
    std::optional<value> place;
    ints windows;
    for (std::size_t i = 0; i != output_size.size(); ++i) {
        sym_int const in = g.size(x, static_cast<std::int64_t>(i) + 2);
        value const at = windows_along(g, in, output_size[i]).at;
        windows.push_back(static_cast<std::int64_t>(2 * i) + 2);
        seen = gather_of(g, seen, at, windows.back());
        place = place ? value(g.op<"Add">(beside_axes(g, g.op<"Mul">(*place, in), 2), at)) : at;
    }
    value const largest = reduce<"ReduceMax">(g, seen, windows, true);
    if (!g.exact_nan()) { // of NaN, which is not less, any place of the window, so that the index is valid
        value const candidates = g.op<"Where">(g.op<"Less">(seen, largest), to_the_end, *place);
        return {squeeze(g, largest, windows), reduce<"ReduceMin">(g, candidates, windows, false)};
    }
    value const candidates = g.op<"Where">(is_equal(g, seen, largest), *place, to_the_end);
    value const last_nan = reduce<"ReduceMax">(g, g.op<"Where">(is_nan(g, seen), *place, -1), windows, false);
    value const has_nan = is_at_least(g, last_nan, 0);
    value const y = g.op<"Where">(has_nan, std::numeric_limits<double>::quiet_NaN(), squeeze(g, largest, windows));
    return {y, g.op<"Where">(has_nan, last_nan, reduce<"ReduceMin">(g, candidates, windows, false))};
}

inline std::tuple<value, value> adaptive_max(graph<9> g, value x, safe_span<sym_int const> output_size) {
    if (all_one(output_size)) return global_max(g, x);
    adaptive_sizes const s(x, output_size);
    if (!s.known) return computed_max(g, x, output_size);
    if (std::find(s.out.begin(), s.out.end(), 0) != s.out.end()) return g.unsupported("adaptive max pooling to size 0");
    if (s.divides && is_floating(x.dtype())) {
        auto const [y, flat_index] =
            g.op<"MaxPool">(x, outputs<2>, attr::kernel_shape_i(s.kernel), attr::strides_i(s.kernel));
        return with_nan(
            g, x, {y, remainder_of(g, flat_index, g.scalar(s.table().plane, dtype::int64))}, [&](value each) {
                return g.op<"MaxPool">(each, attr::kernel_shape_i(s.kernel), attr::strides_i(s.kernel));
            });
    }
    window_table const t = s.table().with_padding_last();
    auto const pool = [&](value each) { return max_of_windows(g, each, t); };
    return with_nan(g, x, {pool(x), argmax_of_windows(g, x, t)}, pool);
}

template <std::size_t N>
inline constexpr auto adaptive_avg_pool = [](graph<9> g, value self, safe_span<sym_int const> output_size) {
    auto const sizes = broadcast_sizes(output_size, N);
    return widened(g, self, [&](value x) {
        return with_batch(g, x, N, [&](value batch) { return adaptive_average(g, batch, sizes); });
    });
};

template <std::size_t N>
inline constexpr auto adaptive_max_pool =
    [](graph<9> g, value self, safe_span<sym_int const> output_size) -> std::tuple<value, value> {
    auto const sizes = broadcast_sizes(output_size, N);
    bool const narrow = self.dtype() == dtype::bfloat16 && g.opset() < 22;
    value const x = narrow ? g.cast(self, dtype::float32) : self;
    auto const [y, indices] = with_batch_pair(g, x, N, [&](value batch) { return adaptive_max(g, batch, sizes); });
    return {g.cast(y, self.dtype()), indices};
};

} // namespace detail

inline constexpr auto adaptive_pooling =
    table(symbolic<"aten::adaptive_avg_pool1d(self, output_size)">(detail::adaptive_avg_pool<1>),
          symbolic<"aten::adaptive_avg_pool2d(self, output_size)">(detail::adaptive_avg_pool<2>),
          symbolic<"aten::adaptive_avg_pool3d(self, output_size)">(detail::adaptive_avg_pool<3>),
          symbolic<"aten::_adaptive_avg_pool2d(self, output_size)">(detail::adaptive_avg_pool<2>),
          symbolic<"aten::_adaptive_avg_pool3d(self, output_size)">(detail::adaptive_avg_pool<3>),
          symbolic<"aten::adaptive_max_pool1d(self, output_size)">(detail::adaptive_max_pool<1>),
          symbolic<"aten::adaptive_max_pool2d(self, output_size)">(detail::adaptive_max_pool<2>),
          symbolic<"aten::adaptive_max_pool3d(self, output_size)">(detail::adaptive_max_pool<3>));

} // namespace ATON_NAMESPACE::mappings
