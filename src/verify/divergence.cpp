// SPDX-License-Identifier: MIT
// Matches the results of a program's nodes with those of a graph's nodes.
#include "divergence.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/runtime/compute.hpp>
#include <aton/verify/comparison.hpp>
#include <aton/verify/translation.hpp>

namespace ATON_NAMESPACE::verify {

namespace {

using program::value_index;
using runtime::tensor;
using runtime::value;

/// A result of a node of the graph.
struct graph_result {
    graph_node const* node = nullptr;
    std::string name;
    tensor data;
};

class graph_results {
public:
    graph_results(runtime::onnx_model const& g, std::span<value const> inputs) {
        try {
            (void)g.run(inputs, [&](graph_node const& n, std::span<value const> given) {
                for (std::size_t i = 0; i != given.size(); ++i)
                    if (n.outputs[i] != no_value && given[i].is_tensor())
                        add({&n, g.graph().values[n.outputs[i]].name, given[i].one()});
            });
        } catch (error const&) {
            stopped_ = true; // keep the results so far
        }
    }

    /// Whether the graph stopped before all nodes ran.
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] graph_result const* named(std::string const& name) const {
        auto const found = by_name_.find(name);
        return found == by_name_.end() ? nullptr : &all_[found->second];
    }

    /// A result with the same numbers, if these are distinctive; nullptr if there is none.
    [[nodiscard]] graph_result const* like(tensor const& wanted, std::int64_t terms, dtype rounded) const {
        auto const found = by_type_.find({wanted.dtype(), wanted.sizes()});
        if (found == by_type_.end() || !is_distinctive(wanted)) return nullptr;
        for (std::size_t const i : found->second)
            if (compare(all_[i].data, wanted, terms, rounded).same()) return &all_[i];
        return nullptr;
    }

    /// Whether equal numbers are unlikely to be a coincidence: floats that are not all the same.
    [[nodiscard]] static bool is_distinctive(tensor const& x) {
        if (!is_floating(x.dtype()) || x.count() < 4) return false;
        tensor const first = x.reshaped({x.count()}).sliced(0, 0, 1, 1);
        return !compare(first.expanded({x.count()}), x.reshaped({x.count()})).same();
    }

private:
    void add(graph_result r) {
        if (!r.name.empty()) by_name_.emplace(r.name, all_.size());
        by_type_[{r.data.dtype(), r.data.sizes()}].push_back(all_.size());
        all_.push_back(std::move(r));
    }

    bool stopped_ = false;
    std::vector<graph_result> all_;
    std::map<std::string, std::size_t> by_name_;
    std::map<std::pair<dtype, runtime::sizes>, std::vector<std::size_t>> by_type_;
};

using verdict = node_verdict;

bool contains_nan(tensor const& x) {
    if (x.count() == 0) return false;
    return runtime::to_host(runtime::reduce(runtime::reduce_op::any, runtime::isnan(x), runtime::all_axes(x)))
        .item()
        .to<bool>();
}

struct judged_node {
    program::node const* node = nullptr;
    verdict is = verdict::unknown;
    bool needed = false;        ///< for the output that differs
    bool leads_to_same = false; ///< a result computed from it is the same
    graph_result const* namesake = nullptr;
    bool is_first = false; ///< the first divergence
    bool has_nan = false;  ///< in a result of the program
    double error = 0;      ///< of all results that were found
    std::string why;
};

class divergence_search {
public:
    /// `finds_first`: first() will be called.
    divergence_search(runtime::aten_program const& p, graph_results const& graph, std::span<dtype const> narrowest,
                      std::int64_t terms, bool finds_first)
        : p_(p.functional()),
          graph_(graph),
          narrowest_(narrowest),
          terms_(terms),
          finds_first_(finds_first) {}

    void record(program::node const& n, std::span<value const> results) {
        judged_node& to = nodes_.emplace_back();
        to.node = &n;
        std::size_t i = 0;
        for (value_index const v : result_values(n)) {
            value const& given = i < results.size() ? results[i] : value();
            ++i;
            if (v == program::no_value) continue;
            producers_[v] = nodes_.size() - 1;
            if (finds_first_ && given.is_tensor() && is_floating(given.one().dtype()))
                to.has_nan = to.has_nan || contains_nan(given.one());
            if (given.is_tensor()) judge(to, v, in_reals(given.one()));
        }
    }

