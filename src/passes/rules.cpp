// SPDX-License-Identifier: MIT
// Says which rules apply to which operator.
#include "rewriter.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace ATON_NAMESPACE::passes {

std::vector<rule> const* rules_of(std::string_view op) {
    static std::unordered_map<std::string_view, std::vector<rule>> const table = {
        {"Add", {simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze, fuse_gemm}},
        {"And", {simplify_arithmetic, skip_expands, skip_squeezes, delay_expands}},
        {"Attention", {simplify_attention_mask, raise_attention_mask}},
        {"BatchNormalization", {fold_batch_normalization}},
        {"Cast", {simplify_casts, delay_expands, delay_squeeze}},
        {"Concat", {remove_no_op, join_weights}},
        {"Conv", {move_pads_into_convolution}},
        {"Div", {simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze}},
        {"Dropout", {remove_no_op}},
        {"Equal", {skip_expands, skip_squeezes, delay_expands}},
        {"Expand", {simplify_expand}},
        {"Flatten", {rewrite_weight, simplify_view}},
        {"Gather", {rewrite_weight, simplify_gather}},
        {"GatherND", {simplify_gather}},
        {"Gemm", {fuse_gemm}},
        {"Greater", {skip_expands, skip_squeezes, delay_expands}},
        {"GreaterOrEqual", {skip_expands, skip_squeezes, delay_expands}},
        {"Identity", {remove_no_op}},
        {"Less", {skip_expands, skip_squeezes, delay_expands}},
        {"LessOrEqual", {skip_expands, skip_squeezes, delay_expands}},
        {"MatMul", {fuse_gemm}},
        {"Max", {simplify_arithmetic, skip_squeezes}},
        {"Min", {simplify_arithmetic, skip_squeezes}},
        {"Mul", {simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze}},
        {"Neg", {delay_squeeze}},
        {"Not", {simplify_where, delay_expands}},
        {"Or", {simplify_arithmetic, skip_expands, skip_squeezes, delay_expands}},
        {"Pad", {remove_no_op}},
        {"Pow", {simplify_arithmetic, skip_squeezes, delay_squeeze}},
        {"Reciprocal", {delay_squeeze}},
        {"Reshape", {rewrite_weight, multiply_stacks, simplify_view}},
        {"Slice", {remove_no_op, rewrite_weight}},
        {"Split", {remove_no_op, rewrite_weight}},
        {"Sqrt", {delay_squeeze}},
        {"Squeeze", {rewrite_weight, simplify_view}},
        {"Sub", {simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze}},
        {"Sum", {remove_no_op}},
        {"Tile", {remove_no_op}},
        {"Transpose", {rewrite_weight, simplify_transpose}},
        {"Unsqueeze", {rewrite_weight, simplify_view}},
        {"Where", {simplify_where, simplify_masked_softmax, skip_expands, skip_squeezes, delay_expands}},
    };
    auto const found = table.find(op);
    return found == table.end() ? nullptr : &found->second;
}

} // namespace ATON_NAMESPACE::passes
