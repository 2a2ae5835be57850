// SPDX-License-Identifier: MIT
// pyg_lib: lists of tensors as arguments and as a result, and a Loop whose carried value grows.
#pragma once

#include <span>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>

namespace pyg_lib {

using namespace aton::dsl;

inline constexpr auto segment_matmul =
    symbolic<"pyg::segment_matmul(Tensor input, Tensor ptr, Tensor other) -> Tensor">(
        [](graph<13> g, value input, value ptr, value other) {
            value const nothing = g.op<"Expand">(g.scalar_like(0, input), g.ints({0, g.size(other, 2)}));
            value const all = g.op<"Loop">(
                g.size(other, 0), absent, nothing, attr::body_g([&](graph<13> b, value i, value go_on, value done) {
                    value const begin = b.op<"Reshape">(i, b.ints({1}));
                    value const first = b.op<"Gather">(ptr, begin), last = b.op<"Gather">(ptr, b.op<"Add">(begin, 1));
                    value const rows = b.op<"Slice">(input, first, last, b.ints({0}));
                    value const product = b.op<"MatMul">(rows, b.op<"Gather">(other, i, attr::axis_i(0)));
                    return std::tuple(go_on, b.op<"Concat">(done, product, attr::axis_i(0)));
                }));
            // The iterations change the size, so it is not inferred.
            return all.set_shape({input.size(0), other.size(2)});
        });

inline constexpr auto grouped_matmul = symbolic<"pyg::grouped_matmul(Tensor[] input, Tensor[] other) -> Tensor[]">(
    [](graph<13> g, std::span<value const> input, std::span<value const> other) -> std::vector<value> {
        if (input.size() != other.size()) return g.unsupported("lists of different lengths");
        std::vector<value> products;
        for (std::size_t i = 0; i < input.size(); ++i) products.push_back(g.op<"MatMul">(input[i], other[i]));
        return products;
    });

inline constexpr auto mappings = table(segment_matmul, grouped_matmul);

} // namespace pyg_lib
