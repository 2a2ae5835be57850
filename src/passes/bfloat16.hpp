// SPDX-License-Identifier: MIT
// Replaces internal bfloat16 arithmetic by float32.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// In a graph without bfloat16 inputs, outputs and weights, replaces bfloat16 arithmetic by float32 arithmetic whose results are rounded to
/// bfloat16. This gives ATen's numbers, which are computed in the same way, and every runtime has the kernels. Does not change other graphs.
void widen_bfloat16(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
