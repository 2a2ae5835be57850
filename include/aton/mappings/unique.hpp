// SPDX-License-Identifier: MIT
// Distinct elements: aten's unique operators as ONNX's Unique.
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <aton/mappings/detail/elements.hpp>

namespace ATON_NAMESPACE::mappings {

namespace detail {

using unique_results = std::tuple<value, optional_value, optional_value>;

/// Unique with sorted elements, because sorted=False allows any order in ATen. Results that are not requested are absent.
inline unique_results unique_elements(graph<11> g, value x, bool return_inverse, bool return_counts) {
    auto const [y, indices, inverse, counts] = g.op<"Unique">(flat(g, x), attr::sorted_i(1), outputs<4>);
    optional_value const from = return_inverse ? optional_value(reshape(g, inverse, g.sizes(x))) : optional_value();
    return {y, from, return_counts ? optional_value(counts) : optional_value()};
}

/// Whether each slice after the first differs from the one before it, element by element.
inline value unequal_neighbors(graph<11> g, value x) {
    return g.op<"Not">(is_equal(g, slice(g, x, 0, 1, to_the_end), slice(g, x, 0, 0, -1)));
}
/// Where runs start: at the first element, and at those that differ from the one before.
inline value after_the_first(graph<11> g, value differs) {
    value const first = g.constant(tensor{dtype::bool_, {1}, std::string(1, '\1')});
    return g.op<"Concat">(safe_vector{first, differs}, attr::axis_i(0));
}
inline value run_of_each(graph<11> g, value starts) {
    return g.op<"Sub">(g.op<"CumSum">(g.cast(starts, dtype::int64), g.scalar(0, dtype::int64)), 1);
}
inline value lengths_of_runs(graph<11> g, value starts, sym_int n) {
    value const first = g.op<"Compress">(arithmetic_sequence(g, 0, n), starts, attr::axis_i(0));
    value const next = g.op<"Concat">(safe_vector{slice(g, first, 0, 1, to_the_end), as_list(g, n)}, attr::axis_i(0));
    return g.op<"Sub">(next, first);
}
/// 1, ..., rank - 1.
inline safe_vector<std::int64_t> other_axes(std::int64_t rank) {
    safe_vector<std::int64_t> axes = iota(rank);
    axes.erase(axes.begin());
    return axes;
}

/// unique_consecutive: the first element of each run of equal elements, the run of every element, and the lengths of
/// the runs.
inline unique_results distinct_runs(graph<11> g, value self, bool return_inverse, bool return_counts) {
    value const x = flat(g, self);
    sym_int const n = g.size(x, 0);
    if (n.is(0)) {
        value const none = empty_constant(g, safe_vector<std::int64_t>{0}, dtype::int64);
        return {x,
                return_inverse ? optional_value(reshape(g, none, g.sizes(self))) : optional_value(),
                return_counts ? optional_value(none) : optional_value()};
    }
    value const starts = after_the_first(g, unequal_neighbors(g, x));
    value const y = g.op<"Compress">(x, starts, attr::axis_i(0));
    optional_value const inverse =
        return_inverse ? optional_value(reshape(g, run_of_each(g, starts), g.sizes(self))) : absent;
    return {y, inverse, return_counts ? optional_value(lengths_of_runs(g, starts, n)) : absent};
}

/// unique_consecutive along an axis: runs of equal slices. ATen returns all results here, requested or not.
inline unique_results distinct_slices(graph<11> g, value self, std::int64_t axis) {
    sym_int const n = g.size(self, axis);
    if (n.is(0)) {
        value const none = empty_constant(g, safe_vector<std::int64_t>{0}, dtype::int64);
        return {self, none, none};
    }
    std::int64_t const from[] = {axis};
    std::int64_t const to[] = {0};
    value const differs = unequal_neighbors(g, move_axes(g, self, from, to));
    value const any = reduce<"ReduceMax">(g, g.cast(differs, dtype::int32), other_axes(self.rank()), false);
    value const starts = after_the_first(g, g.cast(any, dtype::bool_));
    return {g.op<"Compress">(self, starts, attr::axis_i(axis)), run_of_each(g, starts), lengths_of_runs(g, starts, n)};
}

inline constexpr auto unique =
    symbolic<"aten::_unique(self, sorted, return_inverse)">([](graph<11> g, value self, bool, bool return_inverse) {
        auto const [y, inverse, counts] = unique_elements(g, self, return_inverse, false);
        return std::tuple<value, optional_value>(y, inverse);
    });

inline constexpr auto unique2 = symbolic<"aten::_unique2(self, sorted, return_inverse, return_counts)">(
    [](graph<11> g, value self, bool, bool return_inverse, bool return_counts) {
        return unique_elements(g, self, return_inverse, return_counts);
    });

inline constexpr auto unique_dim = symbolic<"aten::unique_dim(self, dim, sorted, return_inverse, return_counts)">(
    [](graph<11> g, value self, std::int64_t dim, bool, bool, bool) {
        std::int64_t const axis = normalize_axis(dim, self.rank());
        auto const [y, indices, inverse, counts] =
            g.op<"Unique">(at_least_1d(g, self), attr::axis_i(axis), attr::sorted_i(1), outputs<4>);
        return std::tuple<value, value, value>(y, inverse, counts);
    });

inline constexpr auto unique_consecutive =
    symbolic<"aten::unique_consecutive(self, return_inverse, return_counts, dim)">(
        [](graph<11> g, value self, bool return_inverse, bool return_counts,
           std::optional<std::int64_t> dim) -> unique_results {
            if (dim && self.rank() > 1) return distinct_slices(g, self, normalize_axis(*dim, self.rank()));
            bool const gives_all = dim && *dim != 0 && self.rank() == 1; // -1 counts as an axis of slices, 0 does not
            return distinct_runs(g, self, return_inverse || gives_all, return_counts || gives_all);
        });

} // namespace detail

inline constexpr auto unique = table(detail::unique, detail::unique2, detail::unique_dim, detail::unique_consecutive);

} // namespace ATON_NAMESPACE::mappings
