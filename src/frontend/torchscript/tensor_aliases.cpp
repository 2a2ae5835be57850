// SPDX-License-Identifier: MIT
#include "tensor_aliases.hpp"

#include <algorithm>

#include <aton/aten/mutation.hpp>

namespace ATON_NAMESPACE::torchscript {

void tensor_aliases::note(program::value_index result, program::value_index operand, bool is_written) {
    views_[result] = operand;
    if (is_written) same_[result] = operand;
}

void tensor_aliases::note(program::node const& n, overload const& o, code_position const& at) {
    auto const operand = [&](aten::schema_argument const& a) -> program::value_index {
        for (program::argument const& each : n.arguments)
            if (each.name == a.name && each.kind == program::argument_kind::tensor) return each.tensor;
        return program::no_value;
    };
    for (aten::schema_argument const& a : o.arguments) {
        program::value_index const tensor = operand(a);
        if (tensor == program::no_value || aten::alias_set(a.type).empty()) continue;
        if (a.type.mutates && in_rows_.contains(memory_of(tensor)))
            at.fail("'" + n.op + "' writes to a tensor whose parts are in a list that has grown in a loop");
        if (a.type.mutates) written_.push_back(tensor);
        if (a.type.mutates) changed_.insert(memory_of(tensor));
        for (std::size_t i = 0; i != o.returns.size() && i != n.results.size(); ++i) {
            if (aten::alias_set(o.returns[i].type) != aten::alias_set(a.type)) continue;
            for (program::value_index const v : n.results[i].values) note(v, tensor, a.type.mutates);
        }
    }
}

program::value_index tensor_aliases::same_tensor(program::value_index v) const {
    for (auto found = same_.find(v); found != same_.end(); found = same_.find(v)) v = found->second;
    return v;
}

program::value_index tensor_aliases::memory_of(program::value_index v) const {
    for (auto found = views_.find(v); found != views_.end(); found = views_.find(v)) v = found->second;
    return v;
}

std::vector<program::value_index> tensor_aliases::written_outside(
    std::vector<program::node> const& nodes, std::vector<program::value_index> const& written) const {
    std::set<program::value_index> made;
    for (program::node const& n : nodes)
        for (program::result const& r : n.results) made.insert(r.values.begin(), r.values.end());
    std::vector<program::value_index> out;
    for (program::value_index v : written) {
        for (auto found = views_.find(v); made.contains(v) && found != views_.end(); found = views_.find(v))
            v = found->second;
        if (!made.contains(v) && std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    }
    return out;
}

bool tensor_aliases::are_apart(std::vector<program::value_index> const& written,
                               std::vector<program::value_index> const& used) const {
    std::set<program::value_index> memories;
    for (program::value_index const v : written)
        if (!memories.insert(memory_of(v)).second) return false;
    return std::none_of(used.begin(), used.end(), [&](program::value_index v) {
        return std::find(written.begin(), written.end(), v) == written.end() && memories.contains(memory_of(v));
    });
}

} // namespace ATON_NAMESPACE::torchscript
