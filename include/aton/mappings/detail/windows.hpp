// SPDX-License-Identifier: MIT
// Helpers for sliding windows: batch handling, parameter lists, and windows as one Gather where ONNX has no suitable
// operator.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings::detail {

using ints = safe_vector<std::int64_t>;

/// A list parameter for `n` dimensions: a single number applies to all, an empty list is `fallback`.
inline ints per_dimension(safe_span<std::int64_t const> given, std::size_t n, ints const& fallback) {
    if (given.empty()) return fallback;
    budget::expect("a list parameter", static_cast<std::int64_t>(n), budget::max_rank);
    if (given.size() == 1) return ints(n, given[0]);
    if (given.size() != n)
        throw unsupported_error("a list of " + std::to_string(given.size()) + " numbers for " + std::to_string(n) +
                                " dimensions");
    return {given.begin(), given.end()};
}

/// Calls `body` with x as (batch, channel, n spatial dimensions). If x does not have a batch, neither has the result.
template <class Body>
value with_batch(graph<7> g, value x, std::int64_t n, Body body) {
    if (x.rank() == n + 2) return body(x);
    if (x.rank() != n + 1)
        return g.unsupported("an input of rank " + std::to_string(x.rank()) + " for " + std::to_string(n) +
                             " spatial dimensions");
    return squeeze(g, body(unsqueeze(g, x, 0)), 0);
}

/// The same for bodies that return values and indices.
template <class Body>
auto with_batch_pair(graph<7> g, value x, std::int64_t n, Body body) -> decltype(body(x)) {
    if (x.rank() == n + 2) return body(x);
    if (x.rank() != n + 1)
        throw unsupported_error("an input of rank " + std::to_string(x.rank()) + " for " + std::to_string(n) +
                                " spatial dimensions");
    auto const [values, indices] = body(unsqueeze(g, x, 0));
    optional_value const of_indices = indices;
    using second = std::tuple_element_t<1, decltype(body(x))>;
    return {squeeze(g, values, 0), of_indices ? second(squeeze(g, *of_indices, 0)) : second(indices)};
}

/// The windows along one dimension: `taps[o][k]` is a position in the input, or -1 for padding. All windows have the
/// same length.
struct axis_windows {
    std::int64_t in = 0;
    safe_vector<ints> taps;

    [[nodiscard]] std::int64_t out() const { return static_cast<std::int64_t>(taps.size()); }
    [[nodiscard]] std::int64_t length() const { return taps.empty() ? 0 : static_cast<std::int64_t>(taps[0].size()); }
};

/// Refuses tables of windows that are too large.
inline void expect_table(std::int64_t windows, std::int64_t length) {
    if (windows < 0 || length < 0) throw unsupported_error("windows of negative size");
    budget::expect("a table of windows", checked_int(windows) * length);
    budget::expect("a list of windows", windows);
}

/// `out` windows of `kernel` elements at a distance of `dilation`; the first starts at -before.
inline axis_windows sliding(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t stride,
                            std::int64_t dilation, std::int64_t before) {
    expect_table(out, kernel);
    axis_windows w{in, {}};
    for (std::int64_t o = 0; o < out; ++o) {
        ints& taps = w.taps.emplace_back();
        for (std::int64_t k = 0; k != kernel; ++k) {
            std::int64_t const at = checked_int(o) * stride - before + checked_int(k) * dilation;
            taps.push_back(at >= 0 && at < in ? at : -1);
        }
    }
    return w;
}

/// The windows of adaptive pooling: [floor(o * in / out), ceil((o + 1) * in / out)).
inline axis_windows adaptive(std::int64_t in, std::int64_t out) {
    if (out < 0 || in < 0) throw unsupported_error("adaptive pooling to a negative size");
    if (out != 0) expect_table(out, checked_int(in) / out + 2);
    axis_windows w{in, {}};
    std::size_t longest = 0;
    for (std::int64_t o = 0; o != out; ++o) {
        ints& taps = w.taps.emplace_back();
        std::int64_t const end = (checked_int(o + 1) * in + (out - 1)) / out;
        for (std::int64_t at = checked_int(o) * in / out; at != end; ++at) taps.push_back(at);
        longest = std::max(longest, taps.size());
    }
    for (ints& taps : w.taps) taps.resize(longest, -1);
    return w;
}

