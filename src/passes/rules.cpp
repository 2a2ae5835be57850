// SPDX-License-Identifier: MIT
// The rules by name, and which of them apply to which operator.
#include "rewriter.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace ATON_NAMESPACE::passes {

namespace {

// clang-format off
constexpr node_pass all_rules[] = {
    {"inline-branch", "replaces an If with a constant condition by its branch", inline_branch},
    {"lift-constant", "turns a Constant into an initializer", lift_constant},
    {"fold-constants", "computes what depends on constants alone", fold_constants},
    {"simplify-sizes", "replaces lists of sizes by constants, or by the size that is known already", simplify_sizes},
    {"simplify-indices", "replaces what is computed from positions by what is known of it", simplify_indices},
    {"rewrite", "applies a rewrite of a table", apply_rewrites},
    {"merge-equal-nodes", "replaces a node by an earlier equal one", merge_equal_nodes},
    {"simplify-casts", "removes casts that change nothing, and joins two", simplify_casts},
    {"simplify-arithmetic", "removes additions of 0, multiplications by 1 and the like", simplify_arithmetic},
    {"simplify-where", "simplifies Where and Not", simplify_where},
    {"simplify-masked-softmax", "removes the guard against hidden rows where no row can be hidden", simplify_masked_softmax},
    {"remove-no-op", "removes nodes that return their input", remove_no_op},
    {"simplify-view", "joins and removes Reshape, Squeeze, Unsqueeze and Flatten", simplify_view},
    {"simplify-expand", "removes and shortens Expand", simplify_expand},
    {"skip-expands", "reads the operand of an Expand where the operator broadcasts", skip_expands},
    {"delay-expands", "computes before an Expand instead of after it", delay_expands},
    {"skip-squeezes", "leaves one element of shape [1] as it is before an operator that broadcasts", skip_squeezes},
    {"delay-squeeze", "computes with shape [1], and makes the result 0-d", delay_squeeze},
    {"simplify-gather", "replaces selections of known positions by views and slices", simplify_gather},
    {"simplify-attention-mask", "removes masks of Attention that hide nothing, or uses is_causal", simplify_attention_mask},
    {"raise-attention-mask", "keeps ONNX Runtime from giving zeros for a row with the lowest number", raise_attention_mask},
    {"simplify-transpose", "joins and removes Transpose", simplify_transpose},
    {"fuse-gemm", "joins MatMul, Add and Transpose to Gemm", fuse_gemm},
    {"multiply-stacks", "multiplies stacks of matrices by one matrix at once", multiply_stacks},
    {"rewrite-weight", "writes a weight in the layout that is used", rewrite_weight},
    {"join-weights", "writes the concatenation of weights as one", join_weights},
    {"fold-batch-normalization", "multiplies the weights of a Conv by the factors of BatchNormalization", fold_batch_normalization},
    {"move-pads-into-convolution", "makes the zeros of a Pad pads of the Conv that reads them", move_pads_into_convolution},
};
// clang-format on

constexpr bool has_name(rule r) {
    for (node_pass const& p : all_rules)
        if (p.run == r) return true;
    return false;
}

/// Rules of an operator, each with a row in the table.
template <rule... Rules>
std::vector<rule> named() {
    static_assert((has_name(Rules) && ...), "add the rule to all_rules");
    return {Rules...};
}

} // namespace

std::span<node_pass const> node_passes() { return all_rules; }

std::vector<rule> const* rules_of(std::string_view op) {
    static std::unordered_map<std::string_view, std::vector<rule>> const table = {
        {"Add", named<simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze, fuse_gemm>()},
        {"And", named<simplify_arithmetic, skip_expands, skip_squeezes, delay_expands>()},
        {"Attention", named<simplify_attention_mask, raise_attention_mask>()},
        {"BatchNormalization", named<fold_batch_normalization>()},
        {"Cast", named<simplify_casts, delay_expands, delay_squeeze>()},
        {"Concat", named<remove_no_op, join_weights>()},
        {"Conv", named<move_pads_into_convolution>()},
        {"Div", named<simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze>()},
        {"Dropout", named<remove_no_op>()},
        {"Equal", named<skip_expands, skip_squeezes, delay_expands>()},
        {"Expand", named<simplify_expand>()},
        {"Flatten", named<rewrite_weight, simplify_view>()},
        {"Gather", named<rewrite_weight, simplify_gather>()},
        {"GatherND", named<simplify_gather>()},
        {"Gemm", named<fuse_gemm>()},
        {"Greater", named<skip_expands, skip_squeezes, delay_expands>()},
        {"GreaterOrEqual", named<skip_expands, skip_squeezes, delay_expands>()},
        {"Identity", named<remove_no_op>()},
        {"Less", named<skip_expands, skip_squeezes, delay_expands>()},
        {"LessOrEqual", named<skip_expands, skip_squeezes, delay_expands>()},
        {"MatMul", named<fuse_gemm>()},
        {"Max", named<simplify_arithmetic, skip_squeezes>()},
        {"Min", named<simplify_arithmetic, skip_squeezes>()},
        {"Mul", named<simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze>()},
        {"Neg", named<delay_squeeze>()},
        {"Not", named<simplify_where, delay_expands>()},
        {"Or", named<simplify_arithmetic, skip_expands, skip_squeezes, delay_expands>()},
        {"Pad", named<remove_no_op>()},
        {"Pow", named<simplify_arithmetic, skip_squeezes, delay_squeeze>()},
        {"Reciprocal", named<delay_squeeze>()},
        {"Reshape", named<rewrite_weight, multiply_stacks, simplify_view>()},
        {"Slice", named<remove_no_op, rewrite_weight>()},
        {"Split", named<remove_no_op, rewrite_weight>()},
        {"Sqrt", named<delay_squeeze>()},
        {"Squeeze", named<rewrite_weight, simplify_view>()},
        {"Sub", named<simplify_arithmetic, skip_expands, skip_squeezes, delay_expands, delay_squeeze>()},
        {"Sum", named<remove_no_op>()},
        {"Tile", named<remove_no_op>()},
        {"Transpose", named<rewrite_weight, simplify_transpose>()},
        {"Unsqueeze", named<rewrite_weight, simplify_view>()},
        {"Where", named<simplify_where, simplify_masked_softmax, skip_expands, skip_squeezes, delay_expands>()},
    };
    auto const found = table.find(op);
    return found == table.end() ? nullptr : &found->second;
}

} // namespace ATON_NAMESPACE::passes
