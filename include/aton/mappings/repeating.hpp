// SPDX-License-Identifier: MIT
// Repeating and reversing elements: aten's repeat, tile, repeat_interleave, roll, flip and rot90.
// Public header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <aton/mappings/detail/long_axes.hpp>
#include <aton/mappings/view.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

inline value repeat_whole(graph<7> g, value x, safe_vector<sym_int> repeats) {
    auto const rank = static_cast<std::int64_t>(repeats.size());
    if (rank == 0 || std::all_of(repeats.begin(), repeats.end(), [](sym_int const& s) { return s.is(1); }))
        return at_least_rank(g, x, rank);
    return g.op<"Tile">(at_least_rank(g, x, rank), g.ints(repeats));
}
inline constexpr auto tile_dims = symbolic<"aten::tile(self, dims)">([](graph<7> g, value self, size_list dims) {
                                      safe_vector<sym_int> repeats(dims.begin(), dims.end());
                                      while (static_cast<std::int64_t>(repeats.size()) < self.rank())
                                          repeats.insert(repeats.begin(), 1);
                                      return repeat_whole(g, self, repeats);
                                  }).by_parts<"self">();

inline constexpr auto repeat_each = [](graph<7> g, value self, sym_int repeats,
                                       std::optional<std::int64_t> dim) -> value {
    value const x = dim ? at_least_1d(g, self) : flat(g, self);
    std::int64_t const axis = normalize_axis(dim.value_or(0), x.rank());
    if (repeats.is(1)) return x;
    safe_vector<sym_int> sizes = g.sizes(x);
    safe_vector<sym_int> tiles(sizes.size() + 1, 1);
    tiles[static_cast<std::size_t>(axis) + 1] = repeats;
    sym_int& size = sizes[static_cast<std::size_t>(axis)];
    size = size * repeats;
    return reshape(g, g.op<"Tile">(unsqueeze(g, x, axis + 1), g.ints(tiles)), sizes);
};
/// The indices that repeat index i repeats[i] times: for each position, the number of cumulative counts that do not
/// exceed it.
inline value repeated_indices(graph<11> g, value repeats) {
    repeats = g.cast(repeats, dtype::int64);
    value const ends = g.op<"CumSum">(repeats, g.scalar(0, dtype::int64));
    value const total = g.op<"ReduceSum">(repeats, attr::keepdims_i(0));
    value const positions = range_to(g, [&] { return total; });
    if (g.opset() >= 13 && are_many(repeats.size(0), few_boundaries))
        return search_sorted(g.within<13>(), ends, positions, [](graph<13> b, value end, value position) -> value {
            return b.op<"LessOrEqual">(end, position);
        });
    value const passed = is_at_most(g, ends, unsqueeze(g, positions, 1));
    return reduce_sum(g, g.cast(passed, dtype::int64), safe_vector<std::int64_t>{1}, false);
}
inline constexpr auto repeat_each_by_tensor = [](graph<11> g, value self, value repeats,
                                                 std::optional<std::int64_t> dim) {
    value const x = dim ? at_least_1d(g, self) : flat(g, self);
    std::int64_t const axis = normalize_axis(dim.value_or(0), x.rank());
    value counts = at_least_1d(g, repeats);
    if (!counts.size(0).same_as(x.size(axis))) counts = expand_by(g, counts, as_list(g, g.size(x, axis)));
    return gather_of(g, x, repeated_indices(g, counts), axis);
};