/// Windows over all spatial dimensions: `index` has kernel x positions offsets into the flattened plane of a channel,
/// or `plane` for padding.
struct window_table {
    ints out;
    std::int64_t kernel = 1;
    std::int64_t positions = 1;
    std::int64_t plane = 1;
    ints index;

    [[nodiscard]] bool has_padding() const { return std::find(index.begin(), index.end(), plane) != index.end(); }
    /// The number of elements in each window, without padding.
    [[nodiscard]] ints counts() const {
        ints n(static_cast<std::size_t>(positions), 0);
        for (std::size_t i = 0; i != index.size(); ++i) n[i % n.size()] += index[i] != plane ? 1 : 0;
        return n;
    }
    /// The same windows with padding moved to the end, so that ArgMax finds an element even if it is equal to the padding.
    [[nodiscard]] window_table with_padding_last() const {
        window_table t = *this;
        ints next(static_cast<std::size_t>(positions), 0); // next entry to write, per window
        t.index.assign(index.size(), plane);
        for (std::size_t i = 0; i != index.size(); ++i)
            if (std::size_t const column = i % next.size(); index[i] != plane)
                t.index[static_cast<std::size_t>(next[column]++ * positions) + column] = index[i];
        return t;
    }
};

inline window_table combine(safe_span<axis_windows const> axes) {
    window_table t;
    t.index = {0};
    for (axis_windows const& a : axes) {
        expect_table(checked_int(t.positions) * a.out(), checked_int(t.kernel) * a.length());
        checked_int const plane = checked_int(t.plane) * a.in; // no entry of `index` is larger
        ints next;
        for (std::int64_t k = 0; k != t.kernel * a.length(); ++k) {
            for (std::int64_t o = 0; o != t.positions * a.out(); ++o) {
                std::int64_t const before =
                    t.index[static_cast<std::size_t>(k / a.length() * t.positions + o / a.out())];
                std::int64_t const at =
                    a.taps[static_cast<std::size_t>(o % a.out())][static_cast<std::size_t>(k % a.length())];
                next.push_back(before == t.plane || at < 0 ? std::int64_t{plane} : before * a.in + at);
            }
        }
        t.index = std::move(next);
        t.kernel *= a.length();
        t.positions *= a.out();
        t.plane = plane;
        t.out.push_back(a.out());
    }
    return t;
}

/// (batch, channel, spatial...) to (batch, channel, kernel, positions); padding reads as `fill`.
inline value gather_windows(graph<7> g, value x, window_table const& t, scalar fill) {
    value flat = g.op<"Reshape">(x, g.ints({0, 0, t.plane}));
    if (t.has_padding()) flat = pad(g, flat, ints{0, 0, 0, 0, 0, 1}, fill);
    tensor index = int64_tensor(t.index);
    index.sizes = {t.kernel, t.positions};
    return g.op<"Gather">(flat, g.constant(std::move(index)), attr::axis_i(2));
}

/// (batch, channel, positions) to (batch, channel, out...).
inline value unflatten(graph<7> g, value x, window_table const& t) {
    ints sizes{0, 0};
    sizes.insert(sizes.end(), t.out.begin(), t.out.end());
    return t.out.size() == 1 ? x : value(g.op<"Reshape">(x, g.ints(sizes)));
}

/// The sizes of the last n dimensions of x.
inline safe_vector<sym_int> last_sizes(graph<7> g, value x, std::size_t n) {
    safe_vector<sym_int> const all = g.sizes(x);
    if (all.size() < n) throw unsupported_error("a tensor with fewer dimensions than the kernel");
    return {all.end() - static_cast<std::ptrdiff_t>(n), all.end()};
}

