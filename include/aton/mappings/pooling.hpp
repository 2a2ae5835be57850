// SPDX-License-Identifier: MIT
// ATen's pooling over one to three spatial dimensions: max (with indices), average, and max_unpool.
// Public header.
#pragma once

#include <tuple>

#include <aton/mappings/detail/dynamic_windows.hpp>
#include <aton/mappings/detail/pool_windows.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

// Max pools.

/// Whether MaxPool supports this call: floats and, since opset 12, 8-bit integers; pads smaller than the kernel (which
/// ONNX Runtime requires); since opset 10, dilations.
inline bool has_max_pool(graph<7> g, value x, pool_windows const& p) {
    bool const is_byte = x.dtype() == dtype::uint8 || x.dtype() == dtype::int8;
    bool const type = is_floating(x.dtype()) || (is_byte && g.opset() >= 12);
    if (g.opset() < 10 && p.dilation != ints(p.n, 1)) return false;
    ints const pads = pool_pads(x, p);
    for (std::size_t i = 0; i != pads.size(); ++i)
        if (pads[i] >= p.kernel[i % p.n]) return false;
    return type;
}

inline value plain_max_values(graph<7> g, value x, pool_windows const& p) {
    if (!has_max_pool(g, x, p)) return max_of_windows(g, x, p.table(static_plane(x)));
    auto const kernel = attr::kernel_shape_i(p.kernel);
    auto const pads = attr::pads_i(pool_pads(x, p));
    auto const strides = attr::strides_i(p.stride);
    if (g.opset() < 10) return g.op<"MaxPool">(x, kernel, pads, strides);
    return g.within<10>().op<"MaxPool">(x, attr::dilations_i(p.dilation), kernel, pads, strides);
}

/// Whether no operator has maxima of integers of this dtype in these windows: MaxPool, or ReduceMax with a table of the
/// windows.
inline bool needs_other_windows(graph<7> g, value x, pool_windows const& p) {
    if (is_floating(x.dtype())) return false;
    bool const has_pool = has_max_pool(g, x, p);
    if (!has_static_plane(x)) return needs_pad(x, p) || !has_pool;
    bool const has_reduction = bits(x.dtype()) >= 32 || (bits(x.dtype()) == 8 && g.opset() >= 12);
    return !has_pool && !has_reduction;
}

inline value max_values(graph<7> g, value x, pool_windows const& p) {
    if (needs_other_windows(g, x, p)) {
        if (bits(x.dtype()) <= 32) return g.cast(max_values(g, g.cast(x, dtype::float64), p), x.dtype()); // exact
        pool_plane const plane = plane_of(g, x, p, lowest(x.dtype()));
        return reduce<"ReduceMax">(g, gather_windows(g, plane.padded, plane.windows), kernel_axes(p.n), false);
    }
    if (needs_pad(x, p)) {
        auto const floor_pool = [&](value padded, pool_windows const& floor) { return max_values(g, padded, floor); };
        return padded_pool(g, x, p, start_counts(g, x, p), lowest(x.dtype()), floor_pool);
    }
    auto const pool = [&](value each) { return plain_max_values(g, each, p); };
    return with_nan(g, x, pool(x), pool);
}

/// ONNX's indices are into the whole tensor, ATen's into the plane of one batch and channel.
inline std::tuple<value, value> plain_max_values_and_indices(graph<8> g, value x, pool_windows const& p) {
    if (!has_max_pool(g, x, p)) {
        window_table const t = p.table(static_plane(x)).with_padding_last();
        return {max_of_windows(g, x, t), argmax_of_windows(g, x, t)};
    }
    auto const kernel = attr::kernel_shape_i(p.kernel);
    auto const pads = attr::pads_i(pool_pads(x, p));
    auto const strides = attr::strides_i(p.stride);
    std::tuple<value, value> const found =
        g.opset() < 10
            ? std::tuple<value, value>(g.op<"MaxPool">(x, outputs<2>, kernel, pads, strides))
            : g.within<10>().op<"MaxPool">(x, outputs<2>, attr::dilations_i(p.dilation), kernel, pads, strides);
    safe_vector<sym_int> const sizes = g.sizes(x);
    return {std::get<0>(found), remainder_of(g, std::get<1>(found), g.to_value(product(safe_span(sizes).subspan(2))))};
}

