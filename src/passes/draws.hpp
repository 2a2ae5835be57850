// SPDX-License-Identifier: MIT
// Which nodes draw random numbers.
#pragma once

#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// Whether equal calls give different results.
inline bool draws_random_numbers(graph_node const& n) {
    if (!n.domain.empty()) return false;
    for (std::string_view op :
         {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli", "Multinomial"})
        if (n.op == op) return true;
    return n.op == "Dropout" && n.inputs.size() == 3 && n.inputs[2] != no_value; // training is the third input
}

} // namespace ATON_NAMESPACE::passes
