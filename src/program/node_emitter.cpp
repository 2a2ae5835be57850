// SPDX-License-Identifier: MIT
#include "node_emitter.hpp"

#include <utility>

#include <aton/aten/schema_table.hpp>
#include <aton/core/error.hpp>

namespace ATON_NAMESPACE::program {

node_emitter::node_emitter(program& p, std::size_t expected) : program_(p), max_nodes_(100'000 + 8 * expected) {
    names_.reserve(2 * p.values.size());
    for (value const& each : p.values) names_.try_emplace(each.name, 0);
}

value_index node_emitter::fresh(value_index like) {
    value v = program_.values[like];
    v.symbolic.reset();
    return fresh(std::move(v));
}

value_index node_emitter::fresh(value v) {
    if (auto const [taken, is_new] = names_.try_emplace(v.name, 0); !is_new) {
        std::string const stem = v.name;
        std::size_t last = taken->second;
        do v.name = stem + "_" + std::to_string(++last);
        while (!names_.try_emplace(v.name, 0).second);
        names_[stem] = last;
    }
    program_.values.push_back(std::move(v));
    return static_cast<value_index>(program_.values.size() - 1);
}

value_index node_emitter::emit(std::string_view op, node const& cause, std::vector<argument> arguments,
                               value_index made) {
    node n;
    n.op = std::string{op};
    n.schema = aten::find_schema(op);
    if (n.schema.empty()) throw error(describe(program_, cause) + ": torch has no operator " + n.op);
    n.name = program_.values[made].name;
    n.arguments = std::move(arguments);
    n.results = {result{{made}, false}};
    n.origin = cause.origin;
    append(std::move(n));
    return made;
}

void node_emitter::append(node n) {
    if (nodes_.size() == max_nodes_)
        throw error(describe(program_, n) + ": too many operators are needed to recompute the views of tensors that "
                                            "are written to; write to fewer views of one tensor");
    nodes_.push_back(std::move(n));
}

} // namespace ATON_NAMESPACE::program
