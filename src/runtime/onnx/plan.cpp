// SPDX-License-Identifier: MIT
// Plans graphs. They are untrusted, so everything is checked here and not while they run.
#include "plan.hpp"

#include <cstddef>
#include <exception>

#include <aton/core/error.hpp>
#include <aton/model_io/operator_body.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::runtime {

std::set<value_id> uses_of(graph_node const& n) {
    std::set<value_id> all(n.inputs.begin(), n.inputs.end());
    for (node_attribute const& a : n.attributes)
        for (graph_data const& inner : a.graphs)
            for (graph_value const& v : inner.values) all.insert(v.outer);
    all.erase(no_value);
    return all;
}

namespace {

using onnx_kernels::call;

std::string function_name(graph_function const& f) { return f.domain.empty() ? f.name : f.domain + "::" + f.name; }

int version_of(graph_data const& g, std::string const& domain) {
    if (domain.empty()) return g.opset;
    for (auto const& [known, version] : g.opset_imports)
        if (known == domain) return version;
    return 1;
}

/// The runner of constants, which do not refer to a graph.
class constant_runner final : public onnx_kernels::graph_runner {
public:
    constant_runner(device where, opset_range& same) : where_(where), same_(&same) {}
    std::vector<value> run(graph_data const& /*body*/, std::vector<value> /*inputs*/) override {
        throw error("a constant cannot have a subgraph");
    }
    node_attribute const* attribute(graph_node const& node, std::string_view name) override {
        return node.attribute(name);
    }
    [[nodiscard]] device where() const override { return where_; }
    std::uint64_t next_seed() override { return 0; }
    opset_range& same_opsets() override { return *same_; }

private:
    device where_;
    opset_range* same_;
};

bool is_constant(graph_node const& n) {
    if (n.op != "Constant" || !n.domain.empty() || n.outputs.size() != 1 || n.outputs[0] == no_value) return false;
    for (node_attribute const& a : n.attributes)
        if (!a.reference.empty()) return false;
    return true;
}

/// Checks the values of a graph in the order of their definition.
class value_checker {
public:
    value_checker(graph_data const& g, graph_data const* around)
        : g_(g),
          made_(g.values.size()),
          last_use_(g.values.size(), g.nodes.size()) {
        for (value_id const id : g.inputs) make(id, "input");
        for (graph_initializer const& i : g.initializers) {
            require_known(i.value);
            made_[i.value] = true; // an input may have an initializer
        }
        for (std::size_t i = 0; i != g.values.size(); ++i) {
            value_id const outer = g.values[i].outer;
            if (outer == no_value) continue;
            if (around == nullptr || outer >= around->values.size())
                throw error("value '" + g.values[i].name + "' is captured from a graph around '" + g.name +
                            "', which does not have it");
            made_[i] = true;
        }
    }

    void check(std::size_t n) {
        graph_node const& node = g_.nodes[n];
        for (value_id const id : uses_of(node)) {
            require_known(id);
            if (!made_[id])
                throw error(describe(g_, node) + ": no earlier node computes its input '" + g_.values[id].name + "'");
            last_use_[id] = n;
        }
        for (value_id const id : node.outputs)
            if (id != no_value) make(id, "result");
    }

    void check_outputs(bool is_body) {
        for (value_id const id : g_.outputs) {
            if (id != no_value) require_known(id);
            if (!is_body && (id == no_value || !made_[id]))
                throw error("no node computes an output of the graph '" + g_.name + "'");
        }
    }

    /// Values that no node needs after this one, including unused results of it.
    [[nodiscard]] std::vector<value_id> last_uses(std::size_t n) const {
        std::vector<value_id> out;
        std::set<value_id> const kept(g_.outputs.begin(), g_.outputs.end());
        for (value_id const id : uses_of(g_.nodes[n]))
            if (last_use_[id] == n && !kept.contains(id)) out.push_back(id);
        for (value_id const id : g_.nodes[n].outputs)
            if (id != no_value && last_use_[id] == g_.nodes.size() && !kept.contains(id)) out.push_back(id);
        return out;
    }

private:
    void require_known(value_id id) const {
        if (id >= g_.values.size()) throw error("the graph '" + g_.name + "' has no value " + std::to_string(id));
    }
    void make(value_id id, char const* what) {
        require_known(id);
        if (made_[id]) throw error(std::string(what) + " '" + g_.values[id].name + "' is defined twice");
        made_[id] = true;
    }

