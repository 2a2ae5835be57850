// SPDX-License-Identifier: MIT
// Replaces products with weights by products with integers.
#pragma once

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::exporter {

/// Replaces the weights of MatMul and Gemm, and of Gather if they are embeddings, by integers: with MatMulNBits and GatherBlockQuantized
/// for ONNX Runtime, and else with DequantizeLinear. The products of a weight are replaced if all of them can be and only they and lookups
/// use it, and so are its lookups; the others are listed with the reason. Does nothing without `options.quantize`. Throws aton::error for a
/// rounding that the opset or the runtimes do not have, and for a pattern that no weight matches.
void quantize_weights(exported_graph& made, export_options const& options);

} // namespace ATON_NAMESPACE::exporter
