// SPDX-License-Identifier: MIT
// Passes over an ONNX graph, which make it smaller without changing its results.
// Public header.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/core/stored_tensor.hpp>
#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/pattern.hpp>
#include <aton/onnx/integer_kernels.hpp>
#include <aton/passes/pass_trace.hpp>

namespace ATON_NAMESPACE {

/// What the passes may do.
struct pass_options {
    /// Whether weights may be rewritten (transposed, multiplied, sliced, concatenated). Otherwise those nodes stay.
    bool rewrite_weights = true;
    /// Rewrites to apply to the graph and its nested graphs; see dsl/rewrite.hpp. Of several that match a node, the first one is applied.
    std::span<rewrite_entry const> rewrites = {};
    /// Whether to write around known faults of ONNX Runtime: missing kernels, pools of padded images, and masks that add the lowest number to a whole row.
    bool avoid_runtime_faults = true;
    /// Observes and limits the passes; null: nothing does. It must outlive the call.
    pass_trace* trace = nullptr;
    /// Whether integer weights stay integers: no reals are computed of them, and where arithmetic only dequantizes them, it becomes a
    /// Dequantize node (ir/quantized.hpp).
    bool keeps_integers = false;
};

/// Optimizes a graph, its nested graphs and the bodies of its functions: turns constants into initializers, folds constants, removes unused
/// nodes and no-ops, eliminates common subexpressions, fuses BatchNormalization into the preceding Conv, shortens sorts of which only the first elements are used, replaces an If with a constant
/// condition by its branch, and computes in a wider dtype what ONNX Runtime has no kernel for, as widen_dtypes() with hidden_floats(); applies `options.rewrites`. Names, types and order of the graph's inputs and outputs do not change. An output may become an input, an
/// initializer or another output, and in a nested graph a captured value; the writer adds an Identity there. New weights are added to
/// `weights`, which must outlive the graph.
void optimize(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options = {});

/// The elements of a value that nodes of the graph compute from constants alone; nothing for other values, large ones, and those of
/// operators that the passes do not fold. The graph may be under construction. Throws only if memory runs out.
[[nodiscard]] std::optional<tensor> constant_of(graph_data const& graph, value_id id);

/// float16 and bfloat16, if no input, output or initializer of the graph has them. Throws only if memory runs out.
[[nodiscard]] type_set hidden_floats(graph_data const& graph);

/// Computes nodes for which ONNX Runtime's CPU provider has no kernel (onnx/kernels.hpp) in a wider dtype, between casts, also in nested
/// graphs: integers and bools in one that gives the same numbers, those of `floats` in float32, whose results are rounded, as ATen does it.
/// The bodies of functions stay. Returns whether anything changed. Throws only if memory runs out.
bool widen_dtypes(graph_data& graph, type_set floats);
/// Whether widen_dtypes() would change a node of the graph. Throws only if memory runs out.
[[nodiscard]] bool needs_wider_dtypes(graph_data const& graph, type_set floats, int opset);

/// Appends to a graph what computes the only result of a node exactly, and returns it; no_value if there is no such form. The inputs of the
/// node are values of that graph, constants as far as they are known.
using exact_form = value_id (*)(graph_data& graph, graph_node const& n);

/// Replaces the nodes whose integers a runtime does not compute exactly, according to the table of its kernels, by the form that `build`
/// makes; also in nested graphs. A node stays if its numbers are known to be small enough: those of bools, of sizes and of
/// constants, and what is computed from them. Returns whether anything changed. Throws what `build` throws, except aton::refused: then the node stays.
bool use_exact_integers(graph_data& graph, std::span<onnx::integer_kernel const> kernels, exact_form build);

/// Replaces all calls of functions by their bodies, also in nested graphs. Throws aton::error if the opset of a function differs from that
/// of the graph, or if a function calls itself.
void inline_functions(graph_data& graph);

/// Removes unused nodes and initializers, also in nested graphs and functions, and functions that are not called. Inputs stay.
void remove_unused(graph_data& graph);

/// Puts the nodes, initializers and values of a graph, of its nested graphs and of its functions into an order that depends only on what
/// the graph computes and on the order of the program (`graph_node::origin`), not on the order in which they were added: values without
/// a name are numbered by it. Inputs, outputs and named initializers keep their places; unused values are dropped, unused nodes are not.
/// Throws only if memory runs out.
void order_canonically(graph_data& graph);

/// Copies of the nodes of a graph, of its nested graphs and of its functions that draw random numbers: RandomUniform, RandomUniformLike,
/// RandomNormal, RandomNormalLike, Bernoulli, Multinomial, and Dropout in training. Throws only if memory runs out.
[[nodiscard]] std::vector<graph_node> find_draws(graph_data const& graph);

/// An input that has replaced a node.
struct random_input {
    value_id input = no_value;
    graph_node replaced;
};

/// Gives every draw a seed of its own, starting with `seed`, so that runs repeat. ONNX stores it as a float: throws aton::error if the last
/// seed would exceed 2^24.
void seed_draws(graph_data& graph, std::uint32_t seed);

/// Replaces every draw by an input of the graph, named after its ATen operator and its distribution, "dropout_uniform", and returns them in
/// the order of the new inputs. Draws in branches are drawn whether the branch runs or not. Throws aton::error for a draw in the body of a
/// loop or of a function, and for Dropout. Nodes that have become unused stay: see remove_unused.
std::vector<random_input> replace_draws_by_inputs(graph_data& graph);

} // namespace ATON_NAMESPACE
