// SPDX-License-Identifier: MIT
#include "contrib_legality.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

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

/// The next of several texts with blanks between, which is removed from them.
std::string_view next_of(std::string_view& texts, char separator = ' ') {
    std::string_view const one = texts.substr(0, texts.find(separator));
    texts.remove_prefix(std::min(one.size() + 1, texts.size()));
    return one;
}

/// Calls `visit` with each attribute of a row.
template <class Visit>
void for_each_attribute(std::string_view text, Visit const& visit) {
    while (!text.empty()) {
        std::string_view const one = next_of(text);
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

/// What stands behind the colon of one of the texts; empty: none has this name.
std::string_view find_named(std::string_view texts, std::string_view name) {
    while (!texts.empty()) {
        std::string_view const one = next_of(texts);
        std::size_t const colon = one.find(':');
        if (one.substr(0, colon) == name) return one.substr(colon + 1);
    }
    return {};
}

/// "float16, float or double", with Aton's names of the types; `found` says whether `type` is one of them.
std::string list_types(std::string_view onnx_names, dtype type, bool& found) {
    std::string out;
    while (!onnx_names.empty()) {
        std::string_view const one = next_of(onnx_names, ',');
        found = found || one == onnx_name(type);
        dtype shown = dtype::undefined;
        for (std::size_t i = 1; i != dtype_count; ++i)
            if (onnx_name(static_cast<dtype>(i)) == one) shown = static_cast<dtype>(i);
        if (!out.empty()) out += onnx_names.empty() ? " or " : ", ";
        out += shown == dtype::undefined ? one : name(shown);
    }
    return out;
}

/// Checks the dtypes of a node, as far as they are known, and that a type variable has one of them everywhere.
class type_check {
public:
    type_check(graph_data const& graph, contrib::operator_row const& row) : graph_(graph), row_(row) {}

    void check(std::vector<value_id> const& ids, std::string_view formals, std::string_view kind) {
        std::string_view formal;
        for (value_id const id : ids) {
            if (!formals.empty()) formal = next_of(formals); // else the last one, which is variadic
            std::size_t const colon = formal.find(':');
            if (id == no_value || colon == std::string_view::npos || formal.substr(colon + 1) == "*") continue;
            value_type const& type = graph_.values[id].type;
            if (type.kind != value_kind::tensor || type.dtype == dtype::undefined) continue;
            check_one(kind, formal.substr(0, colon), formal.substr(colon + 1), type.dtype);
        }
    }

private:
    void check_one(std::string_view kind, std::string_view formal, std::string_view variable, dtype type) {
        std::string const is = std::string(kind) + " '" + std::string(formal) + "' is " + std::string(name(type));
        bool found = false;
        std::string const allowed = list_types(find_named(row_.types, variable), type, found);
        if (!found) throw illegal_call(is + ", but in " + runtime() + " it is " + allowed);
        first_use const& first = bound_.emplace(variable, first_use{formal, type}).first->second;
        if (first.type != type)
            throw illegal_call(is + ", but '" + std::string(first.formal) + "' is " + std::string(name(first.type)) +
                               "; in " + runtime() + " they have one type");
    }

    /// What gave a type variable its type.
    struct first_use {
        std::string_view formal;
        dtype type;
    };

    graph_data const& graph_;
    contrib::operator_row const& row_;
    std::map<std::string_view, first_use> bound_;
};

} // namespace

void require_legal_contrib_node(graph_data const& graph, graph_node const& n, bool has_body) {
    contrib::operator_row const* const row = find(n.op);
    if (row == nullptr) {
        if (!has_body) check_name(n.op);
        return;
    }
    check_counts(n, *row);
    check_attributes(n, *row);
    type_check types(graph, *row);
    types.check(n.inputs, row->inputs, "input");
    types.check(n.outputs, row->outputs, "output");
}

} // namespace ATON_NAMESPACE::detail
