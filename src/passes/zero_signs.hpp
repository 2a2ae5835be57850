// SPDX-License-Identifier: MIT
// Where the sign of a zero can change a result: 1 / -0 is -infinity. Elsewhere x + 0 is x.
#pragma once

#include <cstdint>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// For each value, whether a result of the graph may depend on the signs of its zeros. That of outputs and of what nested graphs capture
/// counts as a result, and so does every use by an operator that is not known to ignore or merely pass on the sign.
[[nodiscard]] std::vector<std::uint8_t> matter_zero_signs(graph_data const& graph);

} // namespace ATON_NAMESPACE::passes
