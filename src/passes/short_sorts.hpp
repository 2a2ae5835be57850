// SPDX-License-Identifier: MIT
// Sorts of which only the first elements are used.
#pragma once

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Lowers the number of elements that a TopK returns to that of the elements which other nodes read, such as the five of
/// `x.sort(descending=True).values[:, :5]`: a selection is faster than a sort, and the Slice disappears. Also in nested graphs.
void shorten_sorts(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
