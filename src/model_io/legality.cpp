// SPDX-License-Identifier: MIT
// Checks a finished graph against ONNX's schemas.
#include <aton/model_io/legality.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "contrib_legality.hpp"
#include "model_needs.hpp"
#include "node_legality.hpp"

#include <aton/core/error.hpp>
#include <aton/onnx/registry.hpp>

namespace ATON_NAMESPACE {

namespace {

using detail::full_name;
using detail::plain_domain;

using function_table =
    std::map<std::tuple<std::string_view, std::string_view, std::string_view>, graph_function const*>;

/// Checks one graph. Nested graphs have their own checkers, which point to this one.
class graph_checker {
public:
    graph_checker(graph_data const& graph, function_table const& functions, graph_checker const* outer)
        : graph_(graph),
          functions_(functions),
          outer_(outer),
          defined_(graph.values.size()) {}

    void check() {
        if (graph_.opset < 1 || graph_.opset > onnx::newest_opset)
            throw error("opset " + std::to_string(graph_.opset) + " does not exist in this release of ONNX");
        for (std::size_t id = 0; id != graph_.values.size(); ++id)
            defined_[id] = outer_ != nullptr && outer_->has(graph_.values[id].outer);
        for (value_id id : graph_.inputs) define(id, "an input of the graph");
        for (graph_initializer const& i : graph_.initializers) {
            bool const is_input = std::find(graph_.inputs.begin(), graph_.inputs.end(), i.value) != graph_.inputs.end();
            if (!is_input) define(i.value, "an initializer");
        }
        for (graph_node const& n : graph_.nodes) check(n);
        for (value_id id : graph_.outputs)
            if (!has(id)) throw error(what(id) + ", an output of the graph, is not defined");
    }

    [[nodiscard]] bool has(value_id id) const { return id < defined_.size() && defined_[id]; }

private:
    [[nodiscard]] std::string what(value_id id) const {
        if (id >= graph_.values.size()) return "a value that the graph does not have";
        std::string const& name = graph_.values[id].name;
        return name.empty() ? "value " + std::to_string(id) : "%" + name;
    }

    void define(value_id id, char const* as) {
        if (id >= defined_.size() || defined_[id])
            throw error(what(id) + ", " + as + ", is defined twice or does not exist");
        defined_[id] = true;
    }

    [[nodiscard]] int version_of(std::string_view domain) const {
        if (domain.empty()) return graph_.opset;
        for (auto const& [name, version] : graph_.opset_imports)
            if (name == domain) return version;
        return 1; // the version that the writer imports
    }

    void check(graph_node const& n) {
        std::string_view const domain = plain_domain(n.domain);
        int const version = version_of(domain);
        try {
            for (value_id id : n.inputs)
                if (id != no_value && !has(id)) throw illegal_call(what(id) + " is used before it is defined");
            bool const has_body = functions_.contains({domain, n.op, n.overload});
            if (domain == "com.microsoft") detail::require_legal_contrib_node(graph_, n, has_body);
            if (auto const f = functions_.find({domain, n.op, n.overload}); f != functions_.end())
                check_call(n, *f->second);
            else if (onnx::newest_version(domain) != 0) detail::require_legal_node(graph_, n, version);
            check_condition(n);
            for (node_attribute const& a : n.attributes)
                for (graph_data const& nested : a.graphs) graph_checker(nested, functions_, this).check();
            for (value_id id : n.outputs)
                if (id != no_value) define(id, "a result");
        } catch (illegal_call const& e) {
            throw error(full_name(domain, n.op, n.overload) + " (opset " + std::to_string(version) + "): " + e.what() +
                        detail::made_for(graph_, n));
        }
    }

    /// Without an initial condition, ONNX ignores the one that the body of a Loop computes, and ONNX Runtime obeys it: what an author means is
    /// to be written. Models of other producers are as they are.
    void check_condition(graph_node const& n) const {
        node_attribute const* const lambda = n.op == "Loop" && n.domain.empty() ? n.attribute("body") : nullptr;
        if (lambda == nullptr || lambda->graphs.empty()) return;
        graph_data const& body = lambda->graphs[0];
        if (body.inputs.size() < 2 || body.outputs.empty()) return;
        value_id id = body.outputs[0];
        dtype const type = body.values[id].type.dtype;
        if (type != dtype::bool_ && type != dtype::undefined)
            throw illegal_call("the first result of its body is the condition, a bool, but is " +
                               std::string(name(type)) + "; the body takes the iteration, then the condition");
        if (n.source.empty() || (n.inputs.size() > 1 && n.inputs[1] != no_value)) return;
        while (body.values[id].producer >= 0) {
            graph_node const& from = body.nodes[static_cast<std::size_t>(body.values[id].producer)];
            if (from.op != "Identity") break;
            id = from.inputs[0];
        }
        tensor const* const constant =
            body.values[id].outer != no_value ? graph_.constant(body.values[id].outer) : body.constant(id);
        if (id == body.inputs[1] || (constant != nullptr && constant->at(0).to<bool>())) return;
        throw illegal_call("its body computes the condition, which ONNX ignores without an initial condition, but ONNX "
                           "Runtime obeys; pass g.scalar(true, dtype::bool_) as the second input");
    }

    static void check_call(graph_node const& n, graph_function const& f) {
        if (f.body.size() != 1) return; // the writer refuses it
        std::size_t const inputs = f.body[0].inputs.size();
        std::size_t const outputs = f.body[0].outputs.size();
        if (n.inputs.size() > inputs || n.outputs.size() > outputs)
            throw illegal_call("its body has " + std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                               " outputs, but the call has " + std::to_string(n.inputs.size()) + " and " +
                               std::to_string(n.outputs.size()));
        for (node_attribute const& a : n.attributes)
            if (std::find(f.attributes.begin(), f.attributes.end(), a.name) == f.attributes.end() &&
                std::none_of(f.defaults.begin(), f.defaults.end(), [&](auto const& d) { return d.name == a.name; }))
                throw illegal_call("its body has no attribute '" + a.name + "'");
    }

    graph_data const& graph_;
    function_table const& functions_;
    graph_checker const* outer_;
    std::vector<bool> defined_;
};

} // namespace

void require_legal(graph_data const& graph) {
    function_table functions;
    for (graph_function const& f : graph.functions)
        functions.emplace(std::tuple(plain_domain(f.domain), std::string_view(f.name), std::string_view(f.overload)),
                          &f);
    for (graph_function const& f : graph.functions)
        for (graph_data const& body : f.body) graph_checker(body, functions, nullptr).check();
    graph_checker(graph, functions, nullptr).check();
}

} // namespace ATON_NAMESPACE
