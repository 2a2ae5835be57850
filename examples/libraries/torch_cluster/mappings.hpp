// SPDX-License-Identifier: MIT
// torch_cluster: searches. How many pairs are found depends on the points, so the second dimension of the results is unknown.
#pragma once

#include <cstdint>
#include <limits>

#include <aton/aton.hpp>

namespace torch_cluster {

using namespace aton::dsl;

// The example of each point: how many of the ends in `ptr` lie at or before it.
inline value example_of(graph<13> g, value ptr, size points) {
    value const passed = g.op<"LessOrEqual">(ptr, g.op<"Unsqueeze">(g.op<"Range">(0, points, 1), g.ints({1})));
    return g.op<"ReduceSum">(g.cast<dtype::int64>(passed), g.ints({1}), attr::keepdims_i(0));
}

// [y, x]: whether two points belong to the same example.
inline optional_value is_same_example(graph<13> g, value x, value y, optional_value ptr_x, optional_value ptr_y) {
    if (!ptr_x && !ptr_y) return absent;
    value const of_x = example_of(g, *ptr_x, g.size(x, 0)); // *ptr_x refuses a call with ptr_y alone
    value const of_y = example_of(g, *ptr_y, g.size(y, 0));
    return g.op<"Equal">(g.op<"Unsqueeze">(of_y, g.ints({1})), of_x);
}

// [y, x]: squared distances.
inline value distances(graph<13> g, value x, value y) {
    value const offsets = g.op<"Sub">(g.op<"Unsqueeze">(y, g.ints({1})), x);
    return g.op<"ReduceSum">(g.op<"Mul">(offsets, offsets), g.ints({2}), attr::keepdims_i(0));
}

inline value unit(graph<13> g, value x) {
    value const squares = g.op<"ReduceSum">(g.op<"Mul">(x, x), g.ints({-1}));
    return g.op<"Div">(x, g.op<"Max">(g.op<"Sqrt">(squares), 1e-12));
}

inline constexpr auto radius =
    symbolic<"torch_cluster::radius(Tensor _0, Tensor _1, Tensor? _2, Tensor? _3, float _4, int _5, int _6, bool _7) "
             "-> Tensor _0">([](graph<14> g, value x, value y, optional_value ptr_x, optional_value ptr_y, double r,
                                std::int64_t limit, std::int64_t /*num_workers*/, bool ignore_same_index) -> value {
        value found = g.op<"Less">(distances(g, x, y), r * r);
        if (optional_value const same = is_same_example(g, x, y, ptr_x, ptr_y)) found = g.op<"And">(found, *same);
        if (ignore_same_index) {
            value const row = g.op<"Unsqueeze">(g.op<"Range">(0, g.size(y, 0), 1), g.ints({1}));
            found = g.op<"And">(found, g.op<"Not">(g.op<"Equal">(row, g.op<"Range">(0, g.size(x, 0), 1))));
        }
        value const rank = g.op<"CumSum">(g.cast<dtype::int64>(found), g.scalar(1, dtype::int64));
        return g.op<"NonZero">(g.op<"And">(found, g.op<"LessOrEqual">(rank, limit)));
    });

inline constexpr auto knn =
    symbolic<"torch_cluster::knn(Tensor _0, Tensor _1, Tensor? _2, Tensor? _3, int _4, bool _5, int _6) -> Tensor _0">(
        [](graph<13> g, value x, value y, optional_value ptr_x, optional_value ptr_y, std::int64_t k, bool cosine,
           std::int64_t /*num_workers*/) -> value {
            value distance = cosine ? value(g.op<"Neg">(g.op<"MatMul">(
                                          unit(g, y), g.op<"Transpose">(unit(g, x), attr::perm_i({1, 0})))))
                                    : distances(g, x, y);
            value const far = g.scalar_like(std::numeric_limits<double>::infinity(), distance);
            if (optional_value const same = is_same_example(g, x, y, ptr_x, ptr_y))
                distance = g.op<"Where">(*same, distance, far);
            // No more than there are points, and none of another example.
            value const count = g.op<"Min">(g.size(x, 0), k);
            auto const [nearest, column] = g.op<"TopK">(
                distance, g.op<"Reshape">(count, g.ints({1})), attr::axis_i(1), attr::largest_i(0), outputs<2>);
            value const flat = g.op<"Reshape">(column, g.ints({-1}));
            value const rows = g.op<"Unsqueeze">(g.op<"Range">(0, g.size(y, 0), 1), g.ints({1}));
            value const row = g.op<"Reshape">(g.op<"Expand">(rows, g.op<"Shape">(column)), g.ints({-1}));
            value const pairs = g.op<"Concat">(
                g.op<"Unsqueeze">(row, g.ints({0})), g.op<"Unsqueeze">(flat, g.ints({0})), attr::axis_i(0));
            value const is_near = g.op<"Less">(g.op<"Reshape">(nearest, g.ints({-1})), far);
            return g.op<"Compress">(pairs, is_near, attr::axis_i(1));
        });

inline constexpr auto mappings = table(radius, knn);

} // namespace torch_cluster
