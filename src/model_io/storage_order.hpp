// SPDX-License-Identifier: MIT
// Weights that fill a block of a file in an order other than row-major: the block is used unchanged, followed by a Transpose node.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

/// The dimensions in storage order, outermost first: {0, 2, 3, 1} for a channels_last tensor. Nothing if the elements overlap, have
/// gaps, are computed or are in several parts, or if they already are in row-major order.
[[nodiscard]] std::optional<std::vector<std::size_t>> storage_order(stored_tensor const& t);

/// The graph with a Transpose for each stored initializer that has a storage order and satisfies `is_wanted`. The new initializers
/// point into `views`. Nothing if there are none.
[[nodiscard]] std::optional<graph_data> with_transposes(graph_data const& graph, std::deque<stored_tensor>& views,
                                                        std::function<bool(stored_tensor const&)> const& is_wanted);

} // namespace ATON_NAMESPACE::detail
