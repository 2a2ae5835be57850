// SPDX-License-Identifier: MIT
#include "gradients.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <aton/core/dtype.hpp>

namespace ATON_NAMESPACE::torchscript {

namespace {

/// Operators whose results have no gradient, whatever their operands are.
bool is_constant_in_operands(std::string_view op) {
    constexpr std::string_view without[] = {"aten::detach",
                                            "aten::detach_",
                                            "aten::empty_like",
                                            "aten::full_like",
                                            "aten::ones_like",
                                            "aten::rand_like",
                                            "aten::randn_like",
                                            "aten::randint_like",
                                            "aten::zeros_like",
                                            "aten::bernoulli"};
    std::string_view const name = op.substr(0, op.find('.'));
    return name.starts_with("aten::new_") ||
           std::find(std::begin(without), std::end(without), name) != std::end(without);
}

} // namespace

void gradients::note(program::program const& of, program::node const& n) {
    if (!is_enabled || is_constant_in_operands(n.op)) return;
    bool any = false;
    for (program::argument const& a : n.arguments)
        program::for_each_value(a, [&](program::value_index v) { any = any || requires_gradient(v); });
    if (!any) return;
    for (program::result const& r : n.results)
        for (program::value_index const v : r.values)
            if (is_floating(of.values[v].type) || is_complex(of.values[v].type)) require(v);
    bool const writes = !n.arguments.empty() && n.arguments[0].kind == program::argument_kind::tensor &&
                        n.op.substr(0, n.op.find('.')).ends_with('_') &&
                        !n.op.substr(0, n.op.find('.')).ends_with("__");
    if (writes) require(n.arguments[0].tensor);
}

void gradients::merge(program::argument const& a, program::argument const& b, program::value_index result) {
    bool any = false;
    for (program::argument const* const each : {&a, &b})
        program::for_each_value(*each, [&](program::value_index v) { any = any || requires_gradient(v); });
    if (any) require(result);
}

} // namespace ATON_NAMESPACE::torchscript
