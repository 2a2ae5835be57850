// SPDX-License-Identifier: MIT
// Nodes that draw random numbers: seeds for them, or inputs in their place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/passes/passes.hpp>

#include "draws.hpp"

namespace ATON_NAMESPACE {

namespace {

using passes::draws_random_numbers;

/// Calls `f` with every draw of a graph and of the graphs in its nodes.
template <class Graph, class Function>
void for_each_draw(Graph& graph, Function const& f) {
    for (auto& n : graph.nodes) {
        if (draws_random_numbers(n)) f(n);
        for (auto& a : n.attributes)
            for (auto& nested : a.graphs) for_each_draw(nested, f);
    }
}

template <class Graph, class Function>
void for_each_draw_of_model(Graph& graph, Function const& f) {
    for_each_draw(graph, f);
    for (auto& function : graph.functions)
        for (auto& body : function.body) for_each_draw(body, f);
}

/// "native_dropout" of "aten::native_dropout.default".
std::string_view base_of(std::string_view overload) {
    std::size_t const colons = overload.rfind("::");
    std::string_view const name = colons == std::string_view::npos ? overload : overload.substr(colons + 2);
    return name.substr(0, name.find('.'));
}

std::string_view distribution_of(std::string_view op) {
    if (op.starts_with("RandomUniform")) return "uniform";
    if (op.starts_with("RandomNormal")) return "normal";
    return op == "Bernoulli" ? "bernoulli" : "multinomial";
}

/// Replaces the draws of an outermost graph, and of the branches in it, by inputs.
class input_maker {
public:
    explicit input_maker(graph_data& graph) : graph_(graph) {
        for (graph_value const& v : graph.values) taken_.insert(v.name);
    }

    std::vector<random_input> run() {
        replace(graph_, [this](graph_node const& n, value_id value) { add_input(n, value); });
        for (graph_function const& f : graph_.functions)
            for (graph_data const& body : f.body) refuse(body, "the body of the function " + f.name);
        return std::move(made_);
    }

private:
    using supplier = std::function<void(graph_node const&, value_id)>;

    [[noreturn]] static void refuse(graph_node const& n, std::string const& where) {
        throw error(n.subject() + " draws random numbers in " + where + ", which cannot be an input of the model");
    }
    static void refuse(graph_data const& graph, std::string const& where) {
        for_each_draw(graph, [&](graph_node const& n) { refuse(n, where); });
    }

    std::string new_name(graph_node const& n) {
        std::string const base = std::string(base_of(n.subject())) + '_' + std::string(distribution_of(n.op));
        std::string name = base;
        for (int i = 1; !taken_.insert(name).second; ++i) name = base + '_' + std::to_string(i);
        return name;
    }

    void add_input(graph_node const& n, value_id value) {
        graph_.values[value].name = new_name(n);
        graph_.inputs.push_back(value);
        made_.push_back({value, n});
    }

    /// `supply` makes a value of `graph` an input, or what it captures.
    void replace(graph_data& graph, supplier const& supply) {
        std::vector<graph_node> kept;
        kept.reserve(graph.nodes.size());
        for (graph_node& n : graph.nodes) {
            if (draws_random_numbers(n)) {
                if (n.op == "Dropout") refuse(n, "the ONNX operator Dropout");
                graph.values[n.outputs[0]].producer = -1;
                supply(n, n.outputs[0]);
                continue;
            }
            for (node_attribute& a : n.attributes)
                for (graph_data& nested : a.graphs) {
                    if (n.op != "If") {
                        refuse(nested, "the body of a loop");
                        continue;
                    }
                    replace(nested, [&](graph_node const& draw, value_id inner) {
                        value_id const outer = graph.add_value(nested.values[inner].type);
                        nested.values[inner].outer = outer;
                        nested.values[inner].name.clear();
                        supply(draw, outer);
                    });
                }
            kept.push_back(std::move(n));
            for (value_id const id : kept.back().outputs)
                if (id != no_value) graph.values[id].producer = static_cast<std::int64_t>(kept.size()) - 1;
        }
        graph.nodes = std::move(kept);
    }

    graph_data& graph_;
    std::unordered_set<std::string> taken_;
    std::vector<random_input> made_;
};

} // namespace

std::vector<graph_node> find_draws(graph_data const& graph) {
    std::vector<graph_node> out;
    for_each_draw_of_model(graph, [&](graph_node const& n) { out.push_back(n); });
    return out;
}

void seed_draws(graph_data& graph, std::uint32_t seed) {
    constexpr std::uint32_t max_seed = std::uint32_t{1} << 24; // beyond, floats skip integers
    for_each_draw_of_model(graph, [&](graph_node& n) {
        if (seed > max_seed)
            throw error("the seed " + std::to_string(seed) + " exceeds 2^24, up to which ONNX represents seeds");
        std::erase_if(n.attributes, [](node_attribute const& a) { return a.name == "seed"; });
        node_attribute& a = n.attributes.emplace_back();
        a.name = "seed";
        a.type = n.op == "Dropout" ? onnx::attr_type::i : onnx::attr_type::f;
        a.i = n.op == "Dropout" ? seed : 0;
        a.f = n.op == "Dropout" ? 0 : static_cast<float>(seed);
        ++seed;
    });
}

std::vector<random_input> replace_draws_by_inputs(graph_data& graph) { return input_maker(graph).run(); }

} // namespace ATON_NAMESPACE
