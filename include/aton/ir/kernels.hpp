// SPDX-License-Identifier: MIT
// Whether ONNX Runtime's CPU provider runs a node, and with which wider dtypes it does.
// Internal header.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/onnx/kernels.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE::kernels {

/// The dtype in which operands of one dtype are computed instead.
struct replaced_dtype {
    onnx::onnxruntime::operand_rule operands; ///< those of the kernel that must have one type
    dtype narrow = dtype::undefined;
    dtype wide = dtype::undefined;
};

namespace detail {

/// Whether an operator is in a list that begins, separates and ends with blanks.
inline bool is_one_of(std::string_view list, std::string_view op) {
    std::size_t const at = list.find(op);
    return at != std::string_view::npos && at != 0 && list[at - 1] == ' ' && list[at + op.size()] == ' ';
}

/// Calls `visit(type)` for every operand of the rule that the node has and whose dtype is known.
template <class Visitor>
void for_each_operand(graph_data const& graph, graph_node const& n, onnx::onnxruntime::operand_rule const& rule,
                      Visitor const& visit) {
    auto const visit_value = [&](value_id id) {
        if (id != no_value && graph.values[id].type.dtype != dtype::undefined) visit(graph.values[id].type);
    };
    for (std::size_t i = 0; i != n.inputs.size(); ++i)
        if (rule.has_input(i)) visit_value(n.inputs[i]);
    for (std::size_t i = 0; i != n.outputs.size(); ++i)
        if (rule.has_result(i)) visit_value(n.outputs[i]);
}

/// The types of tensors that kernels of the node's operator are registered for, but do not compute with its attributes.
inline type_set unfinished_types(graph_node const& n) {
    type_set out;
    for (onnx::onnxruntime::unfinished_kernel const& u : onnx::onnxruntime::unfinished_kernels) {
        node_attribute const* const a = n.op == u.op && n.domain.empty() ? n.attribute(u.attribute) : nullptr;
        if (a != nullptr && is_one_of(u.values, a->s)) out = out | u.types;
    }
    return out;
}

/// The rules of a kernel, without what it does not compute with the node's attributes.
inline std::vector<onnx::onnxruntime::operand_rule> rules_of(onnx::onnxruntime::kernel const& k, graph_node const& n) {
    std::vector<onnx::onnxruntime::operand_rule> out;
    type_set const missing = unfinished_types(n);
    for (int i = 0; i != k.size(); ++i) {
        out.push_back(k[i]);
        out.back().types.plain &= ~missing.plain;
    }
    return out;
}

/// Whether the kernel takes the node's types if tensors of dtype `from` were of dtype `to`.
inline bool takes_types(graph_data const& graph, graph_node const& n, onnx::onnxruntime::kernel const& k, dtype from,
                        dtype to) {
    bool takes = true;
    for (onnx::onnxruntime::operand_rule const& rule : rules_of(k, n)) {
        for_each_operand(graph, n, rule, [&](value_type const& type) {
            bool const is_other = type.kind == value_kind::tensor && type.dtype == from;
            takes = takes && (is_other ? rule.types.contains(to) : rule.types.contains(set_of(type)));
        });
    }
    return takes;
}

/// Dtypes that represent all values of `narrow`, the best one first. Integers wrap around when they are cast back, as ATen's do.
inline std::vector<dtype> wider_dtypes(std::string_view op, dtype narrow) {
    if (is_one_of(" BitCast Cast CastLike ", op)) return {};
    if (is_one_of(" NonZero ", op) && narrow != dtype::string) return {dtype::bool_};
    if (narrow == dtype::float16 || narrow == dtype::bfloat16) return {dtype::float32};
    // Results are those of the dtype's range: they are saturated, or a zero point is added.
    if (is_one_of(" ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv QLinearMatMul"
                  " QuantizeLinear ",
                  op))
        return {};
    switch (narrow) {
    case dtype::bool_: return {dtype::uint8, dtype::int32, dtype::int64};
    case dtype::int8:
    case dtype::int16: return {dtype::int32, dtype::int64};
    case dtype::uint8:
    case dtype::uint16: return {dtype::int32, dtype::int64, dtype::uint32, dtype::uint64};
    case dtype::int32: return {dtype::int64};
    case dtype::uint32: return {dtype::int64, dtype::uint64};
    case dtype::uint64: // operators whose results have the same bits with and without a sign
        if (is_one_of(" CumSum Einsum Trilu Where ", op)) return {dtype::int64};
        return {};
    default: return {};
    }
}

/// Whether ONNX lets the operands of the rule have this dtype.
inline bool is_legal(onnx::op_schema schema, graph_node const& n, onnx::onnxruntime::operand_rule const& rule,
                     dtype t) {
    auto const allows = [&](bool is_result, std::size_t count, std::size_t position) {
        auto const last = static_cast<std::size_t>(is_result ? schema.output_count() : schema.input_count()) - 1;
        int const at = static_cast<int>(std::min(position, last));
        return position >= count || (is_result ? schema.output(at) : schema.input(at)).types.contains(t);
    };
    for (std::size_t i = 0; i != 32; ++i)
        if ((rule.has_input(i) && !allows(false, n.inputs.size(), i)) ||
            (rule.has_result(i) && !allows(true, n.outputs.size(), i)))
            return false;
    return true;
}

} // namespace detail