    graph_data const& g_;
    std::vector<bool> made_;
    std::vector<std::size_t> last_use_; ///< index of a node; the number of nodes if there is none
};

} // namespace

std::string describe(graph_data const& g, graph_node const& n) {
    std::string text = n.domain.empty() ? n.op : n.domain + "::" + n.op;
    for (value_id const id : n.outputs)
        if (id < g.values.size() && !g.values[id].name.empty()) return text + " '" + g.values[id].name + "'";
    return text;
}

graph_plan planner::plan(graph_data const& g, bool is_body) {
    graph_plan out;
    plan(g, nullptr, is_body, 0, out);
    return out;
}

void planner::plan(graph_data const& g, graph_data const* around, bool is_body, int depth, graph_plan& to) {
    if (depth > max_nesting)
        throw error("graphs and functions are nested more than " + std::to_string(max_nesting) + " deep");
    to.graph = &g;
    value_checker values(g, around);
    for (graph_initializer const& i : g.initializers) {
        if (i.stored != nullptr) throw error("initializer '" + g.values[i.value].name + "' is in another file");
        to.constants.emplace_back(i.value, to_device(tensor::from_constant(i.data), where_));
    }
    for (std::size_t n = 0; n != g.nodes.size(); ++n) values.check(n);
    values.check_outputs(is_body);
    for (std::size_t n = 0; n != g.nodes.size(); ++n) {
        graph_node const& node = g.nodes[n];
        node_plan& p = to.nodes.emplace_back();
        try {
            resolve(g, node, depth, p);
            if (p.run != nullptr && is_constant(node)) {
                constant_runner runner(where_, same_opsets_);
                to.constants.emplace_back(node.outputs[0], p.run(call(node, p.opset, {}, runner)).values().at(0));
                p.is_done = true;
            }
            for (node_attribute const& a : node.attributes)
                for (graph_data const& inner : a.graphs)
                    plan(inner, &g, false, depth + 1, *p.graphs.emplace_back(std::make_unique<graph_plan>()));
        } catch (std::exception const& e) {
            throw error(describe(g, node) + ": " + e.what());
        }
        p.last_uses = values.last_uses(n);
    }
}

void planner::resolve(graph_data const& g, graph_node const& n, int depth, node_plan& to) {
    to.opset = version_of(g, n.domain);
    for (graph_function const& f : functions_)
        if (f.domain == n.domain && f.name == n.op && f.overload == n.overload) to.function = &f;
    if (to.function != nullptr) {
        to.body = &body_of(*to.function, depth);
        return;
    }
    if (n.domain.empty() && to.opset <= 0) throw error("the model does not import a version of ai.onnx");
    to.run = onnx_kernels::find_kernel(n.domain, n.op);
    if (to.run == nullptr && !has_operator_body(n.domain, n.op, to.opset))
        throw error("the operator does not exist at opset " + std::to_string(to.opset) +
                    " or is not supported by the runtime");
}

graph_plan const& planner::body_of(graph_function const& f, int depth) {
    if (auto const known = bodies_.find(&f); known != bodies_.end()) return *known->second;
    if (f.body.size() != 1) throw error("the function " + function_name(f) + " has no body");
    if (!open_.insert(&f).second) throw error("the function " + function_name(f) + " calls itself");
    auto body = std::make_unique<graph_plan>();
    plan(f.body.front(), nullptr, true, depth + 1, *body);
    open_.erase(&f);
    return *(bodies_[&f] = std::move(body));
}

} // namespace ATON_NAMESPACE::runtime