/// Rotates an axis by `shift`, so that its last `shift` elements come first.
inline value roll_axis(graph<7> g, value x, sym_int shift, std::int64_t axis) {
    sym_int const n = g.size(x, axis);
    if (n.is(0) || n.is(1) || shift.is(0)) return x;
    sym_int start;
    if (shift.is_constant() && n.is_constant()) {
        std::int64_t const by = shift.constant() % n.constant();
        start = by > 0 ? n.constant() - by : -by;
        if (start.is(0)) return x;
    } else if (shift.is_constant() && std::abs(shift.constant()) <= 2) {
        start = 0 - shift; // Slice clamps it, which is right for sizes 0 and 1 as well
    } else {
        if (g.opset() < 10) refuse_below(10, "a roll by a computed number");
        start = value(g.within<10>().op<"Mod">(g.to_value(0 - shift), g.to_value(max(n, 1))));
    }
    return g.op<"Concat">(safe_vector{slice(g, x, axis, start, to_the_end), slice(g, x, axis, 0, start)},
                          attr::axis_i(axis));
}
inline constexpr auto flip_axes = [](graph<7> g, value x, axis_list axes) -> value {
    if (x.rank() == 0 || axes.empty()) return x;
    if (g.opset() < 10) { // Slice has no steps
        for (std::int64_t axis : normalize_axes(axes, x.rank()))
            x = gather_of(g, x, arithmetic_sequence(g, g.size(x, axis) - 1, g.size(x, axis), -1), axis);
        return x;
    }
    safe_vector<std::int64_t> const minus_one(axes.size(), -1);
    safe_vector<std::int64_t> const before_first(axes.size(), std::numeric_limits<std::int64_t>::min());
    return g.within<10>().op<"Slice">(
        x, g.ints(minus_one), g.ints(before_first), g.ints(normalize_axes(axes, x.rank())), g.ints(minus_one));
};
inline constexpr auto rotate =
    symbolic<"aten::rot90(self, k, dims)">([](graph<7> g, value self, std::int64_t k, axis_list dims) -> value {
        std::int64_t const turns = (k % 4 + 4) % 4;
        if (turns == 0) return self;
        if (turns == 2) return flip_axes(g, self, dims);
        return swap_axes(g, flip_axes(g, self, dims.subspan(turns == 1 ? 1 : 0, 1)), dims[0], dims[1]);
    }).by_parts<"self">();

inline constexpr auto repeat = symbolic<"aten::repeat(self, repeats)">([](graph<7> g, value self, size_list repeats) {
                                   return repeat_whole(g, self, safe_vector(repeats.begin(), repeats.end()));
                               }).by_parts<"self">();

inline constexpr auto repeat_each_row =
    symbolic<"aten::repeat_interleave.self_int(self, repeats, dim, output_size)">([](graph<7> g, value self,
                                                                                     sym_int repeats,
                                                                                     std::optional<std::int64_t> dim,
                                                                                     std::optional<sym_int>) -> value {
        return repeat_each(g, self, repeats, dim);
    }).by_parts<"self">();

inline constexpr auto repeat_by_tensor =
    symbolic<"aten::repeat_interleave.self_Tensor(self, repeats, dim, output_size)">([](graph<11> g, value self,
                                                                                        value repeats,
                                                                                        std::optional<std::int64_t> dim,
                                                                                        std::optional<sym_int>) {
        return repeat_each_by_tensor(g, self, repeats, dim);
    }).by_parts<"self">();

inline constexpr auto repeat_indices = symbolic<"aten::repeat_interleave.Tensor(repeats, output_size)">(
    [](graph<11> g, value repeats, std::optional<sym_int>) {
        return g.cast(repeated_indices(g, repeats), repeats.dtype());
    });

inline constexpr auto roll =
    symbolic<"aten::roll(self, shifts, dims)">([](graph<7> g, value self, size_list shifts, axis_list dims) {
        if (dims.empty()) return reshape(g, roll_axis(g, flat(g, self), shifts[0], 0), g.sizes(self));
        value x = self;
        for (std::size_t i = 0; self.rank() != 0 && i != dims.size(); ++i)
            x = roll_axis(g, x, shifts[i], normalize_axis(dims[i], self.rank()));
        return x;
    }).by_parts<"self">();

inline constexpr auto fliplr = symbolic<"aten::fliplr(self)">([](graph<7> g, value self) {
                                   return flip_axes(g, self, safe_vector<std::int64_t>{1});
                               }).by_parts<"self">();

inline constexpr auto flipud = symbolic<"aten::flipud(self)">([](graph<7> g, value self) {
                                   return flip_axes(g, self, safe_vector<std::int64_t>{0});
                               }).by_parts<"self">();

} // namespace detail

inline constexpr auto repeating =
    table(detail::repeat, detail::tile_dims, detail::repeat_each_row, detail::repeat_by_tensor, detail::repeat_indices,
          detail::roll, symbolic<"aten::flip(self, dims)">(detail::flip_axes).by_parts<"self">(), detail::fliplr,
          detail::flipud, detail::rotate);

} // namespace ATON_NAMESPACE::mappings
