// SPDX-License-Identifier: MIT
// TensorRT: the operators, element types and conditions that its ONNX parser documents (github.com/onnx/onnx-tensorrt,
// docs/operators.md of release 10.1), and rewrites of what it does not have.
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <aton/dsl/rewrite.hpp>
#include <aton/targets/conditions.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE::targets {

namespace detail::tensorrt {

using namespace dsl; // NOLINT(google-build-using-namespace): the table is written in this language

inline constexpr type_set narrow_floats = tensors(dtype::float32, dtype::float16);
inline constexpr type_set floats = narrow_floats | tensors(dtype::bfloat16);
inline constexpr type_set numbers = floats | tensors(dtype::int32, dtype::int64);
inline constexpr type_set bools = tensors(dtype::bool_);
inline constexpr type_set all = numbers | bools;
inline constexpr type_set all_and_bytes = all | tensors(dtype::uint8);
inline constexpr type_set quantized = tensors(dtype::int8, dtype::float8_e4m3fn, dtype::int4);

inline bool has_no_dilations(graph_node const& n) {
    node_attribute const* const a = n.attribute("dilations");
    return a == nullptr || std::all_of(a->ints.begin(), a->ints.end(), [](std::int64_t d) { return d == 1; });
}
inline bool is_plain_pool(graph_data const& g, graph_node const& n) {
    std::int64_t const rank = rank_of(g, n);
    return (rank < 0 || rank == 4 || rank == 5) && has_no_dilations(n) && has_one_result(g, n);
}
inline bool is_plain_recurrence(graph_data const&, graph_node const& n) {
    return has_number(n, "layout", 0, 0) && has_number(n, "input_forget", 0, 0);
}
inline bool is_plain_resize(graph_data const&, graph_node const& n) {
    bool const has_mode = has_text(n, "mode", "nearest", "nearest") || has_text(n, "mode", "linear", "nearest");
    return has_mode && has_number(n, "antialias", 0, 0) &&
           has_text(n, "keep_aspect_ratio_policy", "stretch", "stretch") &&
           !has_text(n, "coordinate_transformation_mode", "tf_crop_and_resize", "half_pixel");
}
inline bool has_no_reduction(graph_data const&, graph_node const& n) {
    return has_text(n, "reduction", "none", "none");
}
inline bool is_sorted(graph_data const&, graph_node const& n) { return has_number(n, "sorted", 1, 1); }
inline bool has_static_input(graph_data const& g, graph_node const& n) {
    return g.values[n.inputs[0]].type.shape.is_static();
}

// clang-format off: one row per line
inline constexpr operator_support operators[] = {
    {"Abs", numbers},
    {"Acos", floats},
    {"Acosh", floats},
    {"Add", numbers},
    {"And", bools},
    {"ArgMax", numbers},
    {"ArgMin", numbers},
    {"Asin", floats},
    {"Asinh", floats},
    {"Atan", floats},
    {"Atanh", floats},
    {"AveragePool", floats, "pools only two or three dimensions, without dilations", is_plain_pool},
    {"BatchNormalization", floats},
    {"Cast", all_and_bytes},
    {"CastLike", all_and_bytes},
    {"Ceil", floats},
    {"Celu", floats},
    {"Clip", floats},
    {"Concat", all},
    {"Constant", all},
    {"ConstantOfShape", all},
    {"Conv", floats},
    {"ConvTranspose", floats},
    {"Cos", floats},
    {"Cosh", floats},
    {"CumSum", floats, "takes only a constant axis", has_constant<1>},
    {"DeformConv", narrow_floats, "takes only images and lines", has_rank_up_to<4>},
    {"DepthToSpace", numbers},
    {"DequantizeLinear", quantized},
    {"Div", numbers},
    {"Dropout", floats},
    {"Einsum", floats},
    {"Elu", floats},
    {"Equal", numbers},
    {"Erf", floats},
    {"Exp", floats},
    {"Expand", all},
    {"EyeLike", all, "takes only an input of constant sizes", has_static_input},
    {"Flatten", all},
    {"Floor", floats},
    {"GRU", floats, "has no attribute layout", is_plain_recurrence},
    {"Gather", all},
    {"GatherElements", all},
    {"GatherND", all},
    {"Gelu", numbers},
    {"Gemm", floats},
    {"GlobalAveragePool", floats},
    {"GlobalLpPool", floats},
    {"GlobalMaxPool", floats},
    {"Greater", numbers},
    {"GreaterOrEqual", numbers},
    {"GridSample", narrow_floats, "takes only four dimensions", has_rank_of<4>},
    {"GroupNormalization", floats},
    {"HardSigmoid", floats},
    {"HardSwish", floats},
    {"Hardmax", floats},
    {"Identity", all},
    {"If", all},
    {"InstanceNormalization", floats},
    {"IsInf", floats},
    {"IsNaN", numbers},
    {"LRN", floats},
    {"LSTM", floats, "has no attributes layout and input_forget", is_plain_recurrence},
    {"LayerNormalization", floats, "has no result but the first", has_one_result},
    {"LeakyRelu", floats},
    {"Less", numbers},
    {"LessOrEqual", numbers},
    {"Log", floats},
    {"LogSoftmax", floats},
    {"Loop", all},
    {"LpNormalization", floats},
    {"LpPool", floats, "pools only two or three dimensions, without dilations", is_plain_pool},
    {"MatMul", floats},
    {"Max", numbers},
    {"MaxPool", floats, "pools only two or three dimensions, without dilations and indices", is_plain_pool},
    {"Mean", numbers},
    {"MeanVarianceNormalization", floats},
    {"Min", numbers},
    {"Mish", narrow_floats},
    {"Mod", numbers},
    {"Mul", numbers},
    {"Neg", numbers},
    {"NonMaxSuppression", narrow_floats},
    {"NonZero", all},
    {"Not", bools},
    {"OneHot", all, "takes only a constant depth", has_constant<1>},
    {"Or", bools},
    {"PRelu", floats},
    {"Pad", numbers, "takes only constant axes", has_constant<3>},
    {"Pow", floats},
    {"QuantizeLinear", floats},
    {"RNN", floats, "has no attribute layout", is_plain_recurrence},
    {"RandomNormal", floats},
    {"RandomNormalLike", floats},
    {"RandomUniform", floats},
    {"RandomUniformLike", floats},
    {"Range", numbers},
    {"Reciprocal", floats},
    {"ReduceL1", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceL2", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceLogSum", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceLogSumExp", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceMax", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceMean", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceMin", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceProd", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceSum", numbers, "takes only constant axes", has_constant<1>},
    {"ReduceSumSquare", numbers, "takes only constant axes", has_constant<1>},
    {"Relu", numbers},
    {"Reshape", all},
    {"Resize", floats, "has only the modes nearest and linear, without antialiasing", is_plain_resize},
    {"ReverseSequence", all},
    {"RoiAlign", narrow_floats},
    {"Round", floats},
    {"Scan", floats},
    {"Scatter", numbers},
    {"ScatterElements", numbers},
    {"ScatterND", numbers, "has no reduction", has_no_reduction},
    {"Selu", floats},
    {"Shape", all_and_bytes},
    {"Shrink", numbers},
    {"Sigmoid", floats},
    {"Sign", numbers},
    {"Sin", floats},
    {"Sinh", floats},
    {"Size", all_and_bytes},
    {"Slice", all, "takes only constant axes", has_constant<3>},
    {"Softmax", floats},
    {"Softplus", floats},
    {"Softsign", floats},
    {"SpaceToDepth", numbers},
    {"Split", all},
    {"Sqrt", floats},
    {"Squeeze", all, "takes only constant axes", has_constant<1>},
    {"Sub", numbers},
    {"Sum", numbers},
    {"Tan", floats},
    {"Tanh", floats},
    {"ThresholdedRelu", floats},
    {"Tile", all},
    {"TopK", numbers, "takes only sorted results", is_sorted},
    {"Transpose", all},
    {"Trilu", all},
    {"Unsqueeze", all, "takes only constant axes", has_constant<1>},
    {"Upsample", floats},
    {"Where", all},
    {"Xor", bools}
};
// clang-format on

/// (batch, channels, length) as images of height 1.
inline value as_image(graph<13, 20> g, value x) { return g.op<"Unsqueeze">(x, g.ints({2})); }
inline std::vector<std::int64_t> of_image(std::vector<std::int64_t> const& list, std::int64_t other) {
    if (list.size() == 1) return {other, list[0]};
    return {other, list[0], other, list[1]};
}

using integers = std::vector<std::int64_t>;

inline constexpr auto table = rewrites(
    rewrite<"tensorrt.compress">(
        [](pattern<13, 20> p, capture<value> x, capture<value> mask, capture<std::int64_t> axis) {
            return p.op<"Compress">(x, mask, attr::axis_i(axis));
        },
        [](graph<13, 20> g, value x, value mask, std::int64_t axis) {
            return g.op<"Gather">(x, g.op<"Squeeze">(g.op<"NonZero">(mask), g.ints({0})), attr::axis_i(axis));
        }),
    rewrite<"tensorrt.compress_all">(
        [](pattern<13, 20> p, capture<value> x, capture<value> mask) { return p.op<"Compress">(x, mask); },
        [](graph<13, 20> g, value x, value mask) {
            return g.op<"Gather">(g.op<"Reshape">(x, g.ints({-1})),
                                  g.op<"Squeeze">(g.op<"NonZero">(mask), g.ints({0})));
        }),
    rewrite<"tensorrt.max_pool_of_lines">(
        [](pattern<13, 20> p, capture<value> x, capture<integers> kernel, capture<integers> strides,
           capture<integers> pads, capture<std::int64_t> ceil) {
            return p.op<"MaxPool">(
                x, attr::kernel_shape_i(kernel), attr::strides_i(strides), attr::pads_i(pads), attr::ceil_mode_i(ceil));
        },
        [](value x, integers const&, integers const&, integers const&, std::int64_t) { return x.rank() == 3; },
        [](graph<13, 20> g, value x, integers const& kernel, integers const& strides, integers const& pads,
           std::int64_t ceil) {
            return g.op<"Squeeze">(g.op<"MaxPool">(as_image(g, x),
                                                   attr::kernel_shape_i(of_image(kernel, 1)),
                                                   attr::strides_i(of_image(strides, 1)),
                                                   attr::pads_i(of_image(pads, 0)),
                                                   attr::ceil_mode_i(ceil)),
                                   g.ints({2}));
        }),
    rewrite<"tensorrt.average_pool_of_lines">(
        [](pattern<13, 20> p, capture<value> x, capture<integers> kernel, capture<integers> strides,
           capture<integers> pads, capture<std::int64_t> ceil, capture<std::int64_t> counts) {
            return p.op<"AveragePool">(x,
                                       attr::kernel_shape_i(kernel),
                                       attr::strides_i(strides),
                                       attr::pads_i(pads),
                                       attr::ceil_mode_i(ceil),
                                       attr::count_include_pad_i(counts));
        },
        [](value x, integers const&, integers const&, integers const&, std::int64_t, std::int64_t) {
            return x.rank() == 3;
        },
        [](graph<13, 20> g, value x, integers const& kernel, integers const& strides, integers const& pads,
           std::int64_t ceil, std::int64_t counts) {
            return g.op<"Squeeze">(g.op<"AveragePool">(as_image(g, x),
                                                       attr::kernel_shape_i(of_image(kernel, 1)),
                                                       attr::strides_i(of_image(strides, 1)),
                                                       attr::pads_i(of_image(pads, 0)),
                                                       attr::ceil_mode_i(ceil),
                                                       attr::count_include_pad_i(counts)),
                                   g.ints({2}));
        }));

} // namespace detail::tensorrt

/// Opsets 9 to 20, no float64, and the operators of its parser. UINT8 is supported in inputs, outputs and casts only.
inline constexpr target tensorrt{.name = "tensorrt",
                                 .title = "TensorRT 10.1",
                                 .about = "the operators and types of TensorRT 10.1 at opsets 9 to 20",
                                 .since = 9,
                                 .until = 20,
                                 .rewrites = detail::tensorrt::table,
                                 .operators = detail::tensorrt::operators,
                                 .types = detail::tensorrt::all_and_bytes | detail::tensorrt::quantized,
                                 .is_symmetric = true};

} // namespace ATON_NAMESPACE::targets
