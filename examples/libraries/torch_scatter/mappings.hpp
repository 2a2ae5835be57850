// SPDX-License-Identifier: MIT
// torch_scatter: two results whose size depends on the data, If, and schemas without names.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace torch_scatter {

using namespace aton::dsl;

// One more than the greatest index; 0 where there is none.
inline size groups_of(graph<18> g, value index) {
    value const flat = g.op<"Reshape">(index, g.ints({-1}));
    value const is_empty = g.op<"Equal">(g.op<"Size">(flat), 0);
    value const count = g.op<"If">(
        is_empty,
        attr::then_branch_g([](graph<18> b) { return b.scalar(0, dtype::int64); }),
        attr::else_branch_g([&](graph<18> b) { return b.op<"Add">(b.op<"ReduceMax">(flat, attr::keepdims_i(0)), 1); }));
    return size(count);
}

inline value smallest(graph<18> g, value x) {
    if (x.dtype() == dtype::int64) return g.scalar(std::numeric_limits<std::int64_t>::min(), dtype::int64);
    return g.scalar_like(-std::numeric_limits<double>::infinity(), x);
}

inline constexpr auto scatter_max =
    symbolic<"torch_scatter::scatter_max(Tensor _0, Tensor _1, int _2, Tensor? _3, int? _4) -> (Tensor _0, Tensor _1)">(
        [](graph<18> g, value src, value index, std::int64_t dim, optional_value out,
           std::optional<std::int64_t> dim_size) -> std::tuple<value, value> {
            if (out) return g.unsupported("a tensor for the result");
            std::vector<size> shape = g.sizes(src);
            std::size_t const axis = static_cast<std::size_t>(dim < 0 ? dim + src.rank() : dim);
            size const count = shape[axis];
            shape[axis] = dim_size ? size(*dim_size) : groups_of(g, index);

            auto const scattered = [&](value start, value updates, std::string_view reduction) -> value {
                return g.op<"ScatterElements">(g.op<"Expand">(start, g.ints(shape)),
                                               index,
                                               updates,
                                               attr::axis_i(dim),
                                               attr::reduction_s(reduction));
            };
            value const greatest = scattered(smallest(g, src), src, "max");
            // The place of an element that equals the maximum of its group; for any other element the size.
            value const is_greatest = g.op<"Equal">(src, g.op<"GatherElements">(greatest, index, attr::axis_i(dim)));
            std::vector<size> along(shape.size(), 1);
            along[axis] = count;
            value const places = g.op<"Reshape">(g.op<"Range">(0, count, 1), g.ints(along));
            value const none = g.to_value(count);
            value const place = scattered(none, g.op<"Where">(is_greatest, places, none), "min");
            return {g.op<"Where">(g.op<"Equal">(place, none), g.scalar_like(0, src), greatest), place};
        });

inline constexpr auto segment_sum_csr =
    symbolic<"torch_scatter::segment_sum_csr(Tensor _0, Tensor _1, Tensor? _2) -> Tensor _0">(
        [](graph<16> g, value src, value indptr, optional_value out) -> value {
            if (out) return g.unsupported("a tensor for the result");
            if (indptr.rank() != 1) return g.unsupported("indptr of more than one dimension");
            // How many ends lie at or before a position: 0 before the first segment, i + 1 in segment i.
            value const positions = g.op<"Range">(0, g.size(src, 0), 1);
            value const passed = g.op<"LessOrEqual">(g.op<"Unsqueeze">(indptr, g.ints({1})), positions);
            value const group = g.op<"ReduceSum">(g.cast<dtype::int64>(passed), g.ints({0}), attr::keepdims_i(0));

            std::vector<size> shape = g.sizes(src);
            size const count = g.size(indptr, 0) - 1;
            shape[0] = count + 2; // and one group on either side
            value const zeros = g.op<"Expand">(g.scalar_like(0, src), g.ints(shape));
            value const all =
                g.op<"ScatterND">(zeros, g.op<"Unsqueeze">(group, g.ints({-1})), src, attr::reduction_s("add"));
            return g.op<"Slice">(all, g.ints({1}), g.ints({count + 1}), g.ints({0}));
        });

inline constexpr auto mappings = table(scatter_max, segment_sum_csr);

} // namespace torch_scatter
