// SPDX-License-Identifier: MIT
#include "contrib_legality.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "generated/contrib_operators.hpp"

#include <aton/core/counted.hpp>
#include <aton/core/error.hpp>
#include <aton/core/nearest.hpp>

namespace ATON_NAMESPACE::detail {

namespace {

std::string runtime() { return "ONNX Runtime " + std::string(contrib::release); }

/// An attribute of an operator, as its row writes it: "num_heads:i!".
struct known_attribute {
    std::string_view name;
    onnx::attr_type type = onnx::attr_type::undefined;
    bool required = false;
};

onnx::attr_type type_of(char letter) {
    using onnx::attr_type;
    switch (letter) {
    case 'f': return attr_type::f;
    case 'i': return attr_type::i;
    case 's': return attr_type::s;
    case 't': return attr_type::t;
    case 'g': return attr_type::g;
    case 'F': return attr_type::floats;
    case 'I': return attr_type::ints;
    default: return attr_type::strings;
    }
}

/// Calls `visit` with each attribute of a row.
template <class Visit>
void for_each_attribute(std::string_view text, Visit const& visit) {
    while (!text.empty()) {
        std::string_view const one = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
        std::size_t const colon = one.find(':');
        visit(known_attribute{one.substr(0, colon), type_of(one[colon + 1]), one.ends_with('!')});
    }
}

contrib::operator_row const* find(std::string_view op) {
    auto const* const end = std::end(contrib::operators);
    auto const* const found = std::lower_bound(
        std::begin(contrib::operators), end, op, [](contrib::operator_row const& row, std::string_view name) {
            return std::string_view(row.name) < name;
        });
    return found != end && found->name == op ? found : nullptr;
}

/// Refuses a name that is almost one of the runtime's. Others may be those of a later release.
void check_name(std::string_view op) {
    nearest near(op);
    for (contrib::operator_row const& row : contrib::operators) near.offer(row.name);
    if (near.found().empty() || edit_distance(op, near.found(), 2) > 2) return;
    throw illegal_call(runtime() + " has no such operator; did you mean " + std::string(near.found()) + "?");
}

void check_counts(graph_node const& n, contrib::operator_row const& row) {
    auto inputs = static_cast<std::int64_t>(n.inputs.size());
    while (inputs != 0 && n.inputs[static_cast<std::size_t>(inputs - 1)] == no_value) --inputs;
    auto const outputs = static_cast<std::int64_t>(n.outputs.size());
    if (inputs < row.min_inputs)
        throw illegal_call("has " + counted(static_cast<std::size_t>(inputs), "input") + ", but in " + runtime() +
                           " it needs at least " + std::to_string(row.min_inputs));
    if (row.max_inputs >= 0 && inputs > row.max_inputs)
        throw illegal_call("has " + counted(static_cast<std::size_t>(inputs), "input") + ", but in " + runtime() +
                           " it takes at most " + std::to_string(row.max_inputs));
    if (row.max_outputs >= 0 && outputs > row.max_outputs)
        throw illegal_call("has " + counted(static_cast<std::size_t>(outputs), "output") + ", but in " + runtime() +
                           " it gives at most " + std::to_string(row.max_outputs));
}

void check_attributes(graph_node const& n, contrib::operator_row const& row) {
    for (node_attribute const& a : n.attributes) {
        bool found = false;
        nearest near(a.name);
        for_each_attribute(row.attributes, [&](known_attribute const& known) {
            near.offer(known.name);
            if (known.name != a.name) return;
            found = true;
            if (known.type != a.type) throw illegal_call("attribute '" + a.name + "' has another type in " + runtime());
        });
        if (!found)
            throw illegal_call("has no attribute '" + a.name + "' in " + runtime() +
                               (near.found().empty() ? "" : "; did you mean '" + std::string(near.found()) + "'?"));
    }
    for_each_attribute(row.attributes, [&](known_attribute const& known) {
        if (known.required && n.attribute(known.name) == nullptr)
            throw illegal_call("requires the attribute '" + std::string(known.name) + "' in " + runtime());
    });
}

} // namespace

void require_legal_contrib_node(graph_node const& n, bool has_body) {
    contrib::operator_row const* const row = find(n.op);
    if (row == nullptr) {
        if (!has_body) check_name(n.op);
        return;
    }
    check_counts(n, *row);
    check_attributes(n, *row);
}

} // namespace ATON_NAMESPACE::detail
