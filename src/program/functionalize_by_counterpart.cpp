// SPDX-License-Identifier: MIT
// Functionalization of in-place and out operators for which torch has an operator that returns the new values.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "functionalizer.hpp"
#include "node_arguments.hpp"

namespace ATON_NAMESPACE::program {

namespace {

node as_counterpart(node n, counterpart const& to) {
    n.op = to.op;
    n.schema = to.schema;
    std::erase_if(n.arguments, [&](argument const& a) {
        return std::find(to.dropped.begin(), to.dropped.end(), a.name) != to.dropped.end();
    });
    for (argument& each : n.arguments)
        for (auto const& [from, name] : to.renamed)
            if (each.name == from) {
                each.name = name;
                break;
            }
    return n;
}

} // namespace

std::optional<node> functional_form(node const& n) {
    if (n.schema.empty()) return {};
    std::optional<counterpart> const found = find_counterpart(n.schema);
    return found ? std::optional(as_counterpart(n, *found)) : std::nullopt;
}

void functionalizer::visit_write(node const& n, std::vector<std::string_view> const& written) {
    auto const [at, is_new] = counterparts_.try_emplace(n.schema);
    if (is_new) at->second = find_counterpart(n.schema);
    std::optional<counterpart> const& found = at->second;
    if (!found)
        throw error(describe(program_, n) + ": writes to " + std::string{written.front()} +
                    ", and torch has no functional operator for it; rewrite the model without it");
    counterpart const& to = *found;
    node made = as_counterpart(n, to);
    for (argument& each : made.arguments) read_argument(each, n);
    if (to.takes_written_dtype) set_written_dtype(n, to, made);
    made.results.clear();
    std::vector<tensor_write> writes;
    std::vector<dtype_cast> casts;
    for (counterpart_result const& each : to.results) make_result(n, to, each, made, writes, casts);
    out_.append(made);
    for (auto const& [from, cast] : casts) {
        dtype const type = program_.values[cast].type;
        out_.emit("aten::_to_copy", n, {tensor_argument("self", from), type_argument("dtype", type)}, cast);
    }
    for (tensor_write const& each : writes) {
        if (each.resizes) resize(each.tensor, each.now, n);
        else write(each.tensor, each.now, n);
    }
}

void functionalizer::set_written_dtype(node const& n, counterpart const& to, node& made) {
    value const& written = program_.values[tensor_of(n, to.written.front())];
    if (!written.has_type) return;
    argument* const given = find_argument(made, "dtype");
    if (given == nullptr) made.arguments.push_back(type_argument("dtype", written.type));
    else if (given->kind == argument_kind::none) *given = type_argument("dtype", written.type);
}

void functionalizer::make_result(node const& n, counterpart const& to, counterpart_result const& r, node& made,
                                 std::vector<tensor_write>& writes, std::vector<dtype_cast>& casts) {
    result const* const original = r.original < n.results.size() ? &n.results[r.original] : nullptr;
    if (r.written == counterpart_result::npos) {
        made.results.push_back(original == nullptr ? result{} : *original);
        for (value_index v : made.results.back().values)
            if (v != no_value) state_.add_tensor(v);
        return;
    }
    argument const* const target = find_argument(n, to.written[r.written]);
    result computed;
    computed.is_list = target != nullptr && target->kind == argument_kind::tensors;
    auto const tensors = target == nullptr ? std::span<value_ref const>() : tensors_of(*target);
    std::size_t const count = tensors.size();
    for (std::size_t i = 0; i != count; ++i) {
        value_index const tensor = tensors[i];
        if (tensor == no_value || !state_.is_known(tensor))
            throw error(describe(program_, n) + ": its argument " + target->name + " is not a tensor");
        bool const is_named =
            original != nullptr && original->values.size() == count && original->values[i] != no_value;
        value_index const now = is_named ? original->values[i] : out_.fresh(state_.described_by(tensor));
        bool const is_resized = changes_sizes(state_.described_by(tensor), now);
        bool const is_out = std::find(to.dropped.begin(), to.dropped.end(), target->name) != to.dropped.end();
        if (is_resized && !is_out)
            throw error(describe(program_, n) + ": changes the sizes of " + target->name + ", which it writes to");
        value_index from = now;
        dtype const type = program_.values[tensor].type;
        dtype const natural = natural_type(program_, made, type).value_or(dtype::undefined);
        if (program_.values[tensor].has_type) program_.values[now].type = type; // torch.export may record another one
        if (program_.values[tensor].has_type && natural != type) {
            from = out_.fresh(now);
            program_.values[from].type = natural;
            casts.emplace_back(from, now);
        }
        computed.values.push_back(from);
        if (is_named) state_.add_same(now, tensor);
        writes.push_back({tensor, now, is_resized});
    }
    made.results.push_back(std::move(computed));
}

bool functionalizer::changes_sizes(value_index tensor, value_index now) const {
    auto const before = layout_.sizes_of(tensor);
    auto const after = layout_.sizes_of(now);
    return before && after && *before != *after;
}

} // namespace ATON_NAMESPACE::program
