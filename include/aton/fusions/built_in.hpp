// SPDX-License-Identifier: MIT
// The built-in rewrites as a compiled library (target aton::fusions).
// Public header.
#pragma once

#include <aton/ir/pattern.hpp>

namespace ATON_NAMESPACE::fusions {

/// Every built-in rewrite: those of nodes, which library() in <aton/fusions.hpp> is, and those of ATen calls
/// (<aton/fusions/recomposition.hpp>), which need the compiled mappings.
[[nodiscard]] rewrites_view built_in_rewrites() noexcept;

/// Appends to a graph what computes the only result of a node of integers with exact operators of ONNX Runtime, and
/// returns it; no_value if there is no such form, or the opset is below 11. Throws aton::refused if the form needs
/// something of the node that is not known.
[[nodiscard]] value_id build_exact_integers(graph_data& graph, graph_node const& n);

} // namespace ATON_NAMESPACE::fusions
