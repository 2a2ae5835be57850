// SPDX-License-Identifier: MIT
// Graphs that are wrong on purpose: the share of them that a check tells from the right one is what the check is worth.
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
        swap_inputs, ///< first and second
        drop_input,  ///< first, which the operator may do without
        attribute,   ///< `name`, in the way that `first` numbers
        constant,    ///< the elements of a Constant, in the way that `first` numbers
        replace,     ///< the operator by `name`
        drop_node,   ///< its first result becomes its input number `first`
    };

    kind is = kind::swap_inputs;
    std::size_t node = 0; ///< index into the graph's nodes
    std::size_t first = 0;
    std::size_t second = 0;
    std::string name;
    std::string what; ///< in words: "Sub: inputs 0 and 1 swapped"
};

/// Every change that gives another function and may still be a legal graph, in the order of the nodes. Changes that are provably none of
/// the function (the swapped operands of Add, Abs of what is never negative left out) are not among them.
[[nodiscard]] std::vector<mutation> mutations_of(graph_data const& g);

/// Makes a change that is not `drop_node` to its node.
void apply(graph_node& n, mutation const& m);
/// The graph with a change that mutations_of() gave for it, or for one of the same operators in the same order.
[[nodiscard]] graph_data mutated(graph_data const& g, mutation const& m);

} // namespace ATON_NAMESPACE::verify
