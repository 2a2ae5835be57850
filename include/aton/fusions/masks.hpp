// SPDX-License-Identifier: MIT
// Masks of attention as transformers computes them: one element at a time for a grid of all rows and columns.
// Public header.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/fusions/detail/common.hpp>

namespace ATON_NAMESPACE::fusions {

namespace detail {

/// 0, 1, ... before `end`, along one axis.
inline constexpr auto counted = [](auto p, auto end, capture<integers> sizes) {
    return p.shared(p.template op<"Reshape">(p.shared(p.template op<"Range">(0, end, 1)), sizes));
};

} // namespace detail

inline constexpr auto masks = rewrites(
    // x[i, j] of the first rows i and columns j, (rows, 1, 1, columns). The numbers of both are sizes, and so at least 0.
    rewrite<"grid_of_matrix">(
        [](pattern<15> p, capture<value> x, capture<value> rows, capture<value> columns,
           capture<detail::integers> row_sizes, capture<detail::integers> column_sizes, capture<detail::integers> axes,
           capture<std::int64_t> axis) {
            auto const i = detail::counted(p, p.shared(p.op<"Squeeze">(rows)), row_sizes);
            auto const j = detail::counted(p, columns, column_sizes);
            auto const width = p.shared(p.op<"Shape">(j, attr::start_i(3)));
            auto const sizes = p.shared(p.op<"Concat">(rows, p.ints({1, 1}), width, attr::axis_i(0)));
            auto const place = [&](auto const& t) {
                return p.op<"Unsqueeze">(p.shared(p.op<"Expand">(t, sizes)), axes);
            };
            return p.op<"GatherND">(x, p.op<"Concat">(place(i), place(j), attr::axis_i(axis)));
        },
        [](value x, value rows, value columns, detail::integers const& row_sizes, detail::integers const& column_sizes,
           detail::integers const& axes, std::int64_t axis) {
            bool const is_last = (axis == 4 || axis == -1) && axes.size() == 1 && (axes[0] == 4 || axes[0] == -1);
            return x.rank() == 2 && rows.rank() == 1 && rows.dtype() == dtype::int64 &&
                   columns.dtype() == dtype::int64 && row_sizes == detail::integers{-1, 1, 1, 1} &&
                   column_sizes == detail::integers{1, 1, 1, -1} && is_last;
        },
        [](graph<15> g, value x, value rows, value columns, detail::integers const&,
           detail::integers const& column_sizes, detail::integers const&, std::int64_t) {
            value const counted = g.op<"Range">(g.scalar(0, dtype::int64), columns, g.scalar(1, dtype::int64));
            value const width = g.op<"Shape">(g.op<"Reshape">(counted, g.ints(column_sizes)), attr::start_i(3));
            value const ends = g.op<"Concat">(rows, width, attr::axis_i(0));
            return g.op<"Unsqueeze">(g.op<"Slice">(x, g.ints({0, 0}), ends, g.ints({0, 1})), g.ints({1, 2}));
        }));

} // namespace ATON_NAMESPACE::fusions