/// max_values() of numbers without NaN if needs_pad().
inline value max_without_nan(graph<7> g, value x, pool_windows const& p) {
    auto const pool = [&](value padded, pool_windows const& floor) { return plain_max_values(g, padded, floor); };
    return padded_pool(g, x, p, start_counts(g, x, p), lowest(x.dtype()), pool);
}

/// The same if needs_pad(): in a plane with more elements at the end of each axis, whose indices are then those of a
/// larger plane.
inline std::tuple<value, value> padded_max_values_and_indices(graph<8> g, value x, pool_windows const& p) {
    ints pads(2 * p.n + 4, 0);
    for (std::size_t i = 0; i != p.n; ++i) pads[p.n + i + 4] = p.stride[i] - 1;
    value const padded = pad(g, x, pads, lowest(x.dtype()));
    pool_windows floor = p;
    floor.ceil_mode = false;
    auto [y, at] = plain_max_values_and_indices(g, padded, floor);
    safe_vector<sym_int> const starts = start_counts(g, x, p);
    for (std::size_t i = 0; i != p.n; ++i) {
        sym_int const windows = (starts[i] + (p.stride[i] - 1)) / p.stride[i];
        y = slice(g, y, static_cast<std::int64_t>(i) + 2, 0, windows);
        at = slice(g, at, static_cast<std::int64_t>(i) + 2, 0, windows);
    }
    safe_vector<sym_int> const in = last_sizes(g, x, p.n);
    safe_vector<sym_int> const wide = last_sizes(g, padded, p.n);
    value index = at; // becomes less by what is added to each line before it
    for (std::size_t i = p.n; i-- > 1;) {
        sym_int const line = product(safe_span(wide).subspan(i));
        value const lines = g.op<"Div">(at, g.to_value(line));
        sym_int const added = (wide[i] - in[i]) * product(safe_span(in).subspan(i + 1));
        index = g.op<"Sub">(index, g.op<"Mul">(lines, g.to_value(added)));
    }
    return {y, index};
}

inline std::tuple<value, optional_value> max_values_and_indices(graph<8> g, value x, pool_windows const& p) {
    if (needs_other_windows(g, x, p)) {
        if (bits(x.dtype()) > 32)
            return {max_values(g, x, p), absent}; // no larger dtype than int64 tells elements from padding
        auto const [y, at] = max_values_and_indices(g, g.cast(x, dtype::float64), p);
        return {g.cast(y, x.dtype()), at};
    }
    for (std::size_t i = 0; i != p.n; ++i)
        if (dim const& in = x.size(static_cast<std::int64_t>(i) + 2); in.is_static() && p.misses_all(i, in.size()))
            throw unsupported_error("indices of a window without elements, which are undefined in ATen");
    if (needs_pad(x, p))
        return with_nan(
            g, x, padded_max_values_and_indices(g, x, p), [&](value each) { return max_without_nan(g, each, p); });
    return with_nan(
        g, x, plain_max_values_and_indices(g, x, p), [&](value each) { return plain_max_values(g, each, p); });
}

template <std::size_t N>
inline constexpr auto max_pool = [](graph<7> g, value self, int_list kernel, int_list stride, int_list padding,
                                    int_list dilation, bool ceil_mode) {
    pool_windows const p(N, kernel, stride, padding, dilation, ceil_mode);
    return widened(
        g, self, [&](value x) { return with_batch(g, x, N, [&](value batch) { return max_values(g, batch, p); }); });
};

template <std::size_t N>
inline constexpr auto max_pool_with_indices = [](graph<8> g, value self, int_list kernel, int_list stride,
                                                 int_list padding, int_list dilation,
                                                 bool ceil_mode) -> std::tuple<value, optional_value> {
    pool_windows const p(N, kernel, stride, padding, dilation, ceil_mode);
    bool const narrow = self.dtype() == dtype::bfloat16 && g.opset() < 22;
    value const x = narrow ? g.cast(self, dtype::float32) : self;
    auto const [y, indices] =
        with_batch_pair(g, x, N, [&](value batch) { return max_values_and_indices(g, batch, p); });
    return {g.cast(y, self.dtype()), indices};
};

// Average pools.

/// ATen's divisor of each window: the number of elements that it covers, with or without those in the padding.
inline ints divisors(pool_windows const& p, ints const& in, bool count_include_pad) {
    if (!count_include_pad) return p.table(in).counts();
    safe_vector<axis_windows> axes;
    for (std::size_t i = 0; i != p.n; ++i)
        axes.push_back(sliding(
            checked_int(in[i]) + checked_int(2) * p.padding[i], p.out(i, in[i]), p.kernel[i], p.stride[i], 1, 0));
    return combine(axes).counts();
}

