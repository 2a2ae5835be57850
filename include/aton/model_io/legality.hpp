// SPDX-License-Identifier: MIT
// Whether a finished graph is legal ONNX at its opset: held against the schemas before anything is written.
#pragma once

#include <aton/dsl/graph_data.hpp>

namespace aton {

/// Holds every node of the graph, of its subgraphs and functions, against the schema in force: that there is one, numbers of inputs and
/// outputs, attributes and their types, dtypes that are known against the constraints, and that every input is defined before it is
/// used. Throws aton::error: one sentence with operator, opset, what is wrong, what the node was made for and the user's source line.
/// Operators of domains that ONNX does not define are held against their bodies, where they have some.
void require_legal(graph_data const& graph);

} // namespace aton