    /// Of the nodes that an output depends on.
    [[nodiscard]] divergence first(std::size_t output) {
        mark_needed(p_.main.outputs.at(output));
        mark_leading();
        judged_node* wrong = nullptr;
        for (judged_node& n : nodes_) {
            if (!n.needed) continue;
            if (n.is == verdict::different) {
                wrong = &n;
                break;
            }
            if (wrong == nullptr && n.is == verdict::unknown && !n.leads_to_same) wrong = &n;
        }
        divergence out;
        if (wrong == nullptr) return out;
        wrong->is_first = true;
        out.node = program::describe(p_, *wrong->node);
        if (wrong->namesake != nullptr)
            out.graph_node = wrong->namesake->node->op + " (value " + wrong->namesake->name + ')';
        out.why = wrong->why.empty() && graph_.stopped() ? "the graph stops before it" : wrong->why;
        for (std::size_t const producer : producers_of(wrong->node->arguments))
            out.reads_nan = out.reads_nan || nodes_[producer].has_nan;
        for (judged_node const* n : same_before(*wrong)) out.same_before.push_back(n->node->name);
        return out;
    }

    [[nodiscard]] std::vector<node_report> reports() const {
        std::vector<node_report> out;
        for (judged_node const& n : nodes_)
            out.push_back({n.node->name, n.is, n.error, n.is == node_verdict::different ? n.why : "", n.is_first});
        return out;
    }

private:
    void judge(judged_node& to, value_index v, tensor const& expected) {
        graph_result const* const namesake = graph_.named(p_.values[v].name);
        graph_result const* other = namesake;
        if (other == nullptr && to.is == verdict::unknown) other = graph_.like(expected, terms_, narrowest_[v]);
        if (other != nullptr) {
            comparison const c = compare(other->data, expected, terms_, narrowest_[v]);
            to.error = std::max(to.error, c.error);
            if (namesake == nullptr) {
                to.is = verdict::same;
            } else if (to.is != verdict::different) {
                to.is = c.same() ? verdict::same : verdict::different;
                to.namesake = namesake;
                to.why = to_string(c);
            }
        }
        if (to.is == verdict::same && !graph_results::is_distinctive(expected) && namesake == nullptr)
            to.is = verdict::unknown;
    }

    [[nodiscard]] std::vector<std::size_t> producers_of(std::vector<program::argument> const& arguments) const {
        std::vector<std::size_t> out;
        for (program::argument const& a : arguments)
            program::for_each_value(a, [&](value_index v) {
                if (auto const found = producers_.find(v); found != producers_.end()) out.push_back(found->second);
            });
        return out;
    }

    void mark_needed(program::argument const& output) {
        for (std::size_t const producer : producers_of({output})) nodes_[producer].needed = true;
        for (std::size_t i = nodes_.size(); i-- != 0;)
            if (nodes_[i].needed)
                for (std::size_t const producer : producers_of(nodes_[i].node->arguments))
                    nodes_[producer].needed = true;
    }

    void mark_leading() {
        for (std::size_t i = nodes_.size(); i-- != 0;)
            if (nodes_[i].needed && (nodes_[i].is == verdict::same || nodes_[i].leads_to_same))
                for (std::size_t const producer : producers_of(nodes_[i].node->arguments))
                    nodes_[producer].leads_to_same = true;
    }

    /// The nearest nodes with the same results on every path back from a node.
    [[nodiscard]] std::vector<judged_node const*> same_before(judged_node const& n) const {
        std::vector<bool> seen(nodes_.size());
        std::vector<std::size_t> todo = producers_of(n.node->arguments);
        std::vector<std::size_t> found;
        while (!todo.empty()) {
            std::size_t const i = todo.back();
            todo.pop_back();
            if (seen[i]) continue;
            seen[i] = true;
            if (nodes_[i].is == verdict::same) {
                found.push_back(i);
                continue;
            }
            for (std::size_t const producer : producers_of(nodes_[i].node->arguments)) todo.push_back(producer);
        }
        std::sort(found.begin(), found.end());
        std::vector<judged_node const*> out;
        for (std::size_t const i : found) out.push_back(&nodes_[i]);
        return out;
    }

    program::program const& p_;
    graph_results const& graph_;
    std::span<dtype const> narrowest_;
    std::int64_t terms_;
    bool finds_first_;
    std::vector<judged_node> nodes_;
    std::map<value_index, std::size_t> producers_;
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
