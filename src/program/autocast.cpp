// SPDX-License-Identifier: MIT
#include "autocast.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include <aton/core/error.hpp>

#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

/// Operators that run in the lower precision: the union of torch's lists over devices and versions (ATen/autocast_mode.h, autocast_mode.cpp).
constexpr std::string_view lower_precision[] = {
    "_addmm_activation",
    "_convolution",
    "_convolution.deprecated",
    "_native_multi_head_attention",
    "_scaled_dot_product_flash_attention",
    "addbmm",
    "addmm",
    "addmv",
    "addr",
    "baddbmm",
    "bmm",
    "chain_matmul",
    "conv1d",
    "conv1d.padding",
    "conv2d",
    "conv2d.padding",
    "conv3d",
    "conv3d.padding",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d.input",
    "conv_transpose3d.input",
    "convolution",
    "einsum", // on the CPU, its products are cast
    "linalg_multi_dot",
    "linalg_vecdot",
    "linear",
    "matmul",
    "mm",
    "mv",
    "prelu",
    "scaled_dot_product_attention",
    "tensordot", // the same
};

/// Operators that run in float32, including those for which torch sets their dtype argument.
constexpr std::string_view in_float32[] = {
    "_upsample_bicubic2d_aa",
    "_upsample_bicubic2d_aa.vec",
    "_upsample_bilinear2d_aa",
    "_upsample_bilinear2d_aa.vec",
    "_upsample_nearest_exact1d",
    "_upsample_nearest_exact1d.vec",
    "_upsample_nearest_exact2d",
    "_upsample_nearest_exact2d.vec",
    "_upsample_nearest_exact3d",
    "_upsample_nearest_exact3d.vec",
    "acos",
    "adaptive_avg_pool3d",
    "adaptive_max_pool3d",
    "asin",
    "avg_pool3d",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cdist",
    "cosh",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy_loss",
    "ctc_loss.IntList",
    "ctc_loss.Tensor",
    "cumprod",
    "cumsum",
    "dist",
    "erfinv",
    "exp",
    "expm1",
    "fake_quantize_per_tensor_affine",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
    "frobenius_norm.dim",
    "grid_sampler",
    "grid_sampler_2d",
    "grid_sampler_3d",
    "group_norm",
    "hinge_embedding_loss",
    "huber_loss",
    "inverse",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "linalg_inv",
    "linalg_matrix_norm",
    "linalg_matrix_norm.str_ord",
    "linalg_vector_norm",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax.int",
    "logsumexp",
    "margin_ranking_loss",
    "max_pool3d",
    "max_unpool2d",
    "max_unpool3d",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_margin_loss_forward",
    "nanquantile",
    "nanquantile.scalar",
    "native_layer_norm",
    "nll_loss",
    "nll_loss2d",
    "nll_loss_nd",
    "norm.Scalar",
    "norm.ScalarOpt_dim",
    "nuclear_norm",
    "nuclear_norm.dim",
    "pdist",
    "poisson_nll_loss",
    "pow.Scalar",
    "pow.Tensor_Scalar",
    "pow.Tensor_Tensor",
    "prod",
    "prod.dim_int",
    "quantile",
    "quantile.scalar",
    "reciprocal",
    "reflection_pad1d",
    "reflection_pad2d",
    "renorm",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "rms_norm",
    "rsqrt",
    "sinh",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax.int",
    "softplus",
    "sum",
    "sum.dim_IntList",
    "tan",
    "trace",
    "triplet_margin_loss",
    "upsample_bicubic2d",
    "upsample_bicubic2d.vec",
    "upsample_bilinear2d",
    "upsample_bilinear2d.vec",
    "upsample_linear1d",
    "upsample_linear1d.vec",
    "upsample_nearest1d",
    "upsample_nearest1d.vec",
    "upsample_nearest2d",
    "upsample_nearest2d.vec",
    "upsample_nearest3d",
    "upsample_nearest3d.vec",
    "upsample_trilinear3d",
    "upsample_trilinear3d.vec",
};

/// Operators that run in the widest dtype of their operands.
constexpr std::string_view promoting[] = {
    "addcdiv",
    "addcmul",
    "atan2",
    "bilinear",
    "cat",
    "cross",
    "dot",
    "grid_sampler",
    "index_copy",
    "index_put",
    "scatter_add",
    "stack",
    "tensordot",
    "vdot",
};

