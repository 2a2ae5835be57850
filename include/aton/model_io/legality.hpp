// SPDX-License-Identifier: MIT
// Whether a finished graph is legal ONNX at its opset: held against the schemas and its shapes before anything is written.
// Public header.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Holds every node of the graph, of its subgraphs and functions, against the schema in force: that there is one, numbers of inputs and
/// outputs, attributes and their types, dtypes that are known against the constraints, and that every input is defined before it is
/// used. Throws aton::error: one sentence with operator, opset, what is wrong, what the node was made for and the user's source line.
/// Operators of domains that ONNX does not define are held against their bodies, where they have some.
void require_legal(graph_data const& graph);

/// Infers the shapes of every node's results again, from the constants that passes have made since: throws aton::error where a rank or a
/// size is another one than the graph says, or where the node cannot be. Types of the graph stay as they are, those of its nested graphs
/// too; what a throw leaves is not to be used.
void require_shapes(graph_data& graph);

} // namespace ATON_NAMESPACE
