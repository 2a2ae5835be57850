// SPDX-License-Identifier: MIT
// Regions of torch.autocast: torch.jit.load casts the operands of some operators in them.
#include "autocast.hpp"

#include <algorithm>
#include <iterator>

#include <aton/aten/scalar_type.hpp>

#include "scalar_codes.hpp"

namespace ATON_NAMESPACE::torchscript {

namespace {

/// Computed in the dtype of the region.
constexpr std::string_view reduced[] = {"addbmm",
                                        "addmm",
                                        "addmv",
                                        "addr",
                                        "baddbmm",
                                        "bmm",
                                        "conv1d",
                                        "conv2d",
                                        "conv3d",
                                        "conv_transpose1d",
                                        "linear",
                                        "matmul",
                                        "mm",
                                        "mv",
                                        "prelu"};

/// Computed in float32. torch's pass for scripted code also does so for the operators that promote, such as add.
constexpr std::string_view full[] = {"acos",
                                     "add",
                                     "addcdiv",
                                     "addcmul",
                                     "asin",
                                     "atan2",
                                     "bilinear",
                                     "binary_cross_entropy_with_logits",
                                     "cdist",
                                     "cosh",
                                     "cosine_embedding_loss",
                                     "cosine_similarity",
                                     "cross",
                                     "cumprod",
                                     "cumsum",
                                     "dist",
                                     "div",
                                     "dot",
                                     "equal",
                                     "erfinv",
                                     "exp",
                                     "expm1",
                                     "frobenius_norm",
                                     "gelu",
                                     "group_norm",
                                     "hinge_embedding_loss",
                                     "index_put",
                                     "kl_div",
                                     "l1_loss",
                                     "layer_norm",
                                     "log",
                                     "log10",
                                     "log1p",
                                     "log2",
                                     "log_softmax",
                                     "logsumexp",
                                     "mse_loss",
                                     "mul",
                                     "nuclear_norm",
                                     "pow",
                                     "prod",
                                     "reciprocal",
                                     "renorm",
                                     "rsqrt",
                                     "sinh",
                                     "smooth_l1_loss",
                                     "softplus",
                                     "sub",
                                     "sum",
                                     "tan",
                                     "tensordot"};

template <class Names>
bool has_name(Names const& names, std::string_view name) {
    return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

} // namespace

/// The dtype of the region that `context` enters: that of the region around it if `context` is another object, and undefined outside.
dtype autocast::type_in(value const& context) const {
    if (context.is() != kind::object || !context.object()->class_name.ends_with(".autocast_mode.autocast"))
        return type_;
    auto const& attributes = context.object()->attributes;
    auto const device = attributes.find("device");
    auto const enabled = attributes.find("_enabled");
    auto const type = attributes.find("fast_dtype");
    bool const is_cpu =
        device != attributes.end() && device->second.text() != nullptr && *device->second.text() == "cpu";
    if (!is_cpu) return type_; // a model has no other device
    if (enabled == attributes.end() || type == attributes.end() || !type->second.integer()) return type_;
    return enabled->second.is_true() ? aten::scalar_type(*type->second.integer()) : dtype::undefined;
}

call_arguments autocast::cast(std::string_view op, call_arguments given) {
    if (type_ == dtype::undefined) return given;
    std::string_view const name = op.substr(op.find("::") + 2);
    bool const reduces = has_name(reduced, name);
    if (!reduces && !has_name(full, name)) return given;
    dtype const to = reduces ? type_ : dtype::float32;
    for (value& each : given.positional) {
        if (each.is() != kind::tensor && each.is() != kind::weight) continue;
        dtype const held = types_.type_of(values_.tensor_of(each)).type;
        bool const casts = reduces ? held == dtype::float32 : held == dtype::bfloat16 || held == dtype::float16;
        if (casts) each = caller_.call_operator("aten::to", {{each, value::of(code_of(to))}, {}});
    }
    return given;
}

} // namespace ATON_NAMESPACE::torchscript