template <std::size_t N>
bool contains(std::string_view const (&list)[N], std::string_view op) {
    return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

/// Whether autocast applies to a value: floats, except float64.
bool may_be_cast(value const& v) {
    return v.kind == value_kind::tensor && v.has_type && is_floating(v.type) && v.type != dtype::float64;
}

/// The dtypes of the operands that torch would cast.
std::vector<dtype> operand_types(program const& p, node const& n) {
    std::vector<dtype> out;
    for (argument const& a : n.arguments)
        for (value_index v : tensors_of(a))
            if (v != no_value && may_be_cast(p.values[v])) out.push_back(p.values[v].type);
    return out;
}

/// The dtype of the first result that autocast applies to.
dtype result_type(program const& p, node const& n) {
    for (value_index v : result_values(n))
        if (v != no_value && may_be_cast(p.values[v])) return p.values[v].type;
    return dtype::undefined;
}

bool is_region_of(autocast_regions const& regions, dtype t) {
    return std::any_of(
        regions.enabled.begin(), regions.enabled.end(), [t](auto const& each) { return each.second == t; });
}

void cast_all(node_emitter& out, node& n, dtype to) {
    for (argument& a : n.arguments)
        for (value_ref& each : tensors_of(a)) {
            value_index const v = each;
            if (v == no_value || !may_be_cast(out.owner().values[v]) || out.owner().values[v].type == to) continue;
            value_index const made = out.fresh(v);
            out.owner().values[made].type = to;
            each = out.emit("aten::_to_copy", n, {tensor_argument("self", v), type_argument("dtype", to)}, made);
        }
}

} // namespace

autocast_regions hidden_autocast(program const& p) {
    std::string_view const version = p.torch_version; // empty in files of torch 2.4
    if (!version.empty() && !version.starts_with("2.4.") && !version.starts_with("2.5.")) return {};
    return {{{"cpu", dtype::bfloat16}, {"cuda", dtype::float16}}, true};
}

autocast_regions enter_autocast(program const& p, node const& call, autocast_regions around) {
    bool const is_well_formed = call.arguments.size() > 2 && call.arguments[2].kind == argument_kind::number &&
                                call.arguments[2].number.constant.is_bool() && !call.arguments[0].text.empty();
    if (!is_well_formed) throw error(describe(p, call) + ": its device or whether it is enabled is not recorded");
    std::string const device = call.arguments[0].text.substr(0, call.arguments[0].text.find(':'));
    if (around.are_hidden) around = {};
    around.enabled.erase(device);
    if (!call.arguments[2].number.constant.to<bool>()) return around;
    dtype const by_default = device == "cuda" ? dtype::float16 : dtype::bfloat16;
    around.enabled[device] = call.arguments[1].kind == argument_kind::type ? call.arguments[1].type : by_default;
    return around;
}

bool is_cast(program const& p, autocast_regions const& regions, node const& n) {
    if (!n.op.starts_with("aten::")) return false;
    dtype const result = result_type(p, n);
    std::vector<dtype> const operands = operand_types(p, n);
    if (std::all_of(operands.begin(), operands.end(), [&](dtype each) { return each == result; })) return false;
    std::string_view const op = std::string_view(n.op).substr(6);
    bool const is_lower = is_region_of(regions, result);
    return (is_lower && contains(lower_precision, op)) || (result == dtype::float32 && contains(in_float32, op)) ||
           ((is_lower || result == dtype::float32) && contains(promoting, op));
}

void cast_operands(node_emitter& out, autocast_regions const& regions, node& n) {
    if (regions.enabled.empty() || n.kind == node_kind::python) return;
    program const& p = out.owner();
    if (is_cast(p, regions, n)) return cast_all(out, n, result_type(p, n));
    if (regions.are_hidden) return;
    if (n.kind == node_kind::higher_order)
        throw error(describe(p, n) + ": is inside torch.autocast, whose casts in its graphs are not recorded in the "
                                     "file; cast with .to(), or disable autocast");
    // If the dtypes of operands and result differ without a dtype argument, autocast cast something inside the operator.
    dtype const result = result_type(p, n);
    std::vector<dtype> const operands = operand_types(p, n);
    bool const is_one = std::all_of(operands.begin(), operands.end(), [&](dtype each) { return each == operands[0]; });
    if (!n.op.starts_with("aten::") || operands.empty() || !is_one || operands[0] == result) return;
    auto const is_known = [&](dtype t) { return t == dtype::float32 || is_region_of(regions, t); };
    bool const is_asked = std::any_of(
        n.arguments.begin(), n.arguments.end(), [](argument const& a) { return a.kind == argument_kind::type; });
    if (is_known(operands[0]) && is_known(result) && !is_asked)
        throw error(describe(p, n) + ": torch.autocast casts inside it, from " + std::string(name(operands[0])) +
                    " to " + std::string(name(result)) + "; cast with .to(), or disable autocast");
}

} // namespace ATON_NAMESPACE::program
