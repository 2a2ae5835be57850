// SPDX-License-Identifier: MIT
// fbgemm: jagged tensors. Lists of tensors and of sizes as arguments, a list among the results, a size that may be None.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace fbgemm {

using namespace aton::dsl;

inline value unsqueezed(graph<13> g, value x, std::int64_t axis) { return g.op<"Unsqueeze">(x, g.ints({axis})); }

inline constexpr auto jagged_to_padded_dense =
    symbolic<"fbgemm::jagged_to_padded_dense(Tensor values, Tensor[] offsets, SymInt[] max_lengths, "
             "float padding_value=0) -> Tensor">([](graph<13> g, value values, std::span<value const> offsets,
                                                    std::span<size const> max_lengths, double padding) -> value {
        if (offsets.empty() || offsets.size() != max_lengths.size()) return g.unsupported("these numbers of levels");
        // `at` is where in the next level, at last in `values`, each place of the result is found, and `exists` whether there is one.
        value at = g.op<"Range">(0, g.size(offsets[0], 0) - 1, 1);
        optional_value exists;
        for (std::size_t level = 0; level < offsets.size(); ++level) {
            value const ends = g.cast<dtype::int64>(offsets[level]);
            value const begin = unsqueezed(g, g.op<"Gather">(ends, at), -1);
            value const end = unsqueezed(g, g.op<"Gather">(ends, g.op<"Add">(at, 1)), -1);
            value const place = g.op<"Add">(begin, g.op<"Range">(0, max_lengths[level], 1));
            value const is_inside = g.op<"Less">(place, end);
            exists = exists ? value(g.op<"And">(unsqueezed(g, *exists, -1), is_inside)) : is_inside;
            at = g.op<"Where">(*exists, place, 0);
        }
        // Places without a value read a row of padding after the values.
        std::vector<size> row = g.sizes(values);
        size const count = row[0];
        row[0] = 1;
        value const rest = g.op<"Expand">(g.scalar_like(padding, values), g.ints(row));
        return g.op<"Gather">(
            g.op<"Concat">(values, rest, attr::axis_i(0)), g.op<"Where">(*exists, at, count), attr::axis_i(0));
    });

inline constexpr auto dense_to_jagged =
    symbolic<"fbgemm::dense_to_jagged(Tensor dense, Tensor[] x_offsets, SymInt? total_L=None) -> (Tensor, Tensor[])">(
        [](graph<13> g, value dense, std::span<value const> offsets,
           std::optional<size> total) -> std::tuple<value, std::vector<value>> {
            if (offsets.size() != 1) return g.unsupported("more than one level");
            value const ends = g.cast<dtype::int64>(offsets[0]);
            value const last = g.op<"Gather">(ends, g.scalar(-1, dtype::int64));
            value const place = g.op<"Range">(0, total ? g.to_value(*total) : last, 1);
            // The row of each value: how many rows end at or before it.
            value const later = g.op<"Slice">(ends, g.ints({1}), g.ints({std::numeric_limits<std::int64_t>::max()}));
            value const passed = g.op<"LessOrEqual">(later, unsqueezed(g, place, 1));
            value const row = g.op<"ReduceSum">(g.cast<dtype::int64>(passed), g.ints({1}), attr::keepdims_i(0));
            value const column = g.op<"Sub">(place, g.op<"Gather">(ends, row));
            // A row that is longer than the dense tensor ends in zeros.
            std::vector<size> padding = g.sizes(dense);
            size const width = padding[1];
            padding[1] = 1;
            value const zeros = g.op<"Expand">(g.scalar_like(0, dense), g.ints(padding));
            value const padded = g.op<"Concat">(dense, zeros, attr::axis_i(1));
            value const index =
                g.op<"Concat">(unsqueezed(g, row, 1), unsqueezed(g, g.op<"Min">(column, width), 1), attr::axis_i(1));
            return {g.op<"GatherND">(padded, index), {offsets[0]}};
        });

inline constexpr auto mappings = table(jagged_to_padded_dense, dense_to_jagged);

} // namespace fbgemm
