// SPDX-License-Identifier: MIT
// Random changes that turn graphs and inputs into what no exporter writes: for tests that everything either runs or is
// refused.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

namespace aton::tests {

/// A graph and its inputs.
struct runnable {
    graph_data graph;
    std::vector<runtime::value> inputs; ///< in the graph's order; empty for those that have an initializer
};

/// Nodes of other graphs, whose operators and attributes are inserted where they do not belong.
using node_pool = std::vector<graph_node>;

/// A number that often reveals errors: small, at the limit of a type, or a size that exceeds memory.
[[nodiscard]] std::int64_t strange_integer(std::mt19937_64& rng);
[[nodiscard]] double strange_real(std::mt19937_64& rng);
[[nodiscard]] std::string strange_text(std::mt19937_64& rng);
[[nodiscard]] dtype strange_type(std::mt19937_64& rng);
/// A copy of `of` with another shape, another dtype, or other elements.
[[nodiscard]] runtime::tensor changed(runtime::tensor const& of, std::mt19937_64& rng);

/// Makes one to four changes of attributes, operators, edges, bodies, versions, constants or inputs.
void change(runnable& what, node_pool const& others, std::mt19937_64& rng);

} // namespace aton::tests
