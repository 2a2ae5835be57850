// SPDX-License-Identifier: MIT
// What nested graphs take from the graph around them: values that they know by name.
#pragma once

#include <string>

#include <aton/dsl/graph_data.hpp>

namespace aton::passes {

/// Calls `f` with the name of every value that nothing in the nested graph makes. Its own inputs and initializers are among them.
template <class Function>
void for_each_capture(graph_data const& nested, Function const& f) {
    for (graph_value const& v : nested.values)
        if (v.producer < 0 && !v.name.empty()) f(v.name);
    for (graph_node const& n : nested.nodes)
        for (node_attribute const& a : n.attributes)
            for (graph_data const& inner : a.graphs) for_each_capture(inner, f);
}

} // namespace aton::passes
