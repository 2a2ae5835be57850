// SPDX-License-Identifier: MIT
// What ONNX Runtime's CPU provider cannot run of a graph, in words.
#pragma once

#include <string>
#include <vector>

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::exporter {

/// "Conv of float64 has no kernel; it has one for float32"; empty if ONNX Runtime runs the node.
[[nodiscard]] std::string missing_kernel(graph_data const& graph, graph_node const& n, int opset);

/// Warns of nodes that ONNX Runtime does not run, once for each combination of dtypes and remedy, or of an opset that it does not load.
/// `graph` has no functions.
void find_missing_kernels(graph_data const& graph, std::vector<warning>& to);

/// Replaces calls of functions by their bodies if a body must be computed in wider dtypes: types are known at calls only.
void inline_narrow_functions(graph_data& graph, type_set floats);

} // namespace ATON_NAMESPACE::exporter
