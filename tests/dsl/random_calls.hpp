// SPDX-License-Identifier: MIT
// Random legal calls of the operators that have shape rules, in the form of the graph's opset (axes as attribute or as input, ...).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "random_graph.hpp"

namespace random_graphs {

struct call_maker {
    char const* name;
    int since;
    int until;
    void (*make)(random_graph&);
};

inline constexpr int newest = 28;

/// `x` with a shape that broadcasts to the sizes: some dimensions are 1, leading ones are missing.
inline sizes broadcastable(random_graph& g, sizes s) {
    for (std::int64_t& d : s)
        if (g.chance(30)) d = 1;
    if (g.chance(40)) s.erase(s.begin(), s.begin() + g.number(0, static_cast<std::int64_t>(s.size())));
    return s;
}

template <aton::fixed_string Op, dtype Type = dtype::float32>
void binary(random_graph& g) {
    sizes const s = g.random_sizes(g.number(0, 4));
    value a = g.input(Type, broadcastable(g, s));
    value b = g.input(Type, s);
    if (g.chance(50)) std::swap(a, b);
    g.call(Op.data, 1, a, b);
}

template <aton::fixed_string Op, dtype Type = dtype::float32, int Low = 0>
void unary(random_graph& g) {
    g.call(Op.data, 1, g.operand(Type, Low));
}

template <aton::fixed_string Op, int InputSince>
void reduce(random_graph& g) {
    value const x = g.operand(dtype::float32, 0, 4);
    sizes const axes = g.axes(static_cast<std::int64_t>(g.run_sizes(x).size()), 1);
    auto const keep = attr_i<"keepdims">(g.number(0, 1));
    if (axes.empty() || g.chance(20)) g.call(Op.data, 1, x, keep);
    else if (g.opset() < InputSince) g.call(Op.data, 1, x, attr_i<"axes">(std::span(axes)), keep);
    else if (g.chance(20)) g.call(Op.data, 1, x, g.numbers({}), keep, attr_i<"noop_with_empty_axes">(g.number(0, 1)));
    else g.call(Op.data, 1, x, g.numbers(axes), keep);
}

inline void arg_reduce(random_graph& g) {
    value const x = g.operand(dtype::float32, 1, 4);
    g.call(g.chance(50) ? "ArgMax" : "ArgMin",
           1,
           x,
           attr_i<"axis">(g.axis(static_cast<std::int64_t>(g.run_sizes(x).size()))),
           attr_i<"keepdims">(g.number(0, 1)));
}

inline void where(random_graph& g) {
    sizes const s = g.random_sizes(g.number(0, 4));
    g.call("Where",
           1,
           g.input(dtype::bool_, broadcastable(g, s)),
           g.input(dtype::float32, s),
           g.input(dtype::float32, broadcastable(g, s)));
}

inline void variadic(random_graph& g) {
    sizes const s = g.random_sizes(g.number(0, 4));
    std::vector<value> all;
    for (std::int64_t i = g.number(1, 3); i != 0; --i) all.push_back(g.input(dtype::float32, broadcastable(g, s)));
    char const* const ops[] = {"Max", "Min", "Sum", "Mean"};
    g.call(ops[g.number(0, 3)], 1, std::span<value const>(all));
}

inline void matmul(random_graph& g) {
    sizes batch = g.random_sizes(g.number(0, 2));
    std::int64_t const n = g.number(1, 5), k = g.number(2, 5), m = g.number(1, 5);
    sizes a = broadcastable(g, batch), b = batch;
    if (g.chance(15) && b.empty()) {
        b = {k};
    } else {
        b.push_back(k), b.push_back(m);
    }
    if (g.chance(15)) a = {k};
    else a.push_back(n), a.push_back(k);
    g.call("MatMul", 1, g.input(dtype::float32, a), g.input(dtype::float32, b));
}

inline void gemm(random_graph& g) {
    std::int64_t const n = g.number(1, 5), k = g.number(1, 5), m = g.number(1, 5);
    bool const ta = g.chance(50), tb = g.chance(50);
    g.call("Gemm",
           1,
           g.input(dtype::float32, ta ? sizes{k, n} : sizes{n, k}),
           g.input(dtype::float32, tb ? sizes{m, k} : sizes{k, m}),
           g.input(dtype::float32, broadcastable(g, {n, m})),
           attr_i<"transA">(ta ? 1 : 0),
           attr_i<"transB">(tb ? 1 : 0));
}

inline void einsum(random_graph& g) {
    struct form {
        char const* equation;
        std::vector<sizes> operands;
    };
    form const forms[] = {{"ij,jk->ik", {{2, 3}, {3, 4}}},
                          {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
                          {"ij->ji", {{2, 3}}},
                          {"ii->i", {{3, 3}}},
                          {"ij->", {{2, 3}}},
                          {"b i j , b j k -> b i k", {{2, 3, 4}, {2, 4, 5}}},
                          {"...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}}},
                          {"...ij,jk->...ik", {{2, 2, 3, 4}, {4, 5}}},
                          {"ij,jk", {{2, 3}, {3, 4}}},
                          {"i,j->ij", {{2}, {3}}}};
    form const& f = forms[g.number(0, 9)];
    std::vector<value> operands;
    for (sizes const& s : f.operands) operands.push_back(g.input(dtype::float32, s));
    g.call("Einsum", 1, std::span<value const>(operands), attr_s<"equation">(f.equation));
}

inline void transpose(random_graph& g) {
    std::int64_t const rank = g.number(0, 4);
    value const x = g.input(dtype::float32, g.random_sizes(rank));
    sizes perm;
    for (std::int64_t a : g.axes(rank, rank)) perm.push_back(a < 0 ? a + rank : a);
    if (g.chance(20)) g.call("Transpose", 1, x);
    else g.call("Transpose", 1, x, attr_i<"perm">(std::span(perm)));
}

inline void reshape(random_graph& g) {
    sizes from = g.random_sizes(g.number(1, 4));
    value const x = g.input(dtype::float32, from);
    sizes to = from;
    if (to.size() > 1 && g.chance(50)) {
        std::int64_t const merged = to[0] * to[1];
        to.erase(to.begin());
        to[0] = merged;
    }
    if (g.chance(30)) to.insert(to.begin() + g.number(0, static_cast<std::int64_t>(to.size())), 1);
    if (g.chance(60)) to[static_cast<std::size_t>(g.number(0, static_cast<std::int64_t>(to.size()) - 1))] = -1;
    for (std::size_t i = 0; i != to.size() && i != from.size(); ++i)
        if (to[i] == from[i] && g.chance(20)) to[i] = 0;
    g.call("Reshape", 1, x, g.numbers(to));
}

inline void flatten(random_graph& g) {
    std::int64_t const rank = g.number(1, 4);
    value const x = g.input(dtype::float32, g.random_sizes(rank));
    g.call("Flatten", 1, x, attr_i<"axis">(g.number(g.opset() < 11 ? 0 : -rank, rank)));
}

inline void squeeze(random_graph& g) {
    sizes s = g.random_sizes(g.number(1, 4));
    std::int64_t const rank = static_cast<std::int64_t>(s.size());
    sizes axes = g.axes(rank, 1);
    if (g.opset() < 13) std::sort(axes.begin(), axes.end()); // libonnx accepts only this order
    for (std::int64_t a : axes) s[static_cast<std::size_t>(a < 0 ? a + rank : a)] = 1;
    value const x = g.input(dtype::float32, s);
    if (g.chance(20)) g.call("Squeeze", 1, x);
    else if (g.opset() < 13) g.call("Squeeze", 1, x, attr_i<"axes">(std::span(axes)));
    else g.call("Squeeze", 1, x, g.numbers(axes));
}

inline void unsqueeze(random_graph& g) {
    std::int64_t const rank = g.number(0, 3), more = g.number(1, 3);
    sizes axes = g.axes(rank + more, rank + more);
    axes.resize(static_cast<std::size_t>(more));
    value const x = g.input(dtype::float32, g.random_sizes(rank));
    if (g.opset() < 13) g.call("Unsqueeze", 1, x, attr_i<"axes">(std::span(axes)));
    else g.call("Unsqueeze", 1, x, g.numbers(axes));
}

inline void concat(random_graph& g) {
    sizes s = g.random_sizes(g.number(1, 4));
    std::int64_t const rank = static_cast<std::int64_t>(s.size());
    std::int64_t const axis = g.axis(rank);
    std::vector<value> parts;
    for (std::int64_t i = g.number(1, 4); i != 0; --i) {
        s[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = g.number(1, 4);
        parts.push_back(g.input(dtype::float32, s));
    }
    g.call("Concat", 1, std::span<value const>(parts), attr_i<"axis">(axis));
}

inline void split(random_graph& g) {
    sizes s = g.random_sizes(g.number(1, 4));
    std::int64_t const rank = static_cast<std::int64_t>(s.size());
    std::int64_t const axis = g.axis(rank), parts = g.number(1, 3);
    sizes lengths;
    std::int64_t total = 0;
    for (std::int64_t i = 0; i != parts; ++i) total += lengths.emplace_back(g.number(1, 4));
    bool const equal = g.chance(40);
    std::int64_t const uneven = g.opset() >= 18 && parts == 2 ? g.number(0, 1) : 0;
    s[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = equal ? 2 * parts - uneven : total;
    value const x = g.input(dtype::float32, s);
    auto const count = static_cast<std::size_t>(parts);
    if (equal && g.opset() >= 18) g.call("Split", count, x, attr_i<"axis">(axis), attr_i<"num_outputs">(parts));
    else if (equal) g.call("Split", count, x, attr_i<"axis">(axis));
    else if (g.opset() < 13) g.call("Split", count, x, attr_i<"axis">(axis), attr_i<"split">(std::span(lengths)));
    else g.call("Split", count, x, g.numbers(lengths), attr_i<"axis">(axis));
}

inline void slice(random_graph& g) {
    sizes const s = g.random_sizes(g.number(1, 4));
    sizes const axes = g.axes(static_cast<std::int64_t>(s.size()), 1);
    value const x = g.input(dtype::float32, s);
    sizes starts, ends, steps;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        bool const whole = g.chance(30);
        starts.push_back(whole ? 0 : g.number(-7, 7));
        ends.push_back(g.chance(30) || whole ? INT64_MAX : g.number(-7, 7));
        steps.push_back(g.opset() < 10 || g.chance(60) ? 1 : g.chance(50) ? g.number(1, 3) : g.number(-3, -1));
    }
    if (g.opset() < 10)
        g.call("Slice",
               1,
               x,
               attr_i<"starts">(std::span(starts)),
               attr_i<"ends">(std::span(ends)),
               attr_i<"axes">(std::span(axes)));
    else if (g.chance(20) && axes.size() == s.size()) g.call("Slice", 1, x, g.numbers(starts), g.numbers(ends));
    else g.call("Slice", 1, x, g.numbers(starts), g.numbers(ends), g.numbers(axes), g.numbers(steps));
}

/// Indices that are legal for every dimension.
inline value zeros(random_graph& g, sizes const& s) {
    std::int64_t n = 1;
    for (std::int64_t d : s) n *= d;
    value const v = g.input(dtype::int64, s);
    g.input_values[g.data.values[v.id()].name] = sizes(static_cast<std::size_t>(n), 0);
    return v;
}

inline void gather(random_graph& g) {
    value const x = g.operand(dtype::float32, 1, 4);
    std::int64_t const axis = g.axis(static_cast<std::int64_t>(g.run_sizes(x).size()));
    g.call("Gather", 1, x, zeros(g, g.random_sizes(g.number(0, 3), 1, 3)), attr_i<"axis">(axis));
}

inline void gather_elements(random_graph& g) {
    sizes const s = g.random_sizes(g.number(1, 4));
    value const x = g.input(dtype::float32, s);
    if (g.chance(50))
        g.call("GatherElements", 1, x, zeros(g, s), attr_i<"axis">(g.axis(static_cast<std::int64_t>(s.size()))));
    else
        g.call("ScatterElements",
               1,
               x,
               zeros(g, s),
               g.input(dtype::float32, s),
               attr_i<"axis">(g.axis(static_cast<std::int64_t>(s.size()))));
}

inline void gather_nd(random_graph& g) {
    sizes const s = g.random_sizes(g.number(2, 4));
    std::int64_t const batch = g.opset() >= 12 ? g.number(0, 1) : 0;
    sizes indices;
    if (batch != 0) indices.push_back(s[0]);
    indices.push_back(g.number(1, 3));
    indices.push_back(g.number(1, static_cast<std::int64_t>(s.size()) - batch));
    value const x = g.input(dtype::float32, s);
    if (batch != 0) g.call("GatherND", 1, x, zeros(g, indices), attr_i<"batch_dims">(batch));
    else g.call("GatherND", 1, x, zeros(g, indices));
}

inline void expand(random_graph& g) {
    sizes const s = g.random_sizes(g.number(0, 4));
    g.call("Expand", 1, g.input(dtype::float32, broadcastable(g, s)), g.numbers(broadcastable(g, s)));
}

inline void tile(random_graph& g) {
    sizes const s = g.random_sizes(g.number(1, 3));
    g.call("Tile", 1, g.input(dtype::float32, s), g.numbers(g.random_sizes(static_cast<std::int64_t>(s.size()), 1, 3)));
}

inline void pad(random_graph& g) {
    sizes const s = g.random_sizes(g.number(1, 4));
    value const x = g.input(dtype::float32, s);
    sizes const axes = g.axes(static_cast<std::int64_t>(s.size()), 1);
    bool const by_axes = g.opset() >= 18 && g.chance(40);
    sizes pads;
    for (std::size_t i = 0; i != 2 * (by_axes ? axes.size() : s.size()); ++i)
        pads.push_back(g.chance(40) ? 0 : g.number(0, 3));
    if (g.opset() < 11) g.call("Pad", 1, x, attr_i<"pads">(std::span(pads)));
    else if (by_axes) g.call("Pad", 1, x, g.numbers(pads), absent, g.numbers(axes));
    else g.call("Pad", 1, x, g.numbers(pads));
}

inline void shape(random_graph& g) {
    value const x = g.operand(dtype::float32);
    if (g.opset() >= 15) g.call("Shape", 1, x, attr_i<"start">(g.number(-6, 6)), attr_i<"end">(g.number(-6, 6)));
    else g.call("Shape", 1, x);
    g.call("Size", 1, x);
}

} // namespace random_graphs
