// SPDX-License-Identifier: MIT
// More random calls: convolutions, pooling, resizing, recurrent layers, normalization, creation, sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "random_calls.hpp"

namespace random_graphs {

struct spatial_form {
    std::int64_t n = 1; ///< spatial dimensions
    sizes in, kernel, strides, dilations, pads;
};

inline spatial_form random_spatial(random_graph& g) {
    spatial_form f;
    f.n = g.number(1, 3);
    f.kernel = g.random_sizes(f.n, 1, 3);
    f.strides = g.random_sizes(f.n, 1, 3);
    f.dilations = g.random_sizes(f.n, 1, 2);
    for (std::int64_t i = 0; i != f.n; ++i) f.in.push_back(g.number(6, 10));
    for (std::int64_t i = 0; i != 2 * f.n; ++i)
        f.pads.push_back(std::min(g.number(0, 2), f.kernel[static_cast<std::size_t>(i % f.n)] - 1));
    return f;
}

inline sizes joined(sizes a, sizes const& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

inline void conv(random_graph& g) {
    spatial_form const f = random_spatial(g);
    std::int64_t const group = g.number(1, 2);
    value const x = g.input(dtype::float32, joined({2, 2 * group}, f.in));
    value const w = g.input(dtype::float32, joined({3 * group, 2}, f.kernel));
    auto const strides = attr_i<"strides">(std::span(f.strides));
    auto const dilations = attr_i<"dilations">(std::span(f.dilations));
    char const* const automatic[] = {"VALID", "SAME_UPPER", "SAME_LOWER"};
    if (g.chance(25))
        g.call("Conv", 1, x, w, attr_i<"group">(group), strides, attr_s<"auto_pad">(automatic[g.number(0, 2)]));
    else if (g.chance(50))
        g.call("Conv", 1, x, w, attr_i<"group">(group), strides, dilations, attr_i<"pads">(std::span(f.pads)));
    else
        g.call("Conv",
               1,
               x,
               w,
               attr_i<"group">(group),
               attr_i<"kernel_shape">(std::span(f.kernel)),
               attr_i<"pads">(std::span(f.pads)));
}

inline void conv_transpose(random_graph& g) {
    spatial_form const f = random_spatial(g);
    std::int64_t const group = g.number(1, 2);
    value const x = g.input(dtype::float32, joined({2, 2 * group}, f.in));
    value const w = g.input(dtype::float32, joined({2 * group, 3}, f.kernel));
    sizes extra;
    for (std::int64_t s : f.strides) extra.push_back(g.number(0, s - 1));
    g.call("ConvTranspose",
           1,
           x,
           w,
           attr_i<"group">(group),
           attr_i<"strides">(std::span(f.strides)),
           attr_i<"dilations">(std::span(f.dilations)),
           attr_i<"pads">(std::span(f.pads)),
           attr_i<"output_padding">(std::span(extra)));
}

inline void pool(random_graph& g) {
    spatial_form const f = random_spatial(g);
    value const x = g.input(dtype::float32, joined({2, 3}, f.in));
    auto const kernel = attr_i<"kernel_shape">(std::span(f.kernel));
    auto const strides = attr_i<"strides">(std::span(f.strides));
    auto const pads = attr_i<"pads">(std::span(f.pads));
    bool const max = g.chance(50);
    char const* const op = max ? "MaxPool" : "AveragePool";
    std::size_t const outputs = max && g.opset() >= 8 && g.chance(30) ? 2 : 1;
    if (g.opset() < 10 || g.chance(30)) g.call(op, outputs, x, kernel, strides, pads);
    else if (g.chance(20))
        g.call(op, outputs, x, kernel, strides, attr_s<"auto_pad">(g.chance(50) ? "SAME_UPPER" : "VALID"));
    else if (!max && g.opset() < 19) g.call(op, outputs, x, kernel, strides, pads, attr_i<"ceil_mode">(g.number(0, 1)));
    else
        g.call(op,
               outputs,
               x,
               kernel,
               strides,
               pads,
               attr_i<"ceil_mode">(g.number(0, 1)),
               attr_i<"dilations">(std::span(f.dilations)));
}

inline void global_pool(random_graph& g) {
    value const x = g.operand(dtype::float32, 3, 5);
    g.call(g.chance(50) ? "GlobalAveragePool" : "GlobalMaxPool", 1, x);
}

inline void resize(random_graph& g) {
    value const x = g.input(dtype::float32, {1, 2, g.number(3, 8), g.number(3, 8)});
    sizes const in = g.run_sizes(x);
    aton::tensor scales{dtype::float32, {4}, {}};
    sizes to{1, 2};
    for (int i = 0; i != 2; ++i) scales.append(1.0);
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t const t = g.number(2, 16);
        scales.append(g.chance(50) ? 2.0 : static_cast<double>(t) / static_cast<double>(in[2 + i]));
        to.push_back(t);
    }
    value const factors(g.data, aton::dsl::detail::append_constant(g.data, scales));
    if (g.opset() == 10) g.call("Resize", 1, x, factors);
    else if (g.opset() < 13 && g.opset() > 10) {
        value const roi(g.data, aton::dsl::detail::append_constant(g.data, aton::tensor{dtype::float32, {0}, {}}));
        g.call("Resize", 1, x, roi, factors);
    } else if (g.opset() >= 13 && g.chance(50)) g.call("Resize", 1, x, absent, factors);
    else if (g.opset() >= 18 && g.chance(50))
        g.call("Resize", 1, x, absent, absent, g.numbers({to[2], to[3]}), attr_i<"axes">({2, 3}));
    else if (g.opset() >= 13) g.call("Resize", 1, x, absent, absent, g.numbers(to));
}

inline void recurrent(random_graph& g) {
    char const* const ops[] = {"RNN", "GRU", "LSTM"};
    std::int64_t const kind = g.number(0, 2), gates = kind == 0 ? 1 : kind == 1 ? 3 : 4, hidden = 5, in = 3;
    bool const two = g.chance(50);
    std::int64_t const d = two ? 2 : 1;
    value const x = g.input(dtype::float32, {4, 2, in});
    value const w = g.input(dtype::float32, {d, gates * hidden, in});
    value const r = g.input(dtype::float32, {d, gates * hidden, hidden});
    g.call(ops[kind],
           kind == 2 ? 3 : 2,
           x,
           w,
           r,
           attr_i<"hidden_size">(hidden),
           attr_s<"direction">(two ? "bidirectional" : "forward"));
}

inline void depth(random_graph& g) {
    if (g.chance(50)) g.call("DepthToSpace", 1, g.input(dtype::float32, {2, 8, 3, 4}), attr_i<"blocksize">(2));
    else g.call("SpaceToDepth", 1, g.input(dtype::float32, {2, 3, 4, 6}), attr_i<"blocksize">(2));
}

inline void top_k(random_graph& g) {
    sizes s = g.random_sizes(g.number(1, 4));
    std::int64_t const axis = g.axis(static_cast<std::int64_t>(s.size()));
    value const x = g.input(dtype::float32, s);
    if (g.opset() < 10) g.call("TopK", 2, x, attr_i<"k">(1), attr_i<"axis">(axis));
    else g.call("TopK", 2, x, g.numbers({1}), attr_i<"axis">(axis));
}

inline void one_hot(random_graph& g) {
    sizes const s = g.random_sizes(g.number(1, 3));
    value const values(
        g.data, aton::dsl::detail::append_constant(g.data, aton::tensor{dtype::float32, {2}, std::string(8, '\0')}));
    g.call("OneHot",
           1,
           zeros(g, s),
           g.numbers({7}, dtype::int64, g.chance(50)),
           values,
           attr_i<"axis">(g.number(-1, static_cast<std::int64_t>(s.size()))));
}

inline void softmax(random_graph& g) {
    value const x = g.operand(dtype::float32, 1, 4);
    auto const axis = attr_i<"axis">(g.axis(static_cast<std::int64_t>(g.run_sizes(x).size())));
    char const* const ops[] = {"Softmax", "LogSoftmax", "Hardmax"};
    g.call(ops[g.number(0, 2)], 1, x, axis);
}

inline void cumsum(random_graph& g) {
    value const x = g.operand(dtype::float32, 1, 4);
    g.call("CumSum", 1, x, g.numbers({0}, dtype::int64, true));
    if (g.opset() >= 14 && g.run_sizes(x).size() >= 2) g.call("Trilu", 1, x);
}

inline void norms(random_graph& g) {
    value const x = g.input(dtype::float32, {2, 4, 5, 3});
    auto const channel = [&] { return g.input(dtype::float32, {4}); };
    switch (g.number(0, 3)) {
    case 0: g.call("InstanceNormalization", 1, x, channel(), channel()); break;
    case 1: g.call("BatchNormalization", 1, x, channel(), channel(), channel(), channel()); break;
    case 2: g.call("LRN", 1, x, attr_i<"size">(3)); break;
    default:
        if (g.opset() >= 17) g.call("LayerNormalization", 3, x, g.input(dtype::float32, {5, 3}), attr_i<"axis">(-2));
    }
}

inline void dropout(random_graph& g) { g.call("Dropout", g.opset() >= 10 ? 2 : 1, g.operand(dtype::float32)); }
inline void cast(random_graph& g) {
    g.call("Cast", 1, g.operand(dtype::float32), attr_i<"to">(g.chance(50) ? dtype::int64 : dtype::float16));
}

inline void select(random_graph& g) {
    value const x = g.operand(dtype::float32, 1, 3);
    g.call("NonZero", 1, x);
    if (g.opset() >= 11 && g.chance(50)) g.call("Unique", 4, x);
    if (g.opset() >= 11) g.call("Unique", 4, x, attr_i<"axis">(0));
    sizes const s = g.run_sizes(x);
    value const keep = g.input(dtype::bool_, {s[0]});
    if (g.opset() >= 11 || g.chance(50)) g.call("Compress", 1, x, keep, attr_i<"axis">(0));
    else g.call("Compress", 1, x, keep);
}

inline void creation(random_graph& g) {
    aton::tensor const seven{dtype::int64, {1}, std::string("\7\0\0\0\0\0\0\0", 8)};
    sizes const s = g.random_sizes(g.number(0, 3));
    g.call("ConstantOfShape", 1, g.numbers(s), attr_t<"value">(seven));
    g.call("ConstantOfShape", 1, g.numbers(s));
    if (g.opset() >= 11)
        g.call("Range",
               1,
               g.numbers({g.number(-5, 5)}, dtype::int64, true),
               g.numbers({g.number(-5, 9)}, dtype::int64, true),
               g.numbers({g.chance(80) ? 2 : -3}, dtype::int64, true));
    g.call("EyeLike", 1, g.operand(dtype::float32, 2, 2), attr_i<"dtype">(dtype::int64));
    g.call("RandomNormal", 1, attr_i<"shape">(std::span(s)), attr_i<"dtype">(dtype::float64));
    g.call("RandomUniformLike", 1, g.operand(dtype::float32), attr_i<"dtype">(dtype::float64));
    if (g.opset() >= 17)
        g.call("HannWindow", 1, g.numbers({8}, dtype::int64, true), attr_i<"output_datatype">(dtype::float64));
    if (g.opset() >= 12) g.call("Constant", 1, attr_i<"value_ints">({1, 2, 3}));
    if (g.opset() >= 12) g.call("Constant", 1, attr_f<"value_float">(1.5));
}

inline void sequences(random_graph& g) {
    sizes const s = g.random_sizes(g.number(1, 3), 2, 4);
    value const x = g.input(dtype::float32, s);
    value const index(g.data, aton::dsl::detail::append_constant(g.data, aton::scalar_tensor(0, dtype::int64)));
    std::vector<value> const made =
        g.chance(50) ? g.call("SequenceConstruct", 1, x, g.chance(50) ? x : g.input(dtype::float32, s))
                     : g.call("SplitToSequence", 1, x, attr_i<"axis">(0), attr_i<"keepdims">(g.number(0, 1)));
    g.call("SequenceAt", 1, made[0], index);
    g.call("SequenceLength", 1, made[0]);
    g.call("ConcatFromSequence", 1, made[0], attr_i<"axis">(0), attr_i<"new_axis">(g.number(0, 1)));
    std::vector<value> const more =
        g.call("SequenceInsert", 1, made[0], g.input(dtype::float32, g.chance(50) ? s : g.random_sizes(2)));
    g.call("SequenceAt", 1, more[0], index);
    if (g.opset() >= 15) g.call("OptionalGetElement", 1, g.call("Optional", 1, x)[0]);
}

inline void grids(random_graph& g) {
    g.call("GridSample", 1, g.input(dtype::float32, {2, 3, 4, 5}), g.input(dtype::float32, {2, 6, 7, 2}));
    if (g.opset() >= 20) g.call("AffineGrid", 1, g.input(dtype::float32, {2, 2, 3}), g.numbers({2, 3, 4, 5}));
    if (g.opset() >= 18)
        g.call("Col2Im", 1, g.input(dtype::float32, {2, 12, 12}), g.numbers({4, 5}), g.numbers({2, 2}));
    if (g.opset() >= 18)
        g.call("CenterCropPad", 1, g.operand(dtype::float32, 3, 4), g.numbers({4, 5}), attr_i<"axes">({-1, 0}));
}

inline void quantized(random_graph& g) {
    value const x = g.operand(dtype::float32);
    value const scale(g.data, aton::dsl::detail::append_constant(g.data, aton::scalar_tensor(0.5, dtype::float32)));
    value const zero(g.data, aton::dsl::detail::append_constant(g.data, aton::scalar_tensor(0, dtype::int8)));
    std::vector<value> const q =
        g.chance(50) ? g.call("QuantizeLinear", 1, x, scale, zero) : g.call("QuantizeLinear", 1, x, scale);
    g.call("DequantizeLinear", 1, q[0], scale);
    if (g.opset() >= 11) g.call("DynamicQuantizeLinear", 3, x);
}

inline void attention(random_graph& g) {
    if (g.chance(50))
        g.call("Attention",
               1,
               g.input(dtype::float32, {2, 3, 4, 8}),
               g.input(dtype::float32, {2, 3, 6, 8}),
               g.input(dtype::float32, {2, 3, 6, 5}));
    else
        g.call("Attention",
               1,
               g.input(dtype::float32, {2, 4, 24}),
               g.input(dtype::float32, {2, 6, 8}),
               g.input(dtype::float32, {2, 6, 10}),
               attr_i<"q_num_heads">(3),
               attr_i<"kv_num_heads">(1));
}

inline constexpr call_maker call_makers[] = {
    {"elementwise", 7, newest, unary<"Relu">},
    {"not", 7, newest, unary<"Not", dtype::bool_>},
    {"isnan", 9, newest, unary<"IsNaN">},
    {"add", 7, newest, binary<"Add">},
    {"equal", 7, newest, binary<"Equal", dtype::int64>},
    {"and", 7, newest, binary<"And", dtype::bool_>},
    {"pow", 7, newest, binary<"Pow">},
    {"mod", 10, newest, binary<"Mod", dtype::int64>},
    {"bitwise", 18, newest, binary<"BitwiseAnd", dtype::int64>},
    {"where", 9, newest, where},
    {"variadic", 8, newest, variadic},
    {"reduce_sum", 7, newest, reduce<"ReduceSum", 13>},
    {"reduce_max", 7, newest, reduce<"ReduceMax", 18>},
    {"arg_reduce", 7, newest, arg_reduce},
    {"matmul", 9, newest, matmul},
    {"gemm", 9, newest, gemm},
    {"einsum", 12, newest, einsum},
    {"transpose", 7, newest, transpose},
    {"reshape", 7, newest, reshape},
    {"flatten", 9, newest, flatten},
    {"squeeze", 7, newest, squeeze},
    {"unsqueeze", 7, newest, unsqueeze},
    {"concat", 7, newest, concat},
    {"split", 7, newest, split},
    {"slice", 7, newest, slice},
    {"gather", 7, newest, gather},
    {"gather_elements", 11, newest, gather_elements},
    {"gather_nd", 11, newest, gather_nd},
    {"expand", 8, newest, expand},
    {"tile", 7, newest, tile},
    {"pad", 7, newest, pad},
    {"shape", 7, newest, shape},
    {"conv", 7, newest, conv},
    {"conv_transpose", 7, newest, conv_transpose},
    {"pool", 7, newest, pool},
    {"global_pool", 7, newest, global_pool},
    {"resize", 10, newest, resize},
    {"recurrent", 7, newest, recurrent},
    {"depth", 11, newest, depth},
    {"top_k", 7, newest, top_k},
    {"one_hot", 11, newest, one_hot},
    {"softmax", 7, newest, softmax},
    {"cumsum", 11, newest, cumsum},
    {"norms", 9, newest, norms},
    {"dropout", 7, newest, dropout},
    {"cast", 9, newest, cast},
    {"select", 9, newest, select},
    {"creation", 9, newest, creation},
    {"sequences", 11, newest, sequences},
    {"grids", 16, newest, grids},
    {"quantized", 10, newest, quantized},
    {"attention", 23, newest, attention},
};

/// Adds one random call to the graph and returns its name.
inline char const* add_random_call(random_graph& g) {
    for (;;) {
        call_maker const& m =
            call_makers[static_cast<std::size_t>(g.number(0, static_cast<std::int64_t>(std::size(call_makers)) - 1))];
        if (g.opset() < m.since || g.opset() > m.until) continue;
        m.make(g);
        return m.name;
    }
}

} // namespace random_graphs
