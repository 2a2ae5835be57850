// SPDX-License-Identifier: MIT
// Rewrites a graph: visits nodes in topological order, and applies rules that inspect preceding nodes and replace, change or drop a node.
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

#include "index_forms.hpp"

namespace ATON_NAMESPACE::passes {

class rewrite_index;

/// The maximum size of what is computed on weights, of each tensor and of all results.
inline constexpr std::int64_t max_computed_bytes = std::int64_t{1} << 29;

/// One element of a list of sizes: a number, a symbol (index into the table of size_table), or unknown.
struct size_element {
    enum class kind : std::uint8_t { unknown, number, symbol };
    kind what = kind::unknown;
    std::int64_t number = 0; ///< or the index of the symbol
};

class rewriter {
public:
    /// `outer`: for a nested graph, the rewriter of the outer graph, which has completed its sweeps.
    rewriter(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options,
             rewrite_index const& rewrites, rewriter* outer = nullptr);

    /// Runs every rule on every node once, in order. Returns whether anything changed. `with_weights`: includes rules that rewrite weights.
    bool sweep(bool with_weights);

    /// Whether this sweep is the first, in which rewrites see formulas as they were written.
    [[nodiscard]] bool is_first_sweep() const { return !with_weights_; }

    // Queries for rules. The inputs of the current node are final: their producers have been visited.
    graph_data& graph; // NOLINT: the two are what the passes work on
    pass_options const options;

    [[nodiscard]] value_type const& type(value_id id) const { return graph.values[id].type; }
    [[nodiscard]] shape const& shape_of(value_id id) const { return graph.values[id].type.shape; }
    /// A constant in memory, of this or an outer graph, or null.
    [[nodiscard]] tensor const* constant(value_id id) const;
    /// A weight in a file, or null.
    [[nodiscard]] stored_tensor const* stored(value_id id) const;
    /// Either of them.
    [[nodiscard]] bool is_constant(value_id id) const { return constant(id) != nullptr || stored(id) != nullptr; }
    /// The node of the default domain that computes the value, or null.
    [[nodiscard]] graph_node const* producer(value_id id) const;
    [[nodiscard]] graph_node const* producer(value_id id, std::string_view op) const;
    [[nodiscard]] std::uint32_t uses(value_id id) const { return uses_[id]; }
    /// Whether the value is an input or captured, so that it exists before all nodes and cannot be changed.
    [[nodiscard]] bool is_input(value_id id) const { return is_input_[id] != 0; }
    /// Whether a result may depend on the signs of zeros in the value (zero_signs.hpp). True for values that this sweep has made.
    [[nodiscard]] bool zero_sign_matters(value_id id) const { return id >= zero_signs_.size() || zero_signs_[id] != 0; }
    /// Whether following nodes can use the value: it is not the result of a dropped node.
    [[nodiscard]] bool is_alive(value_id id) const;

    // Changes by rules.
    /// The constant that equals `data` (large ones are not compared), or else `as`, which becomes one; no_value: a new value.
    value_id add_constant(tensor data, value_id as = no_value);
    value_id add_integers(std::vector<std::int64_t> const& numbers);
    value_id add_stored(stored_tensor data, std::string name);
    /// Adds a node with one result before the current node. `first`: before all nodes; its inputs must be graph inputs or results of such
    /// nodes.
    value_id add_node(graph_node n, value_type type, bool first = false);
    /// A new node with the origin of `like`.
    [[nodiscard]] static graph_node make_node(std::string_view op, std::vector<value_id> inputs,
                                              graph_node const& like);
    /// Replaces `old` by `by` everywhere.
    void replace(value_id old, value_id by);
    /// More about the shape of a value: following sweeps may use it.
    void set_shape(value_id id, shape s);
    void set_inputs(graph_node& n, std::vector<value_id> inputs);
    void set_input(graph_node& n, std::size_t i, value_id id);

