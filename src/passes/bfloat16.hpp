// SPDX-License-Identifier: MIT
// What becomes of bfloat16 that a program only passes through.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// In a graph without inputs, outputs or weights of bfloat16, arithmetic in it becomes arithmetic in float32 whose results are rounded to
/// bfloat16: the same numbers as ATen's, which computes so too, and there are kernels for it everywhere. Other graphs stay as they are.
void widen_bfloat16(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
