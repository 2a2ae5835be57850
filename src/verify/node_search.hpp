// SPDX-License-Identifier: MIT
// Looks for the first node whose results another graph does not have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/models.hpp>

namespace ATON_NAMESPACE::verify {

/// A result of a node of a graph.
struct graph_result {
    graph_node const* node = nullptr;
    std::string name;
    runtime::tensor data;
};

/// The results of a graph's nodes. A graph that stops has those before.
class graph_results {
public:
    /// Runs it.
    graph_results(runtime::onnx_model const& g, std::span<runtime::value const> inputs);

    /// Whether the graph stopped before all nodes ran.
    [[nodiscard]] bool stopped() const { return stopped_; }
    [[nodiscard]] graph_result const* named(std::string const& name) const;
    /// A result with the same numbers, if these are distinctive; nullptr if there is none.
    [[nodiscard]] graph_result const* like(runtime::tensor const& wanted, std::int64_t terms, dtype rounded) const;
    /// Whether equal numbers are unlikely to be a coincidence: floats that are not all the same.
    [[nodiscard]] static bool is_distinctive(runtime::tensor const& x);

private:
    void add(graph_result r);

    bool stopped_ = false;
    std::vector<graph_result> all_;
    std::map<std::string, std::size_t> by_name_;
    std::map<std::pair<dtype, runtime::sizes>, std::vector<std::size_t>> by_type_;
};

/// What is known of a node.
struct judged_node {
    std::vector<std::size_t> producers; ///< of its operands, as indices of nodes
    node_verdict is = node_verdict::unknown;
    bool needed = false;        ///< for the output that differs
    bool leads_to_same = false; ///< a result computed from it is the same
    graph_result const* namesake = nullptr;
    std::string value;     ///< the name of the result that differs, or of the first
    bool is_first = false; ///< the first divergence
    bool has_nan = false;  ///< in a result
    double error = 0;      ///< of all results that were found
    std::string why;
};

/// Compares the results of the nodes of one side, in their order, with those of a graph.
class node_search {
public:
    node_search(graph_results const& graph, std::int64_t terms) : graph_(graph), terms_(terms) {}

    /// Adds a node. `operands` and judge() name values by any numbers.
    void add(std::span<std::size_t const> operands);
    /// Compares a result of the node that was added last.
    void judge(std::size_t value, std::string const& name, runtime::tensor const& expected, dtype rounded);
    /// Notes a result that is not compared.
    void skip(std::size_t value) { producers_[value] = nodes_.size() - 1; }

    /// The first node that differs, of those that these values depend on. Fused nodes have no counterpart, so that it is also one of which
    /// nothing is found, nor of anything computed from it: if no namesake differs or, where `names_may_differ`, if most have none.
    [[nodiscard]] std::optional<std::size_t> first(std::span<std::size_t const> values, bool names_may_differ = false);
    /// After first(): the first of those nodes whose numbers are others at all, even within the tolerance.
    [[nodiscard]] std::optional<std::size_t> first_inexact() const;
    /// The nearest nodes with the same results on every path back from a node.
    [[nodiscard]] std::vector<std::size_t> same_before(std::size_t node) const;
    [[nodiscard]] std::vector<judged_node> const& nodes() const { return nodes_; }
    [[nodiscard]] judged_node& last() { return nodes_.back(); }

private:
    void mark_needed(std::span<std::size_t const> values);
    void mark_leading();

    graph_results const& graph_;
    std::int64_t terms_;
    std::vector<judged_node> nodes_;
    std::map<std::size_t, std::size_t> producers_; ///< of values
};

} // namespace ATON_NAMESPACE::verify
