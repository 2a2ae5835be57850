// SPDX-License-Identifier: MIT
// Makes the outputs of an optimized graph acceptable to a runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <aton/ir/graph.hpp>

namespace random_graphs {

/// Gives every output its own node: after the passes, several outputs may be the same value, an input or an initializer.
inline void name_outputs(aton::graph_data& data) {
    for (std::size_t i = 0; i != data.outputs.size(); ++i) {
        aton::value_id const id = data.add_value(data.values[data.outputs[i]].type, "result_" + std::to_string(i));
        data.values[id].producer = static_cast<std::int64_t>(data.nodes.size());
        auto& n = data.nodes.emplace_back();
        n.op = "Identity";
        n.inputs = {data.outputs[i]};
        n.outputs = {id};
        data.outputs[i] = id;
    }
}

} // namespace random_graphs