/// The average of integers: sums of gathered windows, divided as in C++.
inline value integer_average(graph<7> g, value x, pool_windows const& p, bool count_include_pad,
                             std::optional<std::int64_t> divisor) {
    if (!has_static_plane(x)) {
        pool_plane const plane = plane_of(g, x, p, 0);
        value const sum = reduce_sum(g, gather_windows(g, plane.padded, plane.windows), kernel_axes(p.n), false);
        value const by =
            divisor ? g.scalar(*divisor, dtype::int64) : divisors(g, x, p, plane.windows, count_include_pad);
        return g.op<"Div">(sum, g.cast(by, x.dtype()));
    }
    ints const in = static_plane(x);
    window_table const t = p.table(in);
    value const sum = reduce_sum(g, gather_windows(g, x, t, 0), ints{2}, false);
    value const by = divisor ? g.ints({*divisor}) : g.ints(divisors(p, in, count_include_pad));
    return unflatten(g, g.op<"Div">(sum, g.cast(by, x.dtype())), t);
}

/// Corrects an AveragePool that divides every sum by the kernel volume, by the factors volume / divisor.
inline value corrected(graph<7> g, value y, std::int64_t volume, ints const& by, safe_span<std::int64_t const> out) {
    tensor factor{dtype::float64, {out.begin(), out.end()}, {}};
    bool const uniform = std::all_of(by.begin(), by.end(), [&](std::int64_t n) { return n == by.front(); });
    if (by.empty() || (uniform && by.front() == volume)) return y;
    if (uniform) return g.op<"Mul">(y, static_cast<double>(volume) / static_cast<double>(by.front()));
    for (std::int64_t n : by) factor.append(static_cast<double>(volume) / static_cast<double>(n));
    return g.op<"Mul">(y, g.constant(factor.to(y.dtype())));
}

/// The average if needs_pad(): sums of windows, divided by those of ones.
inline value padded_average(graph<7> g, value x, pool_windows const& p, bool count_include_pad,
                            std::optional<std::int64_t> divisor) {
    auto const average = [&](value padded, pool_windows const& floor) {
        return g.op<"AveragePool">(padded, attr::kernel_shape_i(floor.kernel), attr::strides_i(floor.stride));
    };
    safe_vector<sym_int> const starts = start_counts(g, x, p);
    value const y = padded_pool(g, x, p, starts, 0, average);
    if (divisor) return corrected(g, y, p.volume(), {*divisor}, {});
    pool_windows counted = p;
    safe_vector<sym_int> sizes{1, 1};
    for (std::size_t i = 0; i != p.n; ++i) {
        sizes.push_back(count_include_pad ? starts[i] + p.padding[i] : starts[i] - p.padding[i]);
        if (count_include_pad) counted.padding[i] = 0;
    }
    return g.op<"Div">(y, padded_pool(g, filled(g, sizes, 1, x.dtype()), counted, starts, 0, average));
}

inline value average(graph<7> g, value x, pool_windows const& p, bool count_include_pad,
                     std::optional<std::int64_t> divisor) {
    if (divisor && *divisor == 0) return g.unsupported("divisor_override of 0");
    if (!is_floating(x.dtype())) return integer_average(g, x, p, count_include_pad, divisor);
    if (needs_pad(x, p)) return padded_average(g, x, p, count_include_pad, divisor);
    ints pads = pool_pads(x, p);
    bool const by_plane = p.ceil_mode && count_include_pad && !divisor; // the divisors depend on the plane's size
    bool const include = divisor || (count_include_pad && (!by_plane || has_static_plane(x)));
    if (by_plane && !include) {
        // Elements past ATen's padding must not count: pad first, then average without padding.
        ints all(2 * p.n + 4, 0);
        for (std::size_t i = 0; i != p.n; ++i) {
            all[i + 2] = all[p.n + i + 4] = p.padding[i];
            pads[p.n + i] -= p.padding[i];
            pads[i] = 0;
        }
        if (all != ints(all.size(), 0)) x = pad(g, x, all, 0.0);
    }
    value const y = g.op<"AveragePool">(x,
                                        attr::count_include_pad_i(include),
                                        attr::kernel_shape_i(p.kernel),
                                        attr::pads_i(pads),
                                        attr::strides_i(p.stride));
    if (divisor) return corrected(g, y, p.volume(), {*divisor}, {});
    if (!by_plane || !include) return y;
    ints const in = static_plane(x);
    ints out;
    for (std::size_t i = 0; i != p.n; ++i) out.push_back(p.out(i, in[i]));
    return corrected(g, y, p.volume(), divisors(p, in, true), out);
}

