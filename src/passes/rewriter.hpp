// SPDX-License-Identifier: MIT
// What the rules of a sweep know of a graph, and how they change it: they inspect preceding nodes and replace, change or drop a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/passes/passes.hpp>

#include "graph_editor.hpp"
#include "index_forms.hpp"
#include "reuse.hpp"
#include "size_lists.hpp"
#include "weight_plan.hpp"

namespace ATON_NAMESPACE::passes {

class rewrite_index;

/// The maximum size of what is computed on weights, of each tensor and of all results.
inline constexpr std::int64_t max_computed_bytes = std::int64_t{1} << 29;

/// Nodes that take the place of one, to be visited next.
struct expansion {
    std::vector<graph_node> nodes;
    int depth = 0;                 ///< of replacements that were replaced in turn
    std::string_view rewrite = {}; ///< the name of the rewrite that made them
};

/// The inputs of the node that a rule gets are final: their producers have been visited.
class rewriter : public graph_editor {
public:
    /// `outer`: for a nested graph, the rewriter of the outer graph, which has completed its sweeps.
    rewriter(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options,
             rewrite_index const& rewrites, rewriter* outer = nullptr);

    /// Takes the nodes for a sweep over them. `with_weights`: rules may rewrite weights.
    [[nodiscard]] std::vector<graph_node> begin_sweep(bool with_weights);
    /// Whether this sweep is the first, in which rewrites see formulas as they were written.
    [[nodiscard]] bool is_first_sweep() const { return !with_weights_; }

    [[nodiscard]] pass_options const& options() const { return options_; }
    [[nodiscard]] rewrite_index const& rewrites() const { return rewrites_; }
    /// Of the outer graph; null if there is none.
    [[nodiscard]] rewriter* outer() const { return outer_; }
    [[nodiscard]] size_lists& sizes() { return sizes_; }
    [[nodiscard]] index_forms& forms() { return forms_; }
    [[nodiscard]] weight_plan& weights() { return weight_plan_; }
    [[nodiscard]] known_nodes& known() { return known_nodes_; }

    /// A constant in memory, of this or an outer graph, or null.
    [[nodiscard]] tensor const* constant(value_id id) const;
    /// A weight in a file, or null.
    [[nodiscard]] stored_tensor const* stored(value_id id) const;
    /// Either of them.
    [[nodiscard]] bool is_constant(value_id id) const { return constant(id) != nullptr || stored(id) != nullptr; }
    /// Whether a result may depend on the signs of zeros in the value (zero_signs.hpp). True for values that this sweep has made.
    [[nodiscard]] bool zero_sign_matters(value_id id) const { return id >= zero_signs_.size() || zero_signs_[id] != 0; }
    /// Whether so many bytes may still be computed on weights; they are then taken from the limit of all.
    [[nodiscard]] bool may_compute(std::uint64_t bytes);

    /// The constant that equals `data` (large ones are not compared), or else `as`, which becomes one; no_value: a new value.
    value_id add_constant(tensor data, value_id as = no_value);
    value_id add_integers(std::vector<std::int64_t> const& numbers);
    value_id add_stored(stored_tensor data, std::string name);
    /// Adds a node with one result before the current node. `first`: before all nodes; its inputs must be graph inputs or results of such
    /// nodes.
    value_id add_node(graph_node n, value_type type, bool first = false);
    /// Records what is known of the results of a node that is kept.
    void record(graph_node const& n);

    /// Puts nodes in the place of the current one; the rule that calls this returns true. Their uses are counted.
    void expand(expansion e) { expansion_ = std::move(e); }
    [[nodiscard]] expansion const& pending() const { return expansion_; }
    [[nodiscard]] expansion take_expansion() { return std::exchange(expansion_, {}); }
    [[nodiscard]] int rewrite_depth() const { return rewrite_depth_; }
    /// Returns the one before.
    int set_rewrite_depth(int depth) { return std::exchange(rewrite_depth_, depth); }

private:
    void share_captures();

    // In constants.cpp.
    [[nodiscard]] value_id find_constant(tensor const& data, std::size_t hash) const;
    void share_equal_constants();
    void share_equal_weights();

    pass_options const options_;
    std::deque<stored_tensor>& weights_;
    rewrite_index const& rewrites_;
    rewriter* outer_;
    size_lists sizes_;
    index_forms forms_; // integer tensors that are linear functions of their coordinates
    weight_plan weight_plan_;
    known_nodes known_nodes_;
    std::unordered_multimap<std::size_t, value_id> constants_;
    std::uint64_t computable_bytes_ = max_computed_bytes;
    expansion expansion_;
    int rewrite_depth_ = 0;
    bool with_weights_ = false;
    std::vector<std::uint8_t> zero_signs_; // by value: whether they matter
};

/// Runs every rule on every node once, in order. Returns whether anything changed. `with_weights`: includes rules that rewrite weights.
bool sweep(rewriter& r, bool with_weights);

/// A rule. Returns whether the node was replaced and can be removed; it may also change the node and keep it.
using rule = bool (*)(rewriter&, graph_node&);

/// A rule with its name.
struct node_pass {
    std::string_view name;
    std::string_view does;
    rule run;
};

/// All rules: those of rules_of(), and those of sweep.cpp.
[[nodiscard]] std::span<node_pass const> node_passes();

/// The rules of an operator, in order; null if there are none. Those of sweep.cpp apply to all operators.
[[nodiscard]] std::vector<rule> const* rules_of(std::string_view op);

// The rules by subject.
/// Replaces an If with a constant condition by the nodes of its branch.
bool inline_branch(rewriter& r, graph_node& n);
/// Turns a Constant node into an initializer, or replaces it by an equal one.
bool lift_constant(rewriter& r, graph_node& n);
bool fold_constants(rewriter& r, graph_node& n);
bool simplify_sizes(rewriter& r, graph_node& n);
/// Applies the rewrites of tables.
bool apply_rewrites(rewriter& r, graph_node& n);
bool merge_equal_nodes(rewriter& r, graph_node& n);
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
