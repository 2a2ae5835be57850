// SPDX-License-Identifier: MIT
// Algorithms for long axes, in Loops whose memory grows with the elements and not with their square: binary search in
// sorted elements, and reductions of all elements so far.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <aton/mappings/detail/common.hpp>
#include <aton/mappings/detail/shaping.hpp>

namespace ATON_NAMESPACE::mappings::detail {

/// Whether there may be more elements than can be compared with each other in little memory.
inline bool are_many(dim const& elements, std::int64_t few) { return !elements.is_static() || elements.size() > few; }

/// Up to here, a graph without a Loop is smaller and faster.
inline constexpr std::int64_t few_boundaries = 128;
inline constexpr std::int64_t few_prefixes = 32;

/// Whether an element of the sorted sequence comes before the value, at the positions of the values.
using is_before = std::function<value(graph<13>, value element, value x)>;

/// The number of elements that come before each value, int64, in the steps of ATen's binary search, so that elements
/// that are not sorted (NaN) lead to the same position. `sorted` is 1-d, or has a row for each row of x.
inline value search_sorted(graph<13> g, value sorted, value x, is_before const& before) {
    value const count = g.to_value(g.size(sorted, -1));
    value const first = g.op<"Expand">(g.scalar(0, dtype::int64), g.op<"Shape">(x));
    value const end = g.op<"Expand">(count, g.op<"Shape">(x));
    value const last = g.op<"Sub">(count, 1);
    auto const all =
        g.op<"Loop">(absent,
                     g.op<"Greater">(count, 0),
                     safe_vector<value>{first, end, count},
                     output_list(3),
                     attr::body_g([&](graph<13> b, value, value, safe_span<value const> state) {
                         safe_vector<value> now(state.begin(), state.end());
                         now[0].set_shape(x.shape());
                         now[1].set_shape(x.shape());
                         now[2].set_shape(count.shape());
                         value const middle = b.op<"Div">(b.op<"Add">(now[0], now[1]), 2);
                         value const at = b.op<"Min">(middle, last); // past the last element where the search has ended
                         value const element = sorted.rank() == 1
                                                   ? gather_of(b, sorted, at, 0)
                                                   : value(b.op<"GatherElements">(sorted, at, attr::axis_i(-1)));
                         value const goes_on = b.op<"And">(b.op<"Less">(now[0], now[1]), before(b, element, x));
                         value const left = b.op<"Div">(now[2], 2);
                         std::vector<value> body_results = {b.op<"Greater">(left, 0),
                                                            b.op<"Where">(goes_on, b.op<"Add">(middle, 1), now[0]),
                                                            b.op<"Where">(goes_on, now[1], middle),
                                                            left};
                         return body_results;
                     }));
    value out = all[0];
    return out.set_shape(x.shape());
}

/// The reduction of elements that lie apart: those that come earlier along the axis, then those that come later, each
/// as one tensor per carried value. It must be associative.
using combination = std::function<safe_vector<value>(graph<13>, safe_span<value const>, safe_span<value const>)>;

/// Replaces each element by the reduction of all elements up to it. In steps of 1, 2, 4, ... elements, each is combined
/// with the one that lies a step before it, which by then stands for as many elements as the step is long.
inline safe_vector<value> reduce_so_far(graph<13> g, safe_vector<value> const& elements, std::int64_t axis,
                                        combination const& combine) {
    value const count = g.to_value(g.size(elements[0], axis));
    value const one = g.scalar(1, dtype::int64);
    safe_vector<value> start = elements;
    start.push_back(one);
    auto const all =
        g.op<"Loop">(absent,
                     g.op<"Less">(one, count),
                     start,
                     output_list(start.size()),
                     attr::body_g([&](graph<13> b, value, value, safe_span<value const> state) {
                         safe_vector<value> now(state.begin(), state.end());
                         for (std::size_t i = 0; i != now.size(); ++i) now[i].set_shape(start[i].shape());
                         value const step = now.back();
                         now.pop_back();
                         sym_int const from = step;
                         sym_int const rest = value(b.op<"Sub">(count, step));
                         safe_vector<value> earlier;
                         safe_vector<value> later;
                         for (value const& x : now) {
                             earlier.push_back(slice(b, x, axis, 0, rest));
                             later.push_back(slice(b, x, axis, from, to_the_end));
                         }
                         value const next = b.op<"Mul">(step, 2);
                         std::vector<value> body_results = {b.op<"Less">(next, count)};
                         safe_vector<value> const combined = combine(b, earlier, later);
                         for (std::size_t i = 0; i != now.size(); ++i)
                             body_results.push_back(b.op<"Concat">(
                                 safe_vector<value>{slice(b, now[i], axis, 0, from), combined[i]}, attr::axis_i(axis)));
                         body_results.push_back(next);
                         return body_results;
                     }));
    safe_vector<value> out;
    for (std::size_t i = 0; i != elements.size(); ++i) {
        value x = all[i];
        out.push_back(x.set_shape(elements[i].shape()));
    }
    return out;
}
inline value reduce_so_far(graph<13> g, value x, std::int64_t axis,
                           std::function<value(graph<13>, value, value)> const& combine) {
    return reduce_so_far(g, safe_vector<value>{x}, axis, [&](graph<13> b, auto earlier, auto later) {
        return safe_vector<value>{combine(b, earlier[0], later[0])};
    })[0];
}

} // namespace ATON_NAMESPACE::mappings::detail
