// SPDX-License-Identifier: MIT
// Replaces calls of functions by the nodes of their bodies, with the attributes of the call.
#include <aton/passes/passes.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/nested_types.hpp>
#include <aton/ir/shapes/rules.hpp>

#include "attributes.hpp"
#include "functions.hpp"
#include "splice.hpp"

namespace ATON_NAMESPACE {

namespace {

class inliner {
public:
    explicit inliner(graph_data const& main) : functions_(main), count_(main.functions.size()) {}

    /// `depth`: the number of functions that these nodes are nested in.
    void expand(graph_data& graph, std::size_t depth) {
        std::vector<graph_node> old;
        old.swap(graph.nodes);
        for (graph_node& n : old) place(graph, std::move(n), depth);
    }

private:
    void place(graph_data& graph, graph_node&& n, std::size_t depth) {
        std::size_t const f = functions_.find(n);
        if (f != passes::function_table::none) return call(graph, functions_[f], n, depth);
        for (node_attribute& a : n.attributes)
            for (graph_data& nested : a.graphs) {
                for (graph_value& v : nested.values)
                    if (depth != 0 && v.outer != no_value) v.type = graph.values[v.outer].type;
                if (depth != 0) complete_nested_inputs(nested, nested_input_types(graph, n));
                expand(nested, depth);
            }
        append(graph, std::move(n));
        if (depth != 0) shapes::infer_types(graph, graph.nodes.back());
    }

    static void append(graph_data& graph, graph_node&& n) {
        for (value_id id : n.outputs)
            if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(graph.nodes.size());
        graph.nodes.push_back(std::move(n));
    }

    void call(graph_data& graph, graph_function const& f, graph_node const& n, std::size_t depth) {
        std::string const name = f.domain + "::" + f.name;
        if (depth > count_) throw error("function " + name + " calls itself, so it cannot be inlined");
        if (f.body.size() != 1) throw error("function " + name + " has no body to inline");
        graph_data body = f.body[0];
        if (body.opset != 0 && body.opset != graph.opset)
            throw error("function " + name + " has opset " + std::to_string(body.opset) + ", but the graph has opset " +
                        std::to_string(graph.opset) + ", so it cannot be inlined");
        if (n.inputs.size() > body.inputs.size() || n.outputs.size() > body.outputs.size())
            throw error("function " + name + " has " + std::to_string(body.inputs.size()) + " inputs and " +
                        std::to_string(body.outputs.size()) + " outputs, but a call has " +
                        std::to_string(n.inputs.size()) + " and " + std::to_string(n.outputs.size()));
        resolve_references(body, n, f.defaults);

        std::vector<value_id> ids(body.values.size(), passes::unassigned);
        for (std::size_t i = 0; i != body.inputs.size(); ++i) ids[body.inputs[i]] = passes::input(n, i);
        std::vector<std::pair<value_id, value_id>> copies; // outputs that need an Identity in this call
        for (std::size_t i = 0; i != n.outputs.size(); ++i) {
            value_id const from = body.outputs[i];
            if (n.outputs[i] == no_value) continue;
            if (body.values[from].producer >= 0 && ids[from] == passes::unassigned) ids[from] = n.outputs[i];
            else copies.emplace_back(from, n.outputs[i]);
        }
        bool same_dtypes = true;
        for (std::size_t i = 0; i != n.inputs.size(); ++i)
            same_dtypes = same_dtypes && (n.inputs[i] == no_value || graph.values[n.inputs[i]].type.dtype ==
                                                                         body.values[body.inputs[i]].type.dtype);
        clear_types(body, same_dtypes);
        std::vector<value_type> known; // the types at the call are as precise as inferred ones
        for (value_id id : n.outputs) known.push_back(id == no_value ? value_type{} : graph.values[id].type);
        for (graph_node& made : passes::splice(graph, std::move(body), ids, n))
            place(graph, std::move(made), depth + 1);
        for (std::size_t i = 0; i != known.size(); ++i)
            if (n.outputs[i] != no_value && known[i].dtype != dtype::undefined)
                graph.values[n.outputs[i]].type = std::move(known[i]);
        for (auto const& [from, to] : copies) {
            graph_node copy;
            copy.op = "Identity";
            copy.inputs = {ids[from]};
            copy.outputs = {to};
            copy.source = n.source;
            copy.origin = n.origin;
            append(graph, std::move(copy));
        }
    }

    /// Replaces references to attributes by those of the call, or by their defaults. References without a value are removed.
    static void resolve_references(graph_data& body, graph_node const& call,
                                   std::vector<node_attribute> const& defaults) {
        for (graph_node& n : body.nodes) {
            std::vector<node_attribute> kept;
            for (node_attribute& a : n.attributes) {
                for (graph_data& nested : a.graphs) resolve_references(nested, call, defaults);
                node_attribute const* given = a.reference.empty() ? &a : call.attribute(a.reference);
                for (node_attribute const& d : defaults)
                    if (given == nullptr && d.name == a.reference) given = &d;
                if (given == nullptr) continue;
                std::string name = std::move(a.name);
                kept.push_back(given == &a ? std::move(a) : *given);
                kept.back().name = std::move(name);
            }
            n.attributes = std::move(kept);
        }
    }

    passes::function_table functions_;
    std::size_t count_;
};

} // namespace

void inline_functions(graph_data& graph) {
    if (graph.functions.empty()) return;
    graph_data library; // keeps the functions unchanged while the graph changes
    library.functions.swap(graph.functions);
    inliner(library).expand(graph, 0);
}

} // namespace ATON_NAMESPACE
