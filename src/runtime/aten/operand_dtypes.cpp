// SPDX-License-Identifier: MIT
// The table of operands of ATen operators that must agree in dtype. ATen (torch 2.13) refuses other calls on the CPU,
// and so does the runtime.
#include "operand_dtypes.hpp"

#include <array>
#include <map>
#include <string>
#include <vector>

#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::runtime::aten_kernels {

namespace {

enum class rule : std::uint8_t {
    same,       ///< all have the same dtype
    parameters, ///< all have the dtype of the first; or all but the first are float32 if the first is float16 or bfloat16
    indices,    ///< int32 or int64
    long_indices, ///< int64
};

struct dtype_rule {
    std::string_view operators; ///< without "aten::", one space between them
    std::string_view arguments; ///< arguments that the schema does not have or the call omits are ignored
    rule what;
};

constexpr std::array dtype_rules{
    dtype_rule{"addmm _addmm_activation", "self mat1 mat2", rule::same},
    dtype_rule{"addbmm baddbmm", "self batch1 batch2", rule::same},
    dtype_rule{"addmv", "self mat vec", rule::same},
    dtype_rule{"allclose cross isclose linalg_cross", "self other", rule::same},
    dtype_rule{"bilinear", "input1 input2 weight bias", rule::same},
    dtype_rule{"binary_cross_entropy", "self target", rule::same},
    dtype_rule{
        "cross_entropy_loss nll_loss nll_loss_nd nll_loss_forward nll_loss2d nll_loss2d_forward multi_margin_loss "
        "prelu",
        "self weight",
        rule::same},
    dtype_rule{"embedding_bag embedding_bag.padding_idx _embedding_bag _embedding_bag_forward_only",
               "weight per_sample_weights",
               rule::same},
    dtype_rule{"grid_sampler grid_sampler_2d grid_sampler_3d _grid_sampler_2d_cpu_fallback", "input grid", rule::same},
    dtype_rule{"heaviside", "self values", rule::same},
    dtype_rule{"lerp.Scalar lerp.Tensor", "self end", rule::same},
    dtype_rule{"linalg_vecdot", "x y", rule::same},
    dtype_rule{"linear", "input weight bias", rule::same},
    dtype_rule{"masked_scatter", "self source", rule::same},
    dtype_rule{"nanquantile quantile", "self q", rule::same},
    dtype_rule{
        "scaled_dot_product_attention _scaled_dot_product_attention_math _scaled_dot_product_efficient_attention "
        "_scaled_dot_product_flash_attention_for_cpu",
        "query key value",
        rule::same},
    dtype_rule{"triplet_margin_loss", "anchor positive negative", rule::same},
    dtype_rule{"_weight_norm _weight_norm_interface", "v g", rule::same},
    dtype_rule{
        "batch_norm native_batch_norm _batch_norm_impl_index _batch_norm_no_update _batch_norm_with_update_functional "
        "_native_batch_norm_legit _native_batch_norm_legit.no_stats _native_batch_norm_legit_functional "
        "_native_batch_norm_legit_no_training",
        "input weight bias running_mean running_var",
        rule::parameters},
    dtype_rule{"layer_norm native_layer_norm group_norm native_group_norm instance_norm",
               "input weight bias",
               rule::parameters},
    dtype_rule{"embedding embedding_bag embedding_bag.padding_idx _embedding_bag _embedding_bag_forward_only",
               "indices offsets",
               rule::indices},
    dtype_rule{
        "gather index_select index_add index_reduce scatter.src scatter.value scatter.reduce scatter.value_reduce "
        "scatter_add scatter_reduce.two",
        "index",
        rule::indices},
    dtype_rule{"index_copy index_fill.int_Scalar index_fill.int_Tensor put take", "index", rule::long_indices},
    dtype_rule{"take_along_dim", "indices", rule::long_indices},
    dtype_rule{"tensor_split.tensor_indices_or_sections", "tensor_indices_or_sections", rule::long_indices},
};

/// Removes and returns the first word of a list; empty at the end.
std::string_view next_word(std::string_view& list) {
    std::size_t const end = std::min(list.find(' '), list.size());
    std::string_view const word = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    return word;
}

using rules_by_overload = std::map<std::string_view, std::vector<dtype_rule const*>>;

rules_by_overload const& rules_of_overloads() {
    static rules_by_overload const all = [] {
        rules_by_overload out;
        for (dtype_rule const& each : dtype_rules) {
            std::string_view operators = each.operators;
            while (!operators.empty()) out[next_word(operators)].push_back(&each);
        }
        return out;
    }();
    return all;
}

bool is_half(dtype t) { return t == dtype::float16 || t == dtype::bfloat16; }

void require_index(aten_argument const& a, bool long_only) {
    dtype const type = a.tensor.dtype();
    if (type == dtype::int64 || (type == dtype::int32 && !long_only)) return;
    throw error("'" + a.name + "' is " + std::string(name(type)) +
                (long_only ? ", not int64" : ", not int32 or int64"));
}

void require_agreement(std::vector<aten_argument const*> const& operands, rule what) {
    for (std::size_t i = 1; i < operands.size(); ++i) {
        aten_argument const& other = *operands[what == rule::same || i == 1 ? 0 : 1];
        dtype const expected = other.tensor.dtype();
        dtype const type = operands[i]->tensor.dtype();
        bool const widens = what == rule::parameters && i == 1 && is_half(expected) && type == dtype::float32;
        if (type == expected || widens) continue;
        throw error("'" + operands[i]->name + "' is " + std::string(name(type)) + ", but '" + other.name + "' is " +
                    std::string(name(expected)));
    }
}

} // namespace

void require_operand_dtypes(std::string_view overload, std::vector<aten_argument> const& bound) {
    constexpr std::string_view ours = "aten::";
    if (!overload.starts_with(ours)) return;
    auto const found = rules_of_overloads().find(overload.substr(ours.size()));
    if (found == rules_of_overloads().end()) return;
    for (dtype_rule const* each : found->second) {
        std::vector<aten_argument const*> operands;
        std::string_view arguments = each->arguments;
        while (!arguments.empty()) {
            std::string_view const wanted = next_word(arguments);
            for (aten_argument const& a : bound)
                if (a.name == wanted && a.kind == aten::argument_kind::tensor) operands.push_back(&a);
        }
        if (each->what == rule::same || each->what == rule::parameters) require_agreement(operands, each->what);
        else
            for (aten_argument const* a : operands) require_index(*a, each->what == rule::long_indices);
    }
}

} // namespace ATON_NAMESPACE::runtime::aten_kernels
