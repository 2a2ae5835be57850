// SPDX-License-Identifier: MIT
// The passes over an ONNX graph, run until nothing changes.
#include <aton/exporter/passes.hpp>

#include "passes/rewriter.hpp"

namespace aton {

void optimize(graph_data& graph, std::deque<stored_tensor>& weights, pass_options const& options) {
    constexpr int most_sweeps = 12;
    passes::rewriter r(graph, weights, options);
    r.sweep(false); // equal nodes become one before weights are laid out for them
    for (int i = 1; i != most_sweeps && r.sweep(true);) ++i;
    remove_unused(graph);
}

} // namespace aton
