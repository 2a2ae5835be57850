// SPDX-License-Identifier: MIT
// Mutants: graphs that are wrong on purpose. The share of them that a check detects is its power.
// Internal header.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::verify {

/// One change of one node.
struct mutation {
    enum class kind : std::uint8_t {
        swap_inputs, ///< inputs `first` and `second`
        drop_input,  ///< input `first`, which is optional
        attribute,   ///< attribute `name`; `first` selects the change
        constant,    ///< the elements of a Constant; `first` selects the change
        replace,     ///< the operator is replaced by `name`
        drop_node,   ///< its input `first` takes the place of its first result
        nested,      ///< `inside` is applied to the graph `second` of the attribute with index `first`
    };

    kind is = kind::swap_inputs;
    std::size_t node = 0; ///< index into the graph's nodes
    std::size_t first = 0;
    std::size_t second = 0;
    std::string name;
    std::string what;                  ///< for reports: "Sub: inputs 0 and 1 swapped"
    std::vector<mutation> inside = {}; ///< one change of a nested graph
};

/// Every change that may give a legal graph of another function, in the order of the nodes. Changes that provably keep the function
/// (swapped operands of Add, a dropped Abs of a non-negative value) are omitted.
[[nodiscard]] std::vector<mutation> mutations_of(graph_data const& g);

/// Applies a change other than `drop_node` to its node.
void apply(graph_node& n, mutation const& m);
/// The graph with a change from mutations_of() of this graph, or of one with the same operators in the same order.
[[nodiscard]] graph_data mutated(graph_data const& g, mutation const& m);

} // namespace ATON_NAMESPACE::verify
