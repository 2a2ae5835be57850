// SPDX-License-Identifier: MIT
// Passes over an ONNX graph: they keep its outputs' values and make it smaller.
// Public header.
#pragma once

#include <deque>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// What the passes may do.
struct pass_options {
    /// Whether weights may be laid out anew (transposed, multiplied, cut, joined) when they are written. Without it those nodes stay.
    bool rewrite_weights = true;
};

/// Constants become initializers; what is computed from constants is folded, what nothing uses is removed, what is computed twice is
/// computed once, casts, reshapes, transposes and identities that do nothing go, BatchNormalization goes into the Conv before it. Graphs
/// nested in nodes and bodies of functions are treated likewise, and an If that is decided becomes its branch.
/// Names, types and order of the graph's inputs and outputs stay; an output may afterwards be an input, an initializer or another
/// output, one of a nested graph also a captured value, which the writer puts through an Identity. New weights are put into
/// `weights`, which must outlive the graph.
void optimize(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options = {});

/// Puts the body of each function in the place of its calls, in nested graphs too. Throws aton::error where a function has another
/// opset than the graph, or calls itself.
void inline_functions(graph_data& graph);

/// Removes what no output needs: nodes and initializers, here, in nested graphs and in functions, and functions that no one calls.
/// Inputs stay.
void remove_unused(graph_data& graph);

} // namespace ATON_NAMESPACE
