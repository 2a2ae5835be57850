// SPDX-License-Identifier: MIT
// Graphs and inputs changed at random into what no exporter writes: for tests that anything is run or refused.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

namespace aton::tests {

/// A graph and what it is run on.
struct runnable {
    graph_data graph;
    std::vector<runtime::value> inputs; ///< in the graph's order; none for those that have an initializer
};

/// Nodes of other graphs, whose operators and attributes are put where they do not belong.
using node_pool = std::vector<graph_node>;

/// A number that is often where a mistake is: small, at the border of a type, a size that no memory has.
[[nodiscard]] std::int64_t strange_integer(std::mt19937_64& rng);
[[nodiscard]] double strange_real(std::mt19937_64& rng);
[[nodiscard]] std::string strange_text(std::mt19937_64& rng);
[[nodiscard]] dtype strange_type(std::mt19937_64& rng);
/// A tensor like `of`, with other sizes, another dtype, or other elements.
[[nodiscard]] runtime::tensor changed(runtime::tensor const& of, std::mt19937_64& rng);

/// Makes one to four changes: of attributes, operators, edges, bodies, versions, constants, inputs.
void change(runnable& what, node_pool const& others, std::mt19937_64& rng);

} // namespace aton::tests
