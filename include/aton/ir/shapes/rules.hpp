// SPDX-License-Identifier: MIT
// Infers the parts of output types that type variables do not determine: dtypes from attributes, and shapes. Anything uncertain stays
// unknown. tests/dsl/shape_rules_test.cpp compares the rules with ONNX's own inference.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <aton/ir/graph.hpp>
#include <aton/ir/shapes/context.hpp>
#include <aton/ir/shapes/control.hpp>
#include <aton/ir/shapes/layout.hpp>
#include <aton/ir/shapes/math.hpp>
#include <aton/ir/shapes/reshape.hpp>
#include <aton/ir/shapes/spatial.hpp>
#include <aton/ir/shapes/types.hpp>

namespace ATON_NAMESPACE::shapes {

template <class Context>
struct rule {
    void (*apply)(Context&);
    std::string_view ops; ///< names, with a space before and after each
};

template <class Context>
inline constexpr rule<Context> rules[] = {
    {[](Context& c) { c.same(0, 0); },
     " Abs Acos Acosh Asin Asinh Atan Atanh BitwiseNot CastLike Ceil Celu Clip Cos Cosh CumProd CumSum Elu Erf Exp"
     " Floor Gelu GroupNormalization HardSigmoid HardSwish Identity InstanceNormalization IsInf IsNaN LRN"
     " LeakyRelu Log LpNormalization MeanVarianceNormalization Mish Neg Not PRelu"
     " Reciprocal RegexFullMatch Relu ReverseSequence RotaryEmbedding Round Scatter ScatterElements ScatterND Selu"
     " Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh TensorScatter ThresholdedRelu "},
    {along_one_axis<Context>, " Hardmax LogSoftmax Softmax "},
    {[](Context& c) { c.expect_rank(0, 2), c.same(0, 0); }, " Trilu "},
    {rms_norm<Context>, " RMSNormalization "},
    {broadcast_all<Context>,
     " Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean"
     " Min Mod Mul Or Pow StringConcat Sub Sum SwiGLU Where Xor "},
    {reduce<Context>,
     " ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum"
     " ReduceSumSquare "},
    {arg_reduce<Context>, " ArgMax ArgMin "},
    {[](Context& c) { matmul(c, 1); }, " MatMul MatMulInteger "},
    {[](Context& c) { matmul(c, 3); }, " QLinearMatMul "},
    {gemm<Context>, " Gemm "},
    {einsum<Context>, " Einsum "},
    {transpose<Context>, " Transpose "},
    {reshape<Context>, " Reshape "},
    {flatten<Context>, " Flatten "},
    {squeeze<Context>, " Squeeze "},
    {unsqueeze<Context>, " Unsqueeze "},
    {concat<Context>, " Concat "},
    {split<Context>, " Split "},
    {slice<Context>, " Slice "},
    {gather<Context>, " Gather "},
    {[](Context& c) { c.same(0, 1); }, " GatherElements "},
    {gather_nd<Context>, " GatherND "},
    {expand<Context>, " Expand "},
    {tile<Context>, " Tile "},
    {pad<Context>, " Pad "},
    {shape_of<Context>, " Shape "},
    {[](Context& c) { c.set_rank(0, 0); }, " OptionalHasElement SequenceLength Size "},
    {[](Context& c) { conv(c, 1); }, " Conv ConvInteger DeformConv "},
    {[](Context& c) { conv(c, 3); }, " QLinearConv "},
    {conv_transpose<Context>, " ConvTranspose "},
    {pool<Context>, " AveragePool LpPool MaxPool "},
    {global_pool<Context>, " GlobalAveragePool GlobalLpPool GlobalMaxPool "},
    {resize<Context>, " Resize Upsample "},
    {layer_norm<Context>, " LayerNormalization "},
    {batch_norm<Context>, " BatchNormalization "},
    {[](Context& c) { c.expect_rank(1, 0, 0), c.expect_rank(2, 0, 0), c.same(0, 0), c.same(1, 0); }, " Dropout "},
    {top_k<Context>, " TopK "},
    {one_hot<Context>, " OneHot "},
    {[](Context& c) { c.set(0, {c.ranked(0) ? dim(c.rank(0)) : dim(), dim()}); }, " NonZero "},
    {range<Context>, " Range "},
    {cast<Context>, " BitCast Cast "},
    {like<Context>, " Bernoulli EyeLike RandomNormalLike RandomUniformLike "},
    {constant<Context>, " Constant "},
    {constant_of_shape<Context>, " ConstantOfShape "},
    {random<Context>, " RandomNormal RandomUniform "},
    {multinomial<Context>, " Multinomial "},
    {window_function<Context>, " BlackmanWindow HammingWindow HannWindow "},
    {recurrent<Context>, " GRU LSTM RNN "},
    {[](Context& c) { move_depth(c, true); }, " DepthToSpace "},
    {[](Context& c) { move_depth(c, false); }, " SpaceToDepth "},
    {select_some<Context>, " Compress Unique "},
    {sequence<Context>,
     " ConcatFromSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SplitToSequence "},
    {optional<Context>, " Optional OptionalGetElement "},
    {if_branches<Context>, " If "},
    {loop<Context>, " Loop "},
    {scan<Context>, " Scan "},
    {sequence_map<Context>, " SequenceMap "},
    {loss<Context>, " NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss "},
    {attention<Context>, " Attention LinearAttention "},
    {[](Context& c) { c.same(0, 0), c.set_rank(1, 3); }, " CausalConvWithState "},
    {affine_grid<Context>, " AffineGrid "},
    {grid_sample<Context>, " GridSample "},
    {col2im<Context>, " Col2Im "},
    {center_crop_pad<Context>, " CenterCropPad "},
    {determinant<Context>, " Det "},
    {quantize<Context>, " QuantizeLinear "},
    {dequantize<Context>, " DequantizeLinear "},
    {[](Context& c) { c.same(0, 0), c.set_rank(1, 0), c.set_rank(2, 0); }, " DynamicQuantizeLinear "},
    {roi_align<Context>, " RoiAlign "},
    {max_roi_pool<Context>, " MaxRoiPool "},
    {max_unpool<Context>, " MaxUnpool "},
    {[](Context& c) { c.set(0, {dim(), dim(3)}); }, " NonMaxSuppression "},
    {[](Context& c) { c.set(0, {c.ranked(0) && c.rank(0) > 0 ? c.in(0)[0] : dim(), dim(), dim(), dim(2)}); }, " STFT "},
    {[](Context& c) { c.ranked(0) ? c.set_rank(0, c.rank(0)) : void(); }, " DFT "},
};

template <class Context>
rule<Context> const* rule_of(std::string_view op) {
    for (rule<Context> const& r : rules<Context>)
        for (std::size_t at = r.ops.find(op); at != std::string_view::npos; at = r.ops.find(op, at + 1))
            if (at != 0 && r.ops[at - 1] == ' ' && r.ops[at + op.size()] == ' ') return &r;
    return nullptr;
}

/// Refuses a tensor if the product of its known sizes overflows int64, like ONNX's inference; sizes of 0 are ignored.
template <class Context>
void expect_countable(Context const& c, value_type const& type) {
    std::int64_t n = 1;
    for (dim const& d : type.shape.dims()) {
        if (!d.is_static() || d.size() < 2) continue;
        if (n > INT64_MAX / d.size()) c.refuse("the number of elements does not fit in 64 bits");
        n *= d.size();
    }
}

/// Completes the types of a node's outputs. Does nothing for operators of other domains.
template <class Graph>
void infer_types(Graph& graph, graph_node const& node) {
    if (!node.domain.empty() || node.op.empty()) return;
    context<Graph> c(graph, node);
    for (value_id const id : node.inputs)
        if (id != no_value) expect_countable(c, graph.values[id].type);
    if (auto const* r = rule_of<context<Graph>>(node.op); r != nullptr) r->apply(c);
    for (value_id const id : node.outputs)
        if (id != no_value) expect_countable(c, graph.values[id].type);
}

#ifdef ATON_EXTERN_TEMPLATES // src/dsl/templates.cpp
extern template void infer_types(graph_data&, graph_node const&);
#endif

} // namespace ATON_NAMESPACE::shapes
