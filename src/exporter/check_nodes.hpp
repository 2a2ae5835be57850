// SPDX-License-Identifier: MIT
// Operands that no operator takes together: what a row makes of a program whose recorded types hide that its arguments are invalid.
#pragma once

#include <cstddef>

#include <aton/dsl/graph_data.hpp>

namespace aton::exporter {

/// Throws unsupported_error where static sizes of a node's operands contradict each other, for the nodes from `first` on: operands that do
/// not broadcast, products of sizes that differ, joined tensors of different ranks.
void check_nodes(graph_data const& graph, std::size_t first);

} // namespace aton::exporter
