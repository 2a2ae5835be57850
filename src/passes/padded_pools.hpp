// SPDX-License-Identifier: MIT
// Keeps ONNX Runtime from merging padding with zeros into a pool.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Inserts a Reshape to the same sizes between a Pad with zeros and a MaxPool or AveragePool that reads it. ONNX Runtime merges the two: into
/// a MaxPool, which pads with -inf, so that negative maxima at the border differ, and into pools whose pads then reach the size of the kernel,
/// so that the model does not load. The Reshape moves no bytes. This is the last pass: others remove such a Reshape.
void separate_padded_pools(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