template <std::size_t N>
inline constexpr auto avg_pool = [](graph<7> g, value self, int_list kernel, int_list stride, int_list padding,
                                    bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor) {
    pool_windows const p(N, kernel, stride, padding, {}, ceil_mode);
    return widened(g, self, [&](value x) {
        return with_batch(g, x, N, [&](value batch) { return average(g, batch, p, count_include_pad, divisor); });
    });
};

/// Zeros, with each element of self at its index in the plane.
inline constexpr auto unpool = symbolic<"aten::max_unpool2d(self, indices, output_size)">(
    [](graph<9> g, value self, value indices, safe_span<sym_int const> output_size) -> value {
        auto const n = static_cast<std::int64_t>(output_size.size());
        safe_vector<sym_int> lead = g.sizes(self);
        if (self.rank() < n) throw unsupported_error("more sizes than dimensions");
        lead.resize(static_cast<std::size_t>(self.rank() - n));
        auto const with = [&](safe_span<sym_int const> tail) {
            safe_vector<sym_int> all = lead;
            all.insert(all.end(), tail.begin(), tail.end());
            return all;
        };
        if (is_empty(self)) return filled(g, with(output_size), 0, self.dtype());
        sym_int const minus_one = -1;
        sym_int const plane = product(output_size);
        auto const flattened = [&](value x) { return reshape(g, x, with(safe_span(&minus_one, 1))); };
        value const zeros = filled(g, with(safe_span(&plane, 1)), 0, self.dtype());
        value const y = write_elements_at(g, zeros, flattened(indices), flattened(self), self.rank() - n);
        return reshape(g, y, with(output_size));
    });

inline constexpr auto avg_pool1d =
    symbolic<"aten::avg_pool1d(self, kernel_size, stride, padding, ceil_mode, count_include_pad)">(
        [](graph<7> g, value self, int_list kernel, int_list stride, int_list pads, bool ceil_mode, bool include) {
            return avg_pool<1>(g, self, kernel, stride, pads, ceil_mode, include, std::nullopt);
        });

/// Stride and padding only matter for the output size, which is given.
inline constexpr auto max_unpool3d = symbolic<"aten::max_unpool3d(self, indices, output_size, stride, padding)">(
    [](graph<9> g, value self, value indices, safe_span<size const> output_size, int_list, int_list) {
        return unpool(g, self, indices, output_size);
    });

/// arg_extreme with the last NaN. ArgMax chooses among equal elements since opset 12.
template <fixed_string Arg>
value arg_extreme_or_last_nan(graph<12> g, value x, std::int64_t axis, bool keepdim) {
    return arg_extreme_with<Arg>(g, x, axis, keepdim, [&](value nan) -> value {
        return g.op<"ArgMax">(nan, attr::axis_i(axis), attr::keepdims_i(keepdim), attr::select_last_index_i(1));
    });
}

/// The first elements of windows along an axis, (batch, channels, windows), which a random number of each plane
/// spreads. The last window ends at the last element.
inline value random_starts(graph<12> g, value sample, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    if (out < 1 || kernel < 1 || kernel > in || out > in - kernel + 1)
        throw unsupported_error("windows that do not fit into the input");
    budget::expect("windows", out);
    value const last = g.scalar(in - kernel, dtype::int64);
    value const column = unsqueeze(g, sample, 2);
    value const zero = g.op<"Mul">(g.cast(column, dtype::int64), 0);
    if (out == 1) return g.op<"Add">(zero, last);
    dtype const type = sample.dtype();
    // As in ATen, the distance is a quotient in the dtype of the samples.
    value const distance = g.op<"Div">(g.scalar(in - kernel, type), g.scalar(out - 1, type));
    value const at = g.cast(arithmetic_sequence(g, 0, out), type);
    auto const whole = [&](value x) { return g.cast(g.op<"Mul">(x, distance), dtype::int64); };
    value const starts = g.op<"Sub">(whole(g.op<"Add">(at, column)), whole(column));
    return g.op<"Where">(g.op<"Equal">(arithmetic_sequence(g, 0, out), out - 1), last, starts);
}

