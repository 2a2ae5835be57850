// SPDX-License-Identifier: MIT
// grid_sampler as arithmetic and gathers: GridSample was added in opset 16, and supports three dimensions since opset 20.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// One of the elements that each point reads along one dimension; all values are (batch, points).
struct grid_tap {
    value index;           ///< int64, inside the input
    optional_value weight; ///< absent: 1
    optional_value inside; ///< bool, whether to read the element instead of 0; absent: all true
};

/// The positions among `n` elements of points in [-1, 1]; the paddings "border" and "reflection" map others into the input
/// (ATen/native/GridSampler.h).
inline value grid_position(graph<10> g, value c, value n, value last, std::int64_t padding, bool align_corners) {
    value const scaled = g.op<"Mul">(g.op<"Add">(c, 1.0), align_corners ? last : n);
    value at = g.op<"Mul">(align_corners ? scaled : g.op<"Sub">(scaled, 1.0), 0.5);
    if (padding == 0) return at;
    if (padding == 2) {
        value const span = align_corners ? last : n;
        double const low = align_corners ? 0.0 : -0.5;
        value const period = max_of(g, g.op<"Mul">(span, 2.0), 1.0);
        value const folded = g.op<"Mod">(g.op<"Abs">(g.op<"Sub">(at, low)), period, attr::fmod_i(1));
        at = g.op<"Add">(g.op<"Sub">(span, g.op<"Abs">(g.op<"Sub">(folded, span))), low);
    }
    return clip(g, at, g.scalar_like(0.0, at), last);
}

/// A tap at an integral position, which reads as 0 outside the input.
inline grid_tap tap_with_zeros(graph<7> g, value position, optional_value weight, value last) {
    value const nearest = clip(g, position, g.scalar_like(0.0, position), last);
    return {g.cast(nearest, dtype::int64), weight, is_equal(g, position, nearest)};
}

/// The two neighbors of each point, or the nearest element (halves are rounded to even).
inline safe_vector<grid_tap> grid_taps(graph<10> g, value c, sym_int size, bool nearest, std::int64_t padding,
                                       bool align_corners) {
    value const n = g.cast(g.to_value(size), c.dtype());
    value const last = g.cast(g.to_value(size - 1), c.dtype());
    value const at = grid_position(g, c, n, last, padding, align_corners);
    auto const tap = [&](value position, optional_value weight) -> grid_tap {
        if (padding == 0) return tap_with_zeros(g, position, weight, last);
        return {g.cast(position, dtype::int64), weight, {}};
    };
    if (nearest) return {tap(round_to_even(g, at), {})};
    value const first = g.op<"Floor">(at);
    value const rest = g.op<"Sub">(at, first);
    value const next = g.op<"Add">(first, 1.0);
    return {tap(first, g.op<"Sub">(g.scalar(1.0, c.dtype()), rest)),
            tap(padding == 0 ? next : value(min_of(g, next, last)), rest)};
}

/// mode: 0 linear, 1 nearest; padding: 0 zeros, 1 border, 2 reflection.
inline value sample_volume(graph<10> g, value x, value grid, std::int64_t mode, std::int64_t padding,
                           bool align_corners) {
    safe_vector<sym_int> const sizes = g.sizes(x);
    std::int64_t const axes = x.rank() - 2;
    safe_vector<sym_int> to{sizes[0], sizes[1]};
    for (std::int64_t i = 0; i != axes; ++i) to.push_back(g.size(grid, i + 1));
    if (is_empty(x) || is_empty(grid)) return filled(g, to, 0, x.dtype());
    value const points = reshape(g, grid, {sizes[0], -1, axes});
    safe_vector<grid_tap> taps;
    for (std::int64_t i = 0; i != axes; ++i) {
        sym_int const n = sizes[static_cast<std::size_t>(i) + 2];
        value const c = select(g, points, 2, axes - 1 - i); // the grid names x first
        safe_vector<grid_tap> const along = grid_taps(g, c, n, mode == 1, padding, align_corners);
        safe_vector<grid_tap> next;
        for (grid_tap const& a : taps)
            for (grid_tap const& b : along) {
                value const index = g.op<"Add">(g.op<"Mul">(a.index, g.to_value(n)), b.index);
                grid_tap& both = next.emplace_back(grid_tap{index, {}, {}});
                if (a.weight) both.weight = g.op<"Mul">(*a.weight, *b.weight);
                if (a.inside) both.inside = g.op<"And">(*a.inside, *b.inside);
            }
        taps = i == 0 ? along : next;
    }
    value const flattened = reshape(g, x, {sizes[0], sizes[1], -1});
    safe_vector<value> parts;
    for (grid_tap const& t : taps) {
        value const index = expand_by(g, unsqueeze(g, t.index, 1), g.ints(safe_vector<sym_int>{1, sizes[1], 1}));
        value const read = elements_at(g, flattened, index, 2);
        value const bounded = t.inside ? value(g.op<"Where">(unsqueeze(g, *t.inside, 1), read, 0.0)) : read;
        parts.push_back(t.weight ? value(g.op<"Mul">(bounded, unsqueeze(g, *t.weight, 1))) : bounded);
    }
    value const y = parts.size() == 1 ? parts[0] : g.op<"Sum">(parts);
    return reshape(g, y, to);
}

} // namespace ATON_NAMESPACE::mappings::detail
