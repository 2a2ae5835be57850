// SPDX-License-Identifier: MIT
// Computes nodes in a wider dtype, between casts, where runtimes have no kernel for their own.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Computes choices, extrema, padding and the like of bools and small integers in a dtype for which ONNX Runtime has kernels; also in
/// nested graphs. The numbers are the same.
void widen_integers(graph_data& graph);

/// In a graph without bfloat16 inputs, outputs and weights, replaces bfloat16 arithmetic by float32 arithmetic whose results are rounded to
/// bfloat16. This gives ATen's numbers, which are computed in the same way, and every runtime has the kernels. Does not change other graphs.
void widen_bfloat16(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
