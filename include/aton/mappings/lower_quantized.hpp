// SPDX-License-Identifier: MIT
// Quantized tensors of a graph as operators of ONNX (target aton::mappings).
// Internal header.
#pragma once

#include <cstdint>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::mappings {

/// How Quantize is written.
enum class quantize_form : std::uint8_t {
    linear,     ///< QuantizeLinear, with which runtimes fuse products: a few numbers in a million are one step off
    arithmetic, ///< ATen's numbers, unless QuantizeLinear gives the same
};

/// Replaces the nodes of ir/quantized.hpp, also in nested graphs and in functions, by what the opset of the graph has.
/// Returns whether there were any. Throws aton::refused for numbers that it cannot express.
bool lower_quantized(graph_data& graph, quantize_form form);

} // namespace ATON_NAMESPACE::mappings
