// SPDX-License-Identifier: MIT
// Computes nodes in a wider dtype, between casts, where ONNX Runtime has no kernel for their own.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// As widen_dtypes() of passes.hpp, for nodes that do not draw random numbers: an input may take their place.
void widen_before_rewrites(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
