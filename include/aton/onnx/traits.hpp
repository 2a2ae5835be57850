// SPDX-License-Identifier: MIT
// What the operators of ONNX's default domain do, beyond their schemas: facts that several passes read, one row for each operator.
// Internal header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::onnx {

/// What becomes of the sign of a zero in the first operand, or in any.
enum class zero_sign : std::uint8_t {
    shown,  ///< a result may show it, or nothing is known
    passed, ///< it can only become that of a zero in a result
    hidden, ///< no result depends on it: tests and sizes, functions that are even or not 0 at 0, sums of products, which a runtime starts with 0
};

struct operator_traits {
    std::string_view name;
    zero_sign zero = zero_sign::shown;
    bool only_moves = false; ///< the elements of the results are those of the first operand, of Concat those of all
};

namespace detail {

/// Sorted by name. An operator without facts has a row as well, so that a new one is not forgotten (traits_test).
// clang-format off
inline constexpr operator_traits traits[] = {
    {"Abs", zero_sign::hidden}, {"Acos"}, {"Acosh"}, {"Add", zero_sign::passed}, {"AffineGrid"}, {"And"},
    {"ArgMax", zero_sign::hidden}, {"ArgMin", zero_sign::hidden}, {"Asin"}, {"Asinh"}, {"Atan"}, {"Atanh"},
    {"Attention"}, {"AveragePool", zero_sign::hidden}, {"BatchNormalization", zero_sign::passed}, {"Bernoulli"},
    {"BitCast"}, {"BitShift"}, {"BitwiseAnd"}, {"BitwiseNot"}, {"BitwiseOr"}, {"BitwiseXor"}, {"BlackmanWindow"},
    {"Cast"}, {"CastLike"}, {"CausalConvWithState"}, {"Ceil"}, {"Celu"}, {"CenterCropPad"},
    {"Clip", zero_sign::passed}, {"Col2Im"}, {"Compress"}, {"Concat", zero_sign::passed, true},
    {"ConcatFromSequence"}, {"Constant"}, {"ConstantOfShape"}, {"Conv", zero_sign::hidden}, {"ConvInteger"},
    {"ConvTranspose", zero_sign::hidden}, {"Cos", zero_sign::hidden}, {"Cosh", zero_sign::hidden}, {"CumProd"},
    {"CumSum"}, {"DFT"}, {"DeformConv"}, {"DepthToSpace"}, {"DequantizeLinear"}, {"Det"}, {"Div"},
    {"Dropout", zero_sign::passed}, {"DynamicQuantizeLinear"}, {"Einsum", zero_sign::hidden}, {"Elu"},
    {"Equal", zero_sign::hidden}, {"Erf", zero_sign::passed}, {"Exp", zero_sign::hidden},
    {"Expand", zero_sign::passed}, {"EyeLike"}, {"Flatten", zero_sign::passed, true}, {"Floor"}, {"GRU"},
    {"Gather", zero_sign::shown, true}, {"GatherElements"}, {"GatherND"}, {"Gelu"}, {"Gemm", zero_sign::hidden},
    {"GlobalAveragePool", zero_sign::hidden}, {"GlobalLpPool"}, {"GlobalMaxPool"}, {"Greater", zero_sign::hidden},
    {"GreaterOrEqual", zero_sign::hidden}, {"GridSample"}, {"GroupNormalization"}, {"HammingWindow"},
    {"HannWindow"}, {"HardSigmoid"}, {"HardSwish"}, {"Hardmax"}, {"Identity", zero_sign::passed, true}, {"If"},
    {"ImageDecoder"}, {"InstanceNormalization"}, {"IsInf"}, {"IsNaN"}, {"LRN"}, {"LSTM"},
    {"LayerNormalization", zero_sign::passed}, {"LeakyRelu", zero_sign::passed}, {"Less", zero_sign::hidden},
    {"LessOrEqual", zero_sign::hidden}, {"LinearAttention"}, {"Log"}, {"LogSoftmax", zero_sign::hidden}, {"Loop"},
    {"LpNormalization"}, {"LpPool"}, {"MatMul", zero_sign::hidden}, {"MatMulInteger"}, {"Max", zero_sign::passed},
    {"MaxPool", zero_sign::passed}, {"MaxRoiPool"}, {"MaxUnpool"}, {"Mean"}, {"MeanVarianceNormalization"},
    {"MelWeightMatrix"}, {"Min", zero_sign::passed}, {"Mish"}, {"Mod"}, {"Mul", zero_sign::passed},
    {"Multinomial"}, {"Neg", zero_sign::passed}, {"NegativeLogLikelihoodLoss"}, {"NonMaxSuppression"}, {"NonZero"},
    {"Not"}, {"OneHot"}, {"Optional"}, {"OptionalGetElement"}, {"OptionalHasElement"}, {"Or"}, {"PRelu"},
    {"Pad", zero_sign::passed}, {"Pow"}, {"QLinearConv"}, {"QLinearMatMul"}, {"QuantizeLinear"},
    {"RMSNormalization"}, {"RNN"}, {"RandomNormal"}, {"RandomNormalLike"}, {"RandomUniform"},
    {"RandomUniformLike"}, {"Range"}, {"Reciprocal"}, {"ReduceL1", zero_sign::hidden},
    {"ReduceL2", zero_sign::hidden}, {"ReduceLogSum"}, {"ReduceLogSumExp"}, {"ReduceMax"},
    {"ReduceMean", zero_sign::hidden}, {"ReduceMin"}, {"ReduceProd"}, {"ReduceSum", zero_sign::hidden},
    {"ReduceSumSquare", zero_sign::hidden}, {"RegexFullMatch"}, {"Relu", zero_sign::passed},
    {"Reshape", zero_sign::passed, true}, {"Resize", zero_sign::passed}, {"ReverseSequence"}, {"RoiAlign"},
    {"RotaryEmbedding"}, {"Round"}, {"STFT"}, {"Scan"}, {"Scatter"}, {"ScatterElements"}, {"ScatterND"}, {"Selu"},
    {"SequenceAt"}, {"SequenceConstruct"}, {"SequenceEmpty"}, {"SequenceErase"}, {"SequenceInsert"},
    {"SequenceLength"}, {"SequenceMap"}, {"Shape", zero_sign::hidden}, {"Shrink"}, {"Sigmoid", zero_sign::hidden},
    {"Sign"}, {"Sin", zero_sign::passed}, {"Sinh"}, {"Size", zero_sign::hidden},
    {"Slice", zero_sign::passed, true}, {"Softmax", zero_sign::hidden}, {"SoftmaxCrossEntropyLoss"},
    {"Softplus", zero_sign::hidden}, {"Softsign"}, {"SpaceToDepth"}, {"Split", zero_sign::passed, true},
    {"SplitToSequence"}, {"Sqrt", zero_sign::passed}, {"Squeeze", zero_sign::passed, true}, {"StringConcat"},
    {"StringNormalizer"}, {"StringSplit"}, {"Sub", zero_sign::passed}, {"Sum"}, {"SwiGLU"}, {"Swish"}, {"Tan"},
    {"Tanh", zero_sign::passed}, {"TensorScatter"}, {"TfIdfVectorizer"}, {"ThresholdedRelu"},
    {"Tile", zero_sign::passed}, {"TopK"}, {"Transpose", zero_sign::passed, true}, {"Trilu"}, {"Unique"},
    {"Unsqueeze", zero_sign::passed, true}, {"Upsample"}, {"Where", zero_sign::passed}, {"Xor"},
};
// clang-format on

} // namespace detail

/// The traits of an operator of the default domain; those of an unknown one say nothing.
constexpr operator_traits traits_of(std::string_view op) {
    std::size_t first = 0;
    std::size_t last = std::size(detail::traits);
    while (first != last) {
        std::size_t const middle = first + (last - first) / 2;
        if (detail::traits[middle].name == op) return detail::traits[middle];
        if (detail::traits[middle].name < op) first = middle + 1;
        else last = middle;
    }
    return {op};
}

} // namespace ATON_NAMESPACE::onnx