inline bool has_static_plane(value x) {
    for (std::int64_t i = 2; i != x.rank(); ++i)
        if (!x.size(i).is_static()) return false;
    return true;
}

/// The spatial sizes of (batch, channel, spatial...); refuses dynamic ones.
inline ints static_plane(value x) {
    ints sizes;
    for (std::int64_t i = 2; i != x.rank(); ++i) {
        if (!x.size(i).is_static())
            throw unsupported_error("a dynamic height or width: ONNX has no operator for these windows");
        sizes.push_back(x.size(i).size());
    }
    return sizes;
}

/// Calls `body` with bfloat16 cast to float32 below opset 22, in which Conv and the pools started to support it. ATen
/// accumulates in float32.
template <class Body>
value widened(graph<7> g, value x, Body body) {
    if (x.dtype() != dtype::bfloat16 || g.opset() >= 22) return body(x);
    return g.cast(body(g.cast(x, dtype::float32)), dtype::bfloat16);
}

/// The identity of the maximum: the dtype's lowest number.
inline scalar lowest(dtype t) {
    if (is_floating(t)) return -std::numeric_limits<double>::infinity();
    if (is_unsigned_integral(t) || t == dtype::bool_) return 0;
    return bits(t) == 64 ? std::numeric_limits<std::int64_t>::min() : -(std::int64_t{1} << (bits(t) - 1));
}

inline value max_of_windows(graph<7> g, value x, window_table const& t) {
    return unflatten(g, reduce<"ReduceMax">(g, gather_windows(g, x, t, lowest(x.dtype())), ints{2}, false), t);
}

/// Maxima of windows, y, with NaN as in ATen where that is asked for: NaN if a window has one, which the MaxPool of a
/// runtime may drop. `pool` computes the maxima of another tensor over the same windows.
template <class Pool>
value with_nan(graph<7> g, value x, value y, Pool const& pool) {
    return watches_nan(g, x) ? marked_as_nan(g, y, pool(g.cast(is_nan(g, x), x.dtype()))) : y;
}
/// The same with the indices of the maxima in their plane: of NaN, the last.
template <class Pool>
std::tuple<value, value> with_nan(graph<8> g, value x, std::tuple<value, value> const& found, Pool const& pool) {
    if (!watches_nan(g, x)) return found;
    auto const& [y, at] = found;
    safe_vector<sym_int> const sizes = last_sizes(g, x, static_cast<std::size_t>(x.rank()) - 2);
    sym_int const plane = product(sizes);
    constexpr std::int64_t exact_in_float32 = 1 << 24;
    dtype const type = plane.is_constant() && plane.constant() <= exact_in_float32 ? dtype::float32 : dtype::float64;
    value const number = reshape(g, arithmetic_sequence(g, 1, plane), sizes); // from 1, since 0 marks no NaN
    value const last = pool(g.op<"Mul">(g.cast(is_nan(g, x), type), g.cast(number, type)));
    value const at_nan = g.op<"Sub">(g.cast(last, dtype::int64), 1);
    if (g.opset() >= 9) return {marked_as_nan(g, y, last), choose(g.within<9>(), is_greater(g, last, 0), at_nan, at)};
    value const has_nan = g.cast(is_greater(g, last, 0), dtype::int64);
    return {marked_as_nan(g, y, last), g.op<"Add">(at, g.op<"Mul">(has_nan, g.op<"Sub">(at_nan, at)))};
}

/// The index in the plane of the first maximum of each window.
inline value argmax_of_windows(graph<7> g, value x, window_table const& t) {
    value const k = g.op<"ArgMax">(gather_windows(g, x, t, lowest(x.dtype())), attr::axis_i(2), attr::keepdims_i(0));
    value const entry = g.op<"Add">(g.op<"Mul">(k, t.positions), g.ints(iota(t.positions)));
    return unflatten(g, g.op<"Gather">(g.ints(t.index), entry, attr::axis_i(0)), t);
}

} // namespace ATON_NAMESPACE::mappings::detail
