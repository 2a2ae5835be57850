// SPDX-License-Identifier: MIT
// Reductions of the segments of an axis: aten's segment_reduce.
// Public header.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <aton/mappings/detail/binary.hpp>
#include <aton/mappings/detail/elements.hpp>
#include <aton/mappings/detail/shaping.hpp>
#include <aton/mappings/reduction.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

/// The first elements of segments and the elements after their last ones, (outer, segments).
struct segment_bounds {
    value first;
    value end;
};
inline segment_bounds bounds_of_segments(graph<11> g, optional_value lengths, optional_value offsets, sym_int outer) {
    value const given = g.cast(lengths ? *lengths : *offsets, dtype::int64);
    value const rows = reshape(g, given, {outer, g.size(given, -1)});
    if (!lengths) return {slice(g, rows, 1, 0, -1), slice(g, rows, 1, 1, to_the_end)};
    value const end = g.op<"CumSum">(rows, g.scalar(1, dtype::int64));
    return {g.op<"Sub">(end, rows), end};
}

/// The value of a reduction of no elements.
inline double identity_of(std::string_view reduce) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    if (reduce == "sum" || reduce == "mean") return 0;
    if (reduce == "prod") return 1;
    if (reduce == "max") return -inf;
    if (reduce == "min") return inf;
    throw unsupported_error("reduce " + std::string(reduce));
}

/// One reduction of (outer, segments, n, inner) along n, combined with the initial value.
inline value reduced_segments(graph<11> g, value each, std::string_view reduce, value start) {
    std::int64_t const along[] = {2};
    if (reduce == "max") return max_of(g, extreme<"ReduceMax">(g, each, along, false), start);
    if (reduce == "min") return min_of(g, extreme<"ReduceMin">(g, each, along, false), start);
    if (reduce == "prod") return g.op<"Mul">(mappings::reduce<"ReduceProd">(g, each, along, false), start);
    return g.op<"Add">(reduce_sum(g, each, along, false), start);
}

/// Reduces each segment with a mask of its elements.
inline constexpr auto segment_reduce =
    symbolic<"aten::segment_reduce(data, reduce, lengths, indices, offsets, axis, unsafe, initial)">(
        [](graph<11> g, value data, std::string_view reduce, optional_value lengths, optional_value indices,
           optional_value offsets, std::int64_t axis, bool /*unsafe*/, std::optional<number> initial) -> value {
            if (indices) return g.unsupported("indices, which ATen does not support either");
            if (!lengths && !offsets) return g.unsupported("neither lengths nor offsets");
            if (!is_floating(data.dtype())) return g.unsupported("segments of " + std::string(name(data.dtype())));
            axis = normalize_axis(axis, data.rank());
            safe_vector<sym_int> const sizes = g.sizes(data);
            if (sizes.empty()) return g.unsupported("segments of a 0-d tensor");
            auto const front = safe_span<sym_int const>(sizes).first(static_cast<std::size_t>(axis));
            auto const back = safe_span<sym_int const>(sizes).subspan(static_cast<std::size_t>(axis) + 1);
            sym_int const n = sizes[static_cast<std::size_t>(axis)];
            dtype const type = opmath_type(data.dtype());
            segment_bounds const s = bounds_of_segments(g, lengths, offsets, product(front));
            value const place = arithmetic_sequence(g, 0, n);
            value const after_first = g.op<"Not">(g.op<"Less">(place, unsqueeze(g, s.first, 2)));
            value const inside = g.op<"And">(after_first, g.op<"Less">(place, unsqueeze(g, s.end, 2)));
            value const x = reshape(g, g.cast(data, type), {product(front), 1, n, product(back)});
            value const nothing = g.scalar(identity_of(reduce), type);
            value const each = g.op<"Where">(unsqueeze(g, inside, 3), x, nothing);
            value const start = initial ? element(g, *initial, type) : nothing;
            value y = reduced_segments(g, each, reduce, start);
            if (reduce == "mean") {
                value const count = unsqueeze(g, g.cast(g.op<"Sub">(s.end, s.first), type), 2);
                value const none = initial ? start : g.scalar(std::numeric_limits<double>::quiet_NaN(), type);
                y = g.op<"Where">(g.op<"Equal">(count, 0), none, g.op<"Div">(y, count));
            }
            safe_vector<sym_int> to(front.begin(), front.end());
            to.push_back(g.size(s.first, 1));
            to.insert(to.end(), back.begin(), back.end());
            return g.cast(reshape(g, y, to), data.dtype());
        });

} // namespace detail

inline constexpr auto segments = table(detail::segment_reduce);

} // namespace ATON_NAMESPACE::mappings
