// SPDX-License-Identifier: MIT
// Matches the results of a program's nodes with those of a graph's nodes.
#include "divergence.hpp"

#include <string>
#include <utility>
#include <vector>

#include <aton/runtime/compute.hpp>
#include <aton/verify/translation.hpp>

#include "node_search.hpp"

namespace ATON_NAMESPACE::verify {

namespace {

using program::value_index;
using runtime::tensor;
using runtime::value;

bool contains_nan(tensor const& x) {
    if (x.count() == 0) return false;
    return runtime::to_host(runtime::reduce(runtime::reduce_op::any, runtime::isnan(x), runtime::all_axes(x)))
        .item()
        .to<bool>();
}

std::vector<std::size_t> values_of(std::span<program::argument const> arguments) {
    std::vector<std::size_t> out;
    for (program::argument const& a : arguments) program::for_each_value(a, [&](value_index v) { out.push_back(v); });
    return out;
}

class divergence_search {
public:
    /// `finds_first`: first() will be called.
    divergence_search(runtime::aten_program const& p, graph_results const& graph, std::span<dtype const> narrowest,
                      std::int64_t terms, bool finds_first)
        : p_(p.functional()),
          narrowest_(narrowest),
          finds_first_(finds_first),
          search_(graph, terms) {}

    void record(program::node const& n, std::span<value const> results) {
        nodes_.push_back(&n);
        search_.add(values_of(n.arguments));
        std::size_t i = 0;
        for (value_index const v : result_values(n)) {
            value const& given = i < results.size() ? results[i] : value();
            ++i;
            if (v == program::no_value) continue;
            if (finds_first_ && given.is_tensor() && is_floating(given.one().dtype()))
                search_.last().has_nan = search_.last().has_nan || contains_nan(given.one());
            if (given.is_tensor()) search_.judge(v, p_.values[v].name, in_reals(given.one()), narrowest_[v]);
            else search_.skip(v);
        }
    }

    /// Of the nodes that an output depends on.
    [[nodiscard]] divergence first(std::size_t output) {
        divergence out;
        std::vector<std::size_t> const values = values_of({&p_.main.outputs.at(output), 1});
        auto const found = search_.first(values);
        if (!found) return out;
        judged_node const& wrong = search_.nodes()[*found];
        out.node = program::describe(p_, *nodes_[*found]);
        if (wrong.namesake != nullptr)
            out.graph_node = wrong.namesake->node->op + " (value " + wrong.namesake->name + ')';
        out.why = wrong.why;
        for (std::size_t const producer : wrong.producers)
            out.reads_nan = out.reads_nan || search_.nodes()[producer].has_nan;
        for (std::size_t const i : search_.same_before(*found)) out.same_before.push_back(nodes_[i]->name);
        return out;
    }

    [[nodiscard]] std::vector<node_report> reports() const {
        std::vector<node_report> out;
        for (std::size_t i = 0; i != nodes_.size(); ++i) {
            judged_node const& n = search_.nodes()[i];
            out.push_back({nodes_[i]->name, n.is, n.error, n.is == node_verdict::different ? n.why : "", n.is_first});
        }
        return out;
    }

private:
    program::program const& p_;
    std::span<dtype const> narrowest_;
    bool finds_first_;
    node_search search_;
    std::vector<program::node const*> nodes_;
};

} // namespace

compared_nodes compare_nodes(runtime::aten_program const& p, std::span<value const> inputs,
                             runtime::onnx_model const& g, std::span<value const> graph_inputs,
                             std::optional<std::size_t> output, std::span<dtype const> narrowest, std::int64_t terms) {
    graph_results const graph(g, graph_inputs);
    divergence_search all(p, graph, narrowest, terms, output.has_value());
    (void)p.run(inputs, [&](program::node const& n, std::span<value const> results) { all.record(n, results); });
    compared_nodes out;
    if (output) out.first = all.first(*output);
    out.nodes = all.reports();
    return out;
}

} // namespace ATON_NAMESPACE::verify
