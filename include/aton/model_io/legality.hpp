// SPDX-License-Identifier: MIT
// Checks that a finished graph is legal ONNX at its opset, by schemas and shapes, before anything is written.
// Public header.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Checks every node of the graph, its subgraphs and its functions against the schema in force: existence, numbers of inputs and
/// outputs, attributes and their types, known dtypes against the constraints, and definition of every input before its use. Throws
/// aton::error, one sentence with the operator, the opset, the problem, the ATen operator and the user's source line. Operators of
/// domains that ONNX does not define are checked against their bodies, if they have any.
void require_legal(graph_data const& graph);

/// Infers the shapes of all results again, using constants that passes have created. Throws aton::error if a rank or size contradicts
/// the graph, or if a node is invalid. The types in the graph and its nested graphs do not change; after an exception, the graph is
/// unusable.
void require_shapes(graph_data& graph);

} // namespace ATON_NAMESPACE