/// Whether ONNX Runtime runs the node at this opset: it has a kernel for its types, replaces it by operators that have, or casts its
/// operands from float16. True if nothing is known: for other domains, and for values of unknown types. `from`, `to`: of other types.
inline bool runs(graph_data const& graph, graph_node const& n, int opset, dtype from = dtype::undefined,
                 dtype to = dtype::undefined) {
    if (!onnx::onnxruntime::knows(n.domain)) return true;
    onnx::onnxruntime::kernel_list const all = onnx::onnxruntime::kernels_of(n.domain, n.op, opset);
    bool const casts = !detail::unfinished_types(n).contains(dtype::float16); // a kernel of float16 takes its place
    bool const takes_float16 = casts && std::any_of(n.inputs.begin(), n.inputs.end(), [&](value_id id) {
                                   return id != no_value && set_of(graph.values[id].type) == tensors(dtype::float16);
                               });
    for (int i = 0; i != all.size(); ++i)
        if (detail::takes_types(graph, n, all[i], from, to) ||
            (takes_float16 && detail::takes_types(graph, n, all[i], dtype::float16, dtype::float32)))
            return true;
    return false;
}

/// The dtypes with which ONNX Runtime runs a node that it does not run as it is; nothing if there are none. Of several kernels, the one
/// that needs the fewest changes.
inline std::optional<std::vector<replaced_dtype>> wider_kernel(graph_data const& graph, graph_node const& n,
                                                               int opset) {
    auto const has_body = [](node_attribute const& a) { return !a.graphs.empty(); };
    if (std::any_of(n.attributes.begin(), n.attributes.end(), has_body)) return {};
    onnx::op_schema const schema = onnx::find(n.domain, n.op, opset); // none for com.microsoft
    onnx::onnxruntime::kernel_list const all = onnx::onnxruntime::kernels_of(n.domain, n.op, opset);
    std::optional<std::vector<replaced_dtype>> best;
    std::size_t best_cost = 0;
    for (int k = 0; k != all.size(); ++k) {
        std::vector<replaced_dtype> changes;
        std::size_t cost = 0;
        bool fits = true;
        for (onnx::onnxruntime::operand_rule const& rule : detail::rules_of(all[k], n)) {
            std::size_t const first = changes.size(); // of this rule
            detail::for_each_operand(graph, n, rule, [&](value_type const& type) {
                if (!fits || rule.types.contains(set_of(type))) return;
                for (std::size_t c = first; c != changes.size(); ++c)
                    if (changes[c].narrow == type.dtype) return;
                std::vector<dtype> wide;
                if (type.kind == value_kind::tensor) wide = detail::wider_dtypes(n.op, type.dtype);
                auto const found = std::find_if(wide.begin(), wide.end(), [&](dtype t) {
                    return rule.types.contains(t) && (!schema || detail::is_legal(schema, n, rule, t));
                });
                fits = found != wide.end();
                if (!fits) return;
                cost += 8 + static_cast<std::size_t>(found - wide.begin());
                changes.push_back({rule, type.dtype, *found});
            });
        }
        if (!fits || changes.empty() || (best && cost >= best_cost)) continue;
        best = std::move(changes);
        best_cost = cost;
    }
    return best;
}

} // namespace ATON_NAMESPACE::kernels
