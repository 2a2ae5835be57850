// SPDX-License-Identifier: MIT
#include "operator_table.hpp"

#include <aton/aten/schema_table.hpp>

namespace ATON_NAMESPACE::pt2 {

namespace {

constexpr std::string_view ops = "torch.ops.";
constexpr std::string_view higher_order = "torch.ops.higher_order.";
/// The prefix in torch 2.4: "torch._higher_order_ops.wrap.wrap_with_set_grad_enabled".
constexpr std::string_view higher_order_module = "torch._higher_order_ops.";
constexpr std::string_view unnamed = ".default";

/// "torch.ops.aten.add.Tensor" -> "aten::add.Tensor".
std::string qualified_overload(std::string_view target) {
    target.remove_prefix(ops.size());
    if (target.ends_with(unnamed)) target.remove_suffix(unnamed.size());
    std::size_t const dot = target.find('.');
    std::string out(target.substr(0, dot));
    if (dot != std::string_view::npos) out.append("::").append(target.substr(dot + 1));
    return out;
}

operator_info read(std::string_view target) {
    operator_info out;
    if (target.starts_with(higher_order)) {
        out.kind = program::node_kind::higher_order;
        out.op = qualified_overload(target);
        return out;
    }
    if (target.starts_with(higher_order_module)) {
        out.kind = program::node_kind::higher_order;
        out.op = "higher_order::" + std::string(target.substr(target.rfind('.') + 1));
        return out;
    }
    if (!target.starts_with(ops)) {
        // "#ns:op" is registered by extensions; the rest are Python functions: _operator.mul, math.trunc, torch.sym_max.
        out.kind = target.starts_with('#') ? program::node_kind::aten : program::node_kind::python;
        out.op = target;
        return out;
    }
    out.op = qualified_overload(target);
    out.schema = aten::find_schema(out.op);
    if (out.schema.empty()) return out;
    aten::argument_cursor arguments{out.schema};
    for (aten::schema_argument each; arguments.next(each);) out.arguments.push_back(each);
    out.any_arguments = arguments.is_vararg();
    aten::return_cursor returns{out.schema};
    for (aten::schema_return each; returns.next(each);) out.returns.push_back(each);
    out.any_returns = returns.is_vararg();
    return out;
}

} // namespace

operator_info const& operator_table::find(std::string_view target) {
    auto const found = known_.find(target);
    return found != known_.end() ? found->second : known_.emplace(target, read(target)).first->second;
}

} // namespace ATON_NAMESPACE::pt2
