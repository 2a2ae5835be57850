// SPDX-License-Identifier: MIT
// Functionalization of operators that torch does not declare, and of auto_functionalized calls.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>

#include "functionalizer.hpp"
#include "node_arguments.hpp"
#include "row_schema.hpp"

namespace ATON_NAMESPACE::program {

void functionalizer::visit_custom(node const& n) {
    std::string_view const schema = custom_schema(n.op);
    if (schema.empty()) return pass(n);
    custom_operator const op = read_custom_operator(schema);
    if (op.written.empty()) return visit_pure(n, schema);
    if (n.is_functional) return pass(n);
    std::vector<std::string> given;
    for (argument const& each : n.arguments) given.push_back(each.name);
    require_names(program_, n, given, schema);
    require_result_count(program_, n, n.results.size(), schema);
    if (op.returns_view)
        throw error(describe(program_, n) + ": writes to an argument, and a result is a view of one by its schema; "
                                            "return a copy");
    write_custom(n, op);
}

std::string_view functionalizer::custom_schema(std::string_view op) const {
    return schema_of_ ? schema_of_(op) : std::string_view();
}

void functionalizer::visit_functionalized(node const& n) {
    decoded_call const made = decode_functionalized(out_, n, custom_schema(functionalized_operator(program_, n)));
    for (node const& each : made.before) visit_pure(each, each.schema);
    if (made.call.is_functional) return pass(made.call);
    if (made.op.returns_view)
        throw error(describe(program_, n) + ": " + made.call.op +
                    " writes to an argument, and a result is a view of one by its schema; return a copy");
    write_custom(made.call, made.op);
}

void functionalizer::write_custom(node const& n, custom_operator const& op) {
    for (written_argument const& each : op.written) check_disjoint(n, each);
    node made = with_arguments_read(n);
    made.is_functional = true;
    made.results.clear();
    std::vector<tensor_write> writes;
    for (std::size_t i = 0; i != n.results.size(); ++i) {
        auto const same = std::find_if(
            op.written.begin(), op.written.end(), [i](written_argument const& each) { return each.result == i; });
        if (same != op.written.end()) {
            made.results.push_back(new_values(n, *same, n.results[i], writes));
            continue;
        }
        made.results.push_back(n.results[i]);
        for (value_index v : n.results[i].values)
            if (v != no_value) state_.add_tensor(v);
    }
    for (written_argument const& each : op.written)
        if (each.result == written_argument::npos) made.results.push_back(new_values(n, each, {}, writes));
    out_.append(std::move(made));
    for (tensor_write const& each : writes) write(each.tensor, each.now, n);
}

void functionalizer::check_disjoint(node const& n, written_argument const& written) const {
    argument const* const to = find_argument(n, written.name);
    if (to == nullptr) return;
    for (value_ref const& v : tensors_of(*to)) {
        if (!v) continue;
        if (!state_.is_known(v))
            throw error(describe(program_, n) + ": its argument " + written.name + " is not a tensor");
        for (argument const& a : n.arguments)
            for (value_ref const& other : tensors_of(a)) {
                if (&other == &v || !other || !state_.is_known(other)) continue;
                if (!state_.are_disjoint(v, other))
                    throw error(describe(program_, n) + ": writes to its argument " + written.name +
                                ", which shares memory with its argument " + a.name + "; pass a clone()");
            }
    }
}

result functionalizer::new_values(node const& n, written_argument const& written, result const& named,
                                  std::vector<tensor_write>& writes) {
    result out;
    argument const* const to = find_argument(n, written.name);
    if (to == nullptr || to->kind == argument_kind::none) return out;
    out.is_list = to->kind == argument_kind::tensors;
    auto const tensors = tensors_of(*to);
    for (std::size_t i = 0; i != tensors.size(); ++i) {
        value_index const tensor = tensors[i];
        if (tensor == no_value) continue;
        bool const is_named = named.values.size() == tensors.size() && named.values[i] != no_value;
        value_index const now = is_named ? named.values[i] : out_.fresh(state_.described_by(tensor));
        if (is_named) state_.add_same(now, tensor);
        out.values.push_back(now);
        writes.push_back({tensor, now});
    }
    return out;
}

} // namespace ATON_NAMESPACE::program
