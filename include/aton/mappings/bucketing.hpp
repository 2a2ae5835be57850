// SPDX-License-Identifier: MIT
// Bucket indices: aten's searchsorted and bucketize, by comparison with every boundary or, if there are many, by binary
// search.
// Public header.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/long_axes.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The number of boundaries below each value, or (`right`) not above it. `boundaries` is 1-d or has one row per row of x.
/// The comparisons are negated, so that NaN sorts above all boundaries.
inline value bucket_of(graph<7> g, value x, value boundaries, bool right, bool out_int32) {
    dtype const type = promote(boundaries, x);
    if (g.opset() >= 13 && are_many(boundaries.size(-1), few_boundaries)) {
        auto const before = [right](graph<13> b, value edge, value v) -> value {
            return b.op<"Not">(right ? value(b.op<"Greater">(edge, v)) : b.op<"GreaterOrEqual">(edge, v));
        };
        value const place = search_sorted(
            g.within<13>(), selectable(g, g.cast(boundaries, type)), selectable(g, g.cast(x, type)), before);
        return g.cast(place, out_int32 ? dtype::int32 : dtype::int64);
    }
    value const v = selectable(g, unsqueeze(g, g.cast(x, type), -1));
    value const edges = selectable(g, g.cast(boundaries.rank() == 1 ? boundaries : unsqueeze(g, boundaries, -2), type));
    value const above = right ? value(is_greater(g, edges, v)) : value(is_at_least(g, edges, v));
    value const count = reduce_sum(g, g.cast(g.op<"Not">(above), dtype::int64), std::array{x.rank()}, false);
    return g.cast(count, out_int32 ? dtype::int32 : dtype::int64);
}

inline constexpr auto search =
    symbolic<"aten::searchsorted.Tensor(sorted_sequence, self, out_int32, right, side, sorter)">(
        [](graph<9> g, value sequence, value x, bool out_int32, bool right, std::optional<std::string_view> side,
           optional_value sorter) -> value {
            value const sorted = sorter ? value(elements_at(g, sequence, *sorter, -1)) : sequence;
            return bucket_of(g, x, sorted, right || side == "right", out_int32);
        });

/// A number to search for, in the dtype that ATen promotes it to.
inline value searched_number(graph<7> g, value sequence, number const& n) {
    return g.cast(wrapped_number(g, n), promote(sequence, n));
}

inline constexpr auto search_number =
    symbolic<"aten::searchsorted.Scalar(sorted_sequence, self, out_int32, right, side, sorter)">(
        [](graph<9> g, value sequence, number self, bool out_int32, bool right, std::optional<std::string_view> side,
           optional_value sorter) {
            return search(g, sequence, searched_number(g, sequence, self), out_int32, right, side, sorter);
        });

inline constexpr auto bucketize = symbolic<"aten::bucketize.Tensor(self, boundaries, out_int32, right)">(
    [](graph<7> g, value self, value boundaries, bool out_int32, bool right) {
        return bucket_of(g, self, boundaries, right, out_int32);
    });

inline constexpr auto bucketize_number = symbolic<"aten::bucketize.Scalar(self, boundaries, out_int32, right)">(
    [](graph<7> g, number self, value boundaries, bool out_int32, bool right) {
        return bucket_of(g, searched_number(g, boundaries, self), boundaries, right, out_int32);
    });

} // namespace detail

inline constexpr auto bucketing =
    table(detail::search, detail::search_number, detail::bucketize, detail::bucketize_number);

} // namespace ATON_NAMESPACE::mappings