    // Weights, in weights.cpp.
    /// Computes the bytes that layout operators would write of each weight, before a sweep that may rewrite them.
    void plan_weights(std::vector<graph_node> const& nodes);
    /// Whether rewriting a weight does not make the file larger.
    [[nodiscard]] bool may_rewrite(value_id id) const;
    [[nodiscard]] bool is_only_used_here(value_id id) const;
    /// The name of a weight derived from this one; if it is the only one, it takes over the name.
    [[nodiscard]] std::string weight_name(value_id id, bool is_only);
    /// A constant, or a small weight, which is read once; otherwise null.
    [[nodiscard]] tensor const* loaded(value_id id);

    // Sizes, in sizes.cpp.
    /// The elements of a list of at most 32 integers, as far as they are known; null if none is.
    [[nodiscard]] std::vector<size_element> const* elements(value_id id);
    /// Records the elements of the results of a node that is kept.
    void record_sizes(graph_node const& n);
    bool simplify_sizes(graph_node& n);
    /// The index of a symbolic size; nothing for other dimensions.
    [[nodiscard]] std::optional<std::size_t> symbol_of(dim const& d);
    [[nodiscard]] std::size_t symbol_of(std::string_view name) { return intern(name); }
    [[nodiscard]] std::string_view symbol_name(std::size_t symbol_index) const { return symbols_[symbol_index].name; }
    /// A node's result that is this size, as a tensor of rank 0 or 1, computed after its source; for the size of a graph input, before
    /// all nodes. no_value if no tensor that has it is alive.
    [[nodiscard]] value_id size_value(std::size_t symbol_index, std::size_t rank, graph_node const& like);
    /// The sizes of a shape as a list; a constant if all are numbers, no_value if one cannot be computed.
    [[nodiscard]] value_id shape_value(std::vector<dim> const& dims, graph_node const& like);

    index_forms forms; // NOLINT: integer tensors that are linear functions of their coordinates

private:
    struct symbol {
        std::string name;
        value_id source = no_value; ///< a tensor that has it as dimension `axis`
        std::int64_t axis = 0;
        std::array<value_id, 2> sizes{no_value, no_value}; ///< the size as 0-d and as 1-d int64
    };

    void visit(graph_node&& n);
    bool simplify(graph_node& n);
    bool reuse(graph_node& n);
    void emit(graph_node&& n);
    void finish();
    void drop(value_id id);
    void drop_inputs(graph_node& n);
    void merge_type(value_id into, value_id from);
    void complete_types(graph_node const& n);
    void count_uses(graph_node& n);
    void share_captures();
    [[nodiscard]] value_id resolve(value_id id) const;
    void grow();

    // In constants.cpp.
    [[nodiscard]] value_id find_constant(tensor const& data, std::size_t hash) const;
    void share_equal_constants();
    void share_equal_weights();

    // In fold.cpp. Whether the node was replaced.
    bool inline_branch(graph_node& n);
    bool lift_constant(graph_node& n);
    bool fold(graph_node& n);
    bool is_worth_computing(graph_node const& n);

    // In rewrites.cpp. Whether the node was replaced.
    bool apply_rewrites(graph_node& n);

    // In sizes.cpp.
    std::size_t intern(std::string_view name);
    void record_symbols(value_id source);
    void set_elements(value_id id, std::vector<size_element> elements);
    /// The elements of a list of sizes; nothing if they are not known.
    using size_list = std::optional<std::vector<size_element>>;
    size_list infer_elements(graph_node const& n);
    size_list shape_elements(graph_node const& n);
    size_list concat_elements(graph_node const& n);
    [[nodiscard]] size_list gather_elements(graph_node const& n, std::vector<size_element> const& from) const;
    [[nodiscard]] size_list slice_elements(graph_node const& n, std::vector<size_element> const& from) const;
    bool reuse_size(graph_node& n, size_element const& e);
    [[nodiscard]] value_id tensor_of_sizes(std::vector<size_element> const& list) const;

