// SPDX-License-Identifier: MIT
// Makes the nodes and values of a graph that is written anew beside the old one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::program {

class node_emitter {
public:
    /// `p` must outlive the emitter; `expected` is the number of nodes of the old graph.
    node_emitter(program& p, std::size_t expected);

    /// A new value with the type and sizes of `like` and a name made from its.
    value_index fresh(value_index like);
    /// A new value; its name is made unique.
    value_index fresh(value v);

    /// Appends a node of a torch operator with one result, as a part of what `cause` did. Throws where torch has none.
    value_index emit(std::string_view op, node const& cause, std::vector<argument> arguments, value_index result);
    /// Appends a node. Throws where the new graph has grown far beyond the old one.
    void append(node n);

    [[nodiscard]] program& owner() { return program_; }
    [[nodiscard]] std::vector<node>& nodes() { return nodes_; }

private:
    program& program_;
    std::vector<node> nodes_;
    std::size_t most_ = 0;
    std::unordered_map<std::string, std::size_t> names_; ///< the last number that a name was made unique with
};

} // namespace ATON_NAMESPACE::program
