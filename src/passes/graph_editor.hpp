// SPDX-License-Identifier: MIT
// A graph whose nodes are written anew, one after the other: replaces values, and keeps uses, names, types and producers consistent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Whether an operator is one of ONNX's default domain.
[[nodiscard]] bool is_default_domain(graph_node const& n);

/// Completes a type with another one of the same value.
void merge(value_type& to, value_type const& more);

class graph_editor {
public:
    explicit graph_editor(graph_data& graph);

    [[nodiscard]] graph_data& graph() { return graph_; }
    [[nodiscard]] graph_data const& graph() const { return graph_; }
    [[nodiscard]] value_type const& type(value_id id) const { return graph_.values[id].type; }
    [[nodiscard]] shape const& shape_of(value_id id) const { return graph_.values[id].type.shape; }
    /// The node of the default domain that computes the value, or null. It has been visited.
    [[nodiscard]] graph_node const* producer(value_id id) const;
    [[nodiscard]] graph_node const* producer(value_id id, std::string_view op) const;
    /// By nodes, their nested graphs, and outputs.
    [[nodiscard]] std::uint32_t uses(value_id id) const { return uses_[id]; }
    /// Whether the value is an input or captured, so that it exists before all nodes and cannot be changed.
    [[nodiscard]] bool is_input(value_id id) const { return is_input_[id] != 0; }
    /// Whether following nodes can use the value: it is not the result of a dropped node.
    [[nodiscard]] bool is_alive(value_id id) const;
    /// What has replaced the value.
    [[nodiscard]] value_id resolve(value_id id) const;
    /// The number of changes so far.
    [[nodiscard]] std::size_t changes() const { return changes_; }
    void note_change() { ++changes_; }

    /// Replaces `old` by `by` everywhere.
    void replace(value_id old, value_id by);
    /// Replaces `old` by `by` in following nodes and in the outputs of the graph: in all but `kept` of its uses.
    void replace_from_here(value_id old, value_id by, std::uint32_t kept);
    /// More about the shape of a value: following sweeps may use it.
    void set_shape(value_id id, shape s);
    void set_inputs(graph_node& n, std::vector<value_id> inputs);
    void set_input(graph_node& n, std::size_t i, value_id id);

    /// Counts the uses of a node that is new in the graph; makes room for values that the graph has got.
    void count_uses(graph_node& n);
    void grow();
    void mark_input(value_id id) { is_input_[id] = 1; }
    void mark_used(value_id id) { ++uses_[id]; }

    /// Takes the nodes out of the graph, for the caller to visit them in order, and to pass each to drop_node() or append().
    [[nodiscard]] std::vector<graph_node> take_nodes();
    /// Appends a node. `first`: it belongs before all others; its inputs must be graph inputs or results of such nodes.
    void append(graph_node&& n, bool first);
    [[nodiscard]] bool is_first(std::size_t node) const { return first_[node] != 0; }
    [[nodiscard]] bool is_dropped(std::size_t node) const { return dead_[node] != 0; }
    void drop_node(graph_node& n);
    /// Moves nodes marked as first to the front, removes dropped ones, and renumbers producers and outputs.
    void put_in_order();

private:
    void drop(value_id id);
    void merge_type(value_id into, value_id from);

    graph_data& graph_;
    std::vector<std::uint32_t> uses_;
    std::vector<std::uint8_t> is_input_;
    std::vector<value_id> replaced_;
    std::size_t changes_ = 0;
    std::vector<std::uint8_t> dead_;  // by node
    std::vector<std::uint8_t> first_; // by node
};

/// A new node with the origin of `like`.
[[nodiscard]] graph_node make_node(std::string_view op, std::vector<value_id> inputs, graph_node const& like);

} // namespace ATON_NAMESPACE::passes