    std::deque<stored_tensor>& weights_;
    rewrite_index const& rewrites_;
    int rewrite_depth_ = 0;
    rewriter* outer_;
    std::vector<std::uint32_t> uses_; // by nodes, their nested graphs, and outputs
    std::vector<std::uint8_t> is_input_;
    std::vector<value_id> replaced_;
    std::unordered_multimap<std::size_t, value_id> constants_;
    std::unordered_map<value_id, tensor> loaded_;
    std::size_t generated_names_ = 0;
    std::uint64_t computable_bytes_ = max_computed_bytes;
    // State of one sweep:
    std::vector<std::uint64_t> rewritten_; // by value: bytes that layout operators would write of a weight
    bool changed_ = false;
    bool with_weights_ = false;
    std::vector<std::uint8_t> zero_signs_; // by value: whether they matter
    std::vector<std::uint8_t> dead_;       // by node
    std::vector<std::uint8_t> first_;      // by node
    std::unordered_map<std::size_t, std::size_t> known_nodes_;
    std::unordered_map<std::string, std::size_t> symbol_index_;
    std::vector<symbol> symbols_;
    std::vector<std::int32_t> element_index_; // by value; -1: not computed yet, -2: unknown
    std::deque<std::vector<size_element>> elements_;
};

/// A rule. Returns whether the node was replaced and can be removed; it may also change the node and keep it.
using rule = bool (*)(rewriter&, graph_node&);

/// The rules of an operator, in order; null if there are none. Folding, sizes and reuse apply to all operators.
[[nodiscard]] std::vector<rule> const* rules_of(std::string_view op);

// The rules by subject.
bool simplify_casts(rewriter& r, graph_node& n);
bool simplify_arithmetic(rewriter& r, graph_node& n);
bool simplify_where(rewriter& r, graph_node& n);
bool simplify_masked_softmax(rewriter& r, graph_node& n);
bool remove_no_op(rewriter& r, graph_node& n);
bool simplify_view(rewriter& r, graph_node& n);
bool simplify_expand(rewriter& r, graph_node& n);
bool skip_expands(rewriter& r, graph_node& n);
bool delay_expands(rewriter& r, graph_node& n);
/// Before an operator that broadcasts, leaves one element of shape [1] as it is.
bool skip_squeezes(rewriter& r, graph_node& n);
/// Computes with shape [1], and makes the result 0-d.
bool delay_squeeze(rewriter& r, graph_node& n);
bool simplify_indices(rewriter& r, graph_node& n);
bool simplify_gather(rewriter& r, graph_node& n);
bool simplify_attention_mask(rewriter& r, graph_node& n);
bool raise_attention_mask(rewriter& r, graph_node& n);
bool simplify_transpose(rewriter& r, graph_node& n);
bool fuse_gemm(rewriter& r, graph_node& n);
bool multiply_stacks(rewriter& r, graph_node& n);
bool rewrite_weight(rewriter& r, graph_node& n);
bool join_weights(rewriter& r, graph_node& n);
bool fold_batch_normalization(rewriter& r, graph_node& n);
bool move_pads_into_convolution(rewriter& r, graph_node& n);

/// Whether every line of a mask along its last axis has an element that is true, unless the axis is empty.
[[nodiscard]] bool shows_in_every_line(rewriter& r, value_id mask);
/// Whether two shapes are known to be equal.
[[nodiscard]] bool same_shape(shape const& a, shape const& b);
/// Whether two tensors with equal numbers of elements have the same shape; one dimension may be unknown.
[[nodiscard]] bool same_shape_of_same_elements(shape const& a, shape const& b);

/// The target of a Reshape (allowzero = 0) to the shape `to`: 0 copies a dimension, -1 infers the only remaining one.
[[nodiscard]] std::optional<std::vector<std::int64_t>> reshape_target(shape const& from, shape const& to);

} // namespace ATON_NAMESPACE::passes
