// SPDX-License-Identifier: MIT
// Which operators torch.vmap can be taken out of, and how.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <aton/version.hpp>

namespace ATON_NAMESPACE::program::vmap_rules {

/// Element by element, with broadcasting.
inline constexpr std::string_view elementwise[] = {
    "__and__",     "__or__",      "__xor__",     "_to_copy",   "abs",         "acos",         "add",
    "alias",       "asin",        "atan",        "atan2",      "bitwise_and", "bitwise_not",  "bitwise_or",
    "bitwise_xor", "ceil",        "clamp",       "clamp_max",  "clamp_min",   "clone",        "cos",
    "cosh",        "detach",      "div",         "elu",        "empty_like",  "eq",           "erf",
    "exp",         "exp2",        "expm1",       "fill",       "floor",       "floor_divide", "fmod",
    "full_like",   "ge",          "gelu",        "gt",         "hardtanh",    "isfinite",     "isinf",
    "isnan",       "le",          "leaky_relu",  "lerp",       "log",         "log10",        "log1p",
    "log2",        "logical_and", "logical_not", "logical_or", "logical_xor", "lt",           "masked_fill",
    "maximum",     "minimum",     "mul",         "nan_to_num", "ne",          "neg",          "ones_like",
    "pow",         "reciprocal",  "relu",        "remainder",  "round",       "rsqrt",        "rsub",
    "sgn",         "sigmoid",     "sign",        "silu",       "sin",         "sinh",         "softplus",
    "sqrt",        "square",      "sub",         "tan",        "tanh",        "to",           "trunc",
    "where",       "zeros_like"};

/// An operator of one tensor with dimensions in its arguments.
struct with_dims {
    std::string_view op;
    std::string_view first;       ///< the argument with a dimension, or a list of them
    std::string_view second = {}; ///< another one
    bool starts_at_0 = false;     ///< the default of the first one: 0, not the last dimension
};
inline constexpr with_dims dimensional[] = {{"aten::all.dim", "dim"},
                                            {"aten::amax", "dim"},
                                            {"aten::amin", "dim"},
                                            {"aten::any.dim", "dim"},
                                            {"aten::argmax", "dim"},
                                            {"aten::argmin", "dim"},
                                            {"aten::cumprod", "dim"},
                                            {"aten::cumsum", "dim"},
                                            {"aten::flip", "dims"},
                                            {"aten::log_softmax.int", "dim"},
                                            {"aten::logsumexp", "dim"},
                                            {"aten::max.dim", "dim"},
                                            {"aten::mean.dim", "dim"},
                                            {"aten::min.dim", "dim"},
                                            {"aten::narrow", "dim"},
                                            {"aten::prod.dim_int", "dim"},
                                            {"aten::select.int", "dim"},
                                            {"aten::slice.Tensor", "dim", {}, true},
                                            {"aten::softmax.int", "dim"},
                                            {"aten::sort", "dim"},
                                            {"aten::squeeze.dim", "dim"},
                                            {"aten::sum.dim_IntList", "dim"},
                                            {"aten::sym_size.int", "dim"},
                                            {"aten::topk", "dim"},
                                            {"aten::transpose.int", "dim0", "dim1"},
                                            {"aten::unsqueeze", "dim"}};

/// Reductions of a whole tensor, and those of all its dimensions.
inline constexpr std::pair<std::string_view, std::string_view> whole_reductions[] = {
    {"aten::all", "aten::all.dims"},
    {"aten::any", "aten::any.dims"},
    {"aten::max", "aten::amax"},
    {"aten::mean", "aten::mean.dim"},
    {"aten::min", "aten::amin"},
    {"aten::sum", "aten::sum.dim_IntList"}};

/// Results that do not depend on the elements of their tensor.
inline constexpr std::string_view made[] = {"new_empty", "new_full", "new_ones", "new_zeros"};
/// Products of matrices and vectors.
inline constexpr std::string_view products[] = {"bmm", "dot", "matmul", "mm", "mv"};
/// Operators of which only the first dimensions of one tensor, and nothing else, may be hidden.
inline constexpr std::string_view leading[] = {"embedding", "layer_norm", "linear"};
/// Operators with a list of sizes or dimensions for the whole tensor.
inline constexpr std::pair<std::string_view, std::string_view> listed[] = {
    {"aten::expand", "size"}, {"aten::permute", "dims"}, {"aten::reshape", "shape"}, {"aten::view", "size"}};

/// The name without namespace and overload.
inline std::string_view base_name(std::string_view op) {
    if (!op.starts_with("aten::")) return {};
    op.remove_prefix(6);
    return op.substr(0, op.find('.'));
}

template <class List>
bool contains(List const& list, std::string_view name) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

} // namespace ATON_NAMESPACE::program::vmap_rules