/// The maximum, and its index in the plane, of windows at random places.
template <std::size_t Axes>
inline constexpr auto fractional_max_pool =
    [](graph<12> g, value self, int_list kernel_size, int_list output_size, value samples) -> std::tuple<value, value> {
    ints const kernel = per_dimension(kernel_size, Axes, {});
    ints const out = per_dimension(output_size, Axes, {});
    constexpr auto axes = static_cast<std::int64_t>(Axes);
    if (kernel.size() != Axes || out.size() != Axes || samples.rank() != 3)
        throw unsupported_error("a pool without kernel_size or output_size");
    bool const batched = self.rank() == axes + 2;
    value const x = batched ? self : unsqueeze(g, self, 0);
    if (x.rank() != axes + 2) throw unsupported_error("an input of another rank than " + std::to_string(axes + 2));
    value places = g.scalar(0, dtype::int64);
    sym_int plane = 1;
    std::int64_t elements = 1;
    for (std::size_t i = 0; i != Axes; ++i) {
        dim const& size = x.size(static_cast<std::int64_t>(i) + 2);
        if (!size.is_static()) throw unsupported_error("a size that is not static");
        std::size_t const which = Axes == 2 ? 1 - i : i; // two are given as width and height
        value const sample = select(g, samples, 2, static_cast<std::int64_t>(which));
        value starts = random_starts(g, sample, size.size(), out[i], kernel[i]);
        // (batch, channels, windows of each axis, elements of each axis)
        safe_vector<std::int64_t> added;
        for (std::int64_t k = 2; k != 2 + 2 * axes; ++k)
            if (k != 2 + static_cast<std::int64_t>(i)) added.push_back(k);
        safe_vector<std::int64_t> after;
        for (std::int64_t k = 1; k != axes - static_cast<std::int64_t>(i); ++k) after.push_back(k);
        value step = arithmetic_sequence(g, 0, kernel[i]);
        if (!after.empty()) step = unsqueeze(g, step, after);
        value const along = g.op<"Add">(unsqueeze(g, starts, added), step);
        places = i == 0 ? along : value(g.op<"Add">(g.op<"Mul">(places, size.size()), along));
        plane = plane * size.size();
        elements *= kernel[i];
    }
    safe_vector<sym_int> to = {g.size(x, 0), g.size(x, 1)};
    safe_vector<sym_int> const flat = {g.size(x, 0), g.size(x, 1), plane};
    for (std::int64_t const n : out) to.push_back(n);
    safe_vector<sym_int> windows = to;
    windows.push_back(elements);
    sym_int const gathered = product(safe_span(windows).subspan(2));
    value const row = reshape(g, places, {g.size(x, 0), g.size(x, 1), gathered});
    value const found = g.op<"GatherElements">(reshape(g, x, flat), row, attr::axis_i(2));
    value const all = reshape(g, found, windows);
    value const best = arg_extreme_or_last_nan<"ArgMax">(g, all, axes + 2, true);
    auto const chosen = [&](value from) -> value {
        value const y = squeeze(g, g.op<"GatherElements">(from, best, attr::axis_i(axes + 2)), axes + 2);
        return batched ? y : squeeze(g, y, std::int64_t{0});
    };
    return {chosen(all), chosen(reshape(g, places, windows))};
};

} // namespace detail

inline constexpr auto pooling = table(
    symbolic<"aten::max_pool1d(self, kernel_size, stride, padding, dilation, ceil_mode)">(detail::max_pool<1>),
    symbolic<"aten::max_pool2d(self, kernel_size, stride, padding, dilation, ceil_mode)">(detail::max_pool<2>),
    symbolic<"aten::max_pool3d(self, kernel_size, stride, padding, dilation, ceil_mode)">(detail::max_pool<3>),
    symbolic<"aten::max_pool1d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)">(
        detail::max_pool_with_indices<1>),
    symbolic<"aten::max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)">(
        detail::max_pool_with_indices<2>),
    symbolic<"aten::max_pool3d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode)">(
        detail::max_pool_with_indices<3>),
    detail::avg_pool1d,
    symbolic<"aten::avg_pool2d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)">(
        detail::avg_pool<2>),
    symbolic<"aten::avg_pool3d(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)">(
        detail::avg_pool<3>),
    symbolic<"aten::fractional_max_pool2d(self, kernel_size, output_size, random_samples)">(
        detail::fractional_max_pool<2>),
    symbolic<"aten::fractional_max_pool3d(self, kernel_size, output_size, random_samples)">(
        detail::fractional_max_pool<3>),
    detail::unpool, detail::max_unpool3d);

} // namespace ATON_NAMESPACE::mappings
