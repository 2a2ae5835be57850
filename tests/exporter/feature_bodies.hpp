// SPDX-License-Identifier: MIT
// What the operators of write_feature_pairs.cpp compute: the parts of bodies and rows that features.py combines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <aton/aton.hpp>
#include <aton/domains/com_microsoft.hpp>

namespace feature_pairs {

using namespace aton::dsl;
using aton::dtype;

/// An operator that ONNX Runtime has, but which is not predeclared.
inline constexpr auto extension =
    domain<"com.microsoft", 1,
           op<"Trilu(T X, tensor(int64)? k, int upper=1) -> (T Y = like(X))", "T: float, double">>{};
inline constexpr auto part_body = [](graph<13> g, value x, double by) -> value { return g.op<"Sub">(x, by); };
inline constexpr auto helper =
    domain<"pairs.helper", 3, op<"Part(T X, float by=0.25) -> (T Y = like(X))", "T: float", body<part_body>>>{};

/// A graph that may call all of them.
template <int Since>
using with_domains = graph<Since, aton::domains::com_microsoft, extension, helper>;
using body_graph = with_domains<13>;

/// A rule of `infer<...>`: every output is as the first input.
template <std::size_t Outputs>
std::vector<aton::value_type> as_first(inference const& in) {
    return std::vector<aton::value_type>(Outputs, in.input(0));
}

template <class T>
T const& first(T const& v) {
    return v;
}
template <class... T>
auto first(std::tuple<T...> const& v) {
    return std::get<0>(v);
}

inline value positive(body_graph g, value y) {
    return g.op<"Greater">(g.op<"ReduceSum">(y, attr::keepdims_i(0)), g.scalar(0, dtype::float32));
}

inline value branch(body_graph g, value y) {
    return g.op<"If">(positive(g, y),
                      attr::then_branch_g([&](body_graph b) { return b.op<"Mul">(y, 2.0); }),
                      attr::else_branch_g([&](body_graph b) { return b.op<"Sub">(y, 1.0); }));
}

/// Runs without a condition; uses the number of the iteration, and a value from outside.
inline value loop(body_graph g, value y) {
    auto const [last] = g.op<"Loop">(
        g.scalar(3, dtype::int64), absent, y, outputs<1>, attr::body_g([&](body_graph b, value i, value c, value s) {
            value const step = b.op<"Mul">(b.op<"Add">(s, b.cast(i, dtype::float32)), 0.5);
            return std::tuple(b.op<"Identity">(c), b.op<"Add">(step, y));
        }));
    return last;
}

/// Runs as long as a sum is small; collects values. The dtype and shape of the collected ones are not known in a function.
inline value loop_until(body_graph g, value y) {
    auto const small = [](body_graph b, value s) {
        value const size = b.op<"ReduceSum">(b.op<"Abs">(s), attr::keepdims_i(0));
        return b.op<"Less">(size, b.scalar(60, dtype::float32));
    };
    value const start =
        g.op<"Less">(g.op<"ReduceSum">(g.op<"Mul">(y, 0.0), attr::keepdims_i(0)), g.scalar(1, dtype::float32));
    auto const [last, all] = g.op<"Loop">(
        g.scalar(5, dtype::int64), start, y, outputs<2>, attr::body_g([&](body_graph b, value, value, value s) {
            value const next = b.op<"Add">(b.op<"Mul">(s, 1.5), y);
            return std::tuple(small(b, next), next, next);
        }));
    return g.op<"Add">(last, g.op<"ReduceSum">(all, g.ints({0}), attr::keepdims_i(0)));
}

/// ONNX Runtime runs a Scan only if the ranks of its results follow from those of its operands, which a loop before it does not say.
inline value scan(body_graph g, value of_any_rank) {
    value const y = g.op<"Reshape">(of_any_rank, g.ints({-1, 3}));
    value const zeros = g.op<"Mul">(g.op<"ReduceSum">(y, g.ints({0}), attr::keepdims_i(0)), 0.0);
    auto const [last, all] = g.op<"Scan">(std::vector<value>{zeros, y},
                                          outputs<2>,
                                          attr::num_scan_inputs_i(1),
                                          attr::body_g([&](body_graph b, value state, value row) {
                                              value const total = b.op<"Add">(state, row);
                                              return std::tuple(total, b.op<"Mul">(total, 0.5));
                                          }));
    return g.op<"Add">(all, last);
}

/// A loop in a branch in a loop, which uses the outermost value.
inline value two_deep(body_graph g, value y) {
    auto const [last] = g.op<"Loop">(
        g.scalar(2, dtype::int64), absent, y, outputs<1>, attr::body_g([&](body_graph b, value i, value c, value s) {
            value const is_first = b.op<"Equal">(i, b.scalar(0, dtype::int64));
            value const next = b.op<"If">(is_first,
                                          attr::then_branch_g([&](body_graph t) -> value {
                                              auto const [inner] = t.op<"Loop">(
                                                  t.scalar(2, dtype::int64),
                                                  absent,
                                                  s,
                                                  outputs<1>,
                                                  attr::body_g([&](body_graph u, value k, value d, value z) {
                                                      value const sum = u.op<"Add">(u.op<"Mul">(z, 0.5), y);
                                                      return std::tuple(u.op<"Identity">(d),
                                                                        u.op<"Add">(sum, u.cast(k, dtype::float32)));
                                                  }));
                                              return inner;
                                          }),
                                          attr::else_branch_g([&](body_graph e) { return e.op<"Sub">(s, y); }));
            return std::tuple(b.op<"Identity">(c), next);
        }));
    return last;
}

inline value mapped(with_domains<17> g, value y) {
    value const rows = g.op<"SplitToSequence">(y, attr::axis_i(0), attr::keepdims_i(0));
    auto const [halves] = g.op<"SequenceMap">(
        rows, outputs<1>, attr::body_g([&](with_domains<17> b, value row) { return b.op<"Mul">(row, 0.5); }));
    return g.op<"ConcatFromSequence">(halves, attr::axis_i(0), attr::new_axis_i(1));
}

/// Calls an operator in a branch, and in a loop.
template <class Graph, class Call>
value in_branch(Graph g, value a, Call const& call) {
    return g.template op<"If">(positive(g, a),
                               attr::then_branch_g([&](Graph b) -> value { return call(b, a); }),
                               attr::else_branch_g([&](Graph b) -> value { return b.template op<"Neg">(call(b, a)); }));
}
template <class Graph, class Call>
value in_loop(Graph g, value a, Call const& call) {
    auto const [last] = g.template op<"Loop">(
        g.scalar(2, dtype::int64), absent, a, outputs<1>, attr::body_g([&](Graph b, value, value c, value s) {
            return std::tuple<value, value>(b.template op<"Identity">(c), b.template op<"Mul">(call(b, s), 0.5));
        }));
    return last;
}

} // namespace feature_pairs
