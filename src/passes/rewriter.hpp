// SPDX-License-Identifier: MIT
// A graph while passes rewrite it: nodes go by in topological order, rules look at what is before them and replace, change or drop them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/passes/passes.hpp>

namespace ATON_NAMESPACE::passes {

/// One element of a list of sizes: a number, a symbol (index into the table of size_table), or unknown.
struct size_element {
    enum class kind : std::uint8_t { unknown, number, symbol };
    kind what = kind::unknown;
    std::int64_t number = 0; ///< or the index of the symbol
};

class rewriter {
public:
    /// `around`: of a nested graph, the rewriter of the graph around it, which has done its sweeps.
    rewriter(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options,
             rewriter* around = nullptr);

    /// Runs every rule over every node once, in order; whether anything changed. Without weights: what needs none laid out anew.
    bool sweep(bool with_weights);

    // What rules see. Inputs of the current node are final: their producers have been seen.
    graph_data& graph; // NOLINT: the two are what the passes work on
    pass_options const options;

    [[nodiscard]] value_type const& type(value_id id) const { return graph.values[id].type; }
    [[nodiscard]] shape const& shape_of(value_id id) const { return graph.values[id].type.shape; }
    /// A constant in memory, here or in a graph around this one, or null.
    [[nodiscard]] tensor const* constant(value_id id) const;
    /// A weight in a file, or null.
    [[nodiscard]] stored_tensor const* stored(value_id id) const;
    /// The node of the default domain that computes the value, or null.
    [[nodiscard]] graph_node const* producer(value_id id) const;
    [[nodiscard]] graph_node const* producer(value_id id, std::string_view op) const;
    [[nodiscard]] std::uint32_t uses(value_id id) const { return uses_[id]; }
    /// Whether the value is there before all nodes, and is not this graph's to change: an input, or captured.
    [[nodiscard]] bool is_input(value_id id) const { return is_input_[id] != 0; }
    /// Whether the value is there for nodes that follow: it is not the result of a node that has been dropped.
    [[nodiscard]] bool is_alive(value_id id) const;

    // What rules do.
    value_id add_constant(tensor data);
    value_id add_integers(std::vector<std::int64_t> const& numbers);
    value_id add_stored(stored_tensor data, std::string name);
    /// A node before the current one with one result. `first`: before all nodes; its inputs must be graph inputs or of such nodes.
    value_id add_node(graph_node n, value_type type, bool first = false);
    /// A new operator that stands for `like`: the same origin.
    [[nodiscard]] static graph_node make_node(std::string_view op, std::vector<value_id> inputs,
                                              graph_node const& like);
    /// `by` takes the place of `old` everywhere.
    void replace(value_id old, value_id by);
    void set_inputs(graph_node& n, std::vector<value_id> inputs);
    void set_input(graph_node& n, std::size_t i, value_id id);
    void note_change() { changed_ = true; }

    // Weights, in weights.cpp.
    /// Notes how many bytes layout operators make of each weight, before a sweep that may rewrite them.
    void plan_weights(std::vector<graph_node> const& nodes);
    /// Whether writing a weight in another layout does not make the file larger.
    [[nodiscard]] bool may_rewrite(value_id id) const;
    [[nodiscard]] bool is_only_used_here(value_id id) const;
    /// What a weight that is made from this one is called; the only one takes over its name.
    [[nodiscard]] std::string weight_name(value_id id, bool is_only);
    /// A constant, or a small weight that is read for once; null where it is neither.
    [[nodiscard]] tensor const* loaded(value_id id);

    // Sizes, in sizes.cpp.
    /// The elements of a list of at most 32 integers, as far as they are known; null where nothing is.
    [[nodiscard]] std::vector<size_element> const* elements(value_id id);
    /// Notes what the results of a node that stays hold.
    void learn_sizes(graph_node const& n);
    bool simplify_sizes(graph_node& n);

private:
    struct symbol {
        value_id source = no_value; ///< a tensor that has it as dimension `axis`
        std::int64_t axis = 0;
        std::array<value_id, 2> sizes{no_value, no_value}; ///< the size as 0-d and as 1-d int64
    };

    void visit(graph_node&& n);
    bool simplify(graph_node& n);
    bool inline_branch(graph_node& n);
    bool lift_constant(graph_node& n);
    bool fold(graph_node& n);
    bool reuse(graph_node& n);
    void emit(graph_node&& n);
    void finish();
    void drop(value_id id);
    void drop_inputs(graph_node& n);
    void merge_type(value_id into, value_id from);
    void note_uses(graph_node& n);
    void share_captures();
    void share_equal_constants();
    void share_equal_weights();
    [[nodiscard]] value_id resolve(value_id id) const;
    void grow();

    std::size_t intern(std::string_view name);
    void note_symbols(value_id source);
    void set_elements(value_id id, std::vector<size_element> elements);
    bool infer_elements(graph_node const& n, std::vector<size_element>& out);
    value_id size_value(std::size_t symbol_index, std::size_t rank, graph_node const& like);
    bool reuse_size(graph_node& n, size_element const& e);

    std::deque<stored_tensor>& weights_;
    rewriter* around_;
    std::vector<std::uint32_t> uses_; // by nodes, graphs nested in them, and outputs
    std::vector<std::uint8_t> is_input_;
    std::vector<value_id> replaced_;
    std::unordered_multimap<std::size_t, value_id> constants_;
    std::unordered_map<value_id, tensor> loaded_;
    std::size_t names_made_ = 0;
    // Of one sweep:
    std::vector<std::uint64_t> rewritten_; // by value: bytes that layout operators make of a weight
    bool changed_ = false;
    std::vector<std::uint8_t> dead_;  // by node
    std::vector<std::uint8_t> first_; // by node
    std::unordered_map<std::size_t, std::size_t> known_nodes_;
    std::unordered_map<std::string, std::size_t> symbol_index_;
    std::vector<symbol> symbols_;
    std::vector<std::int32_t> element_index_; // by value; -1: not asked for yet, -2: nothing known
    std::deque<std::vector<size_element>> elements_;
};

/// A rule: whether the node is replaced and can go. It may change the node and leave it.
using rule = bool (*)(rewriter&, graph_node&);

// The rules, by what they are about.
bool simplify_casts(rewriter& r, graph_node& n);
bool simplify_arithmetic(rewriter& r, graph_node& n);
bool simplify_where(rewriter& r, graph_node& n);
bool simplify_masked_softmax(rewriter& r, graph_node& n);
bool remove_no_op(rewriter& r, graph_node& n);
bool simplify_view(rewriter& r, graph_node& n);
bool simplify_expand(rewriter& r, graph_node& n);
bool skip_expands(rewriter& r, graph_node& n);
bool simplify_transpose(rewriter& r, graph_node& n);
bool fuse_gemm(rewriter& r, graph_node& n);
bool multiply_stacks(rewriter& r, graph_node& n);
bool rewrite_weight(rewriter& r, graph_node& n);
bool join_weights(rewriter& r, graph_node& n);
bool fold_batch_normalization(rewriter& r, graph_node& n);

/// Whether two shapes are surely the same.
[[nodiscard]] bool same_shape(shape const& a, shape const& b);
/// Whether two tensors with the same number of elements have the same shape: one dimension may be unknown.
[[nodiscard]] bool same_shape_of_same_elements(shape const& a, shape const& b);

/// The second input of a Reshape (allowzero = 0) that gives `to`: 0 copies a dimension, -1 stands for the only one that is left.
[[nodiscard]] std::optional<std::vector<std::int64_t>> reshape_target(shape const& from, shape const& to);

} // namespace ATON_NAMESPACE::passes
