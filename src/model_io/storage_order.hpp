// SPDX-License-Identifier: MIT
// Weights whose elements fill a block of a file in another order than row-major: written as they lie, and turned by a Transpose node.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <aton/core/stored_tensor.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::detail {

/// The dimensions in the order in which they lie in the file, outermost first: {0, 2, 3, 1} of a channels_last tensor. Nothing where
/// the elements overlap, have gaps between them, are computed, or lie in several places, and where they are in order already.
[[nodiscard]] std::optional<std::vector<std::size_t>> storage_order(stored_tensor const& t);

/// The graph with a Transpose for each stored initializer that has a storage order and that `is_wanted` takes. What the new
/// initializers point to is put into `views`. Nothing where there is none.
[[nodiscard]] std::optional<graph_data> with_transposes(graph_data const& graph, std::deque<stored_tensor>& views,
                                                        std::function<bool(stored_tensor const&)> const& is_wanted);

} // namespace ATON_NAMESPACE::detail
