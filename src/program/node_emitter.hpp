// SPDX-License-Identifier: MIT
// Creates the nodes and values of the new graph while a graph is rewritten.
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

    /// A new value with the type and sizes of `like` and a name derived from its name.
    value_index fresh(value_index like);
    /// Adds a value after making its name unique.
    value_index fresh(value v);

    /// Appends a node of a torch operator with one result and the origin of `cause`. Throws aton::error if torch does not declare `op`.
    value_index emit(std::string_view op, node const& cause, std::vector<argument> arguments, value_index result);
    /// Appends a node. Throws aton::error if the new graph is far larger than the old one.
    void append(node n);

    [[nodiscard]] program& owner() { return program_; }
    [[nodiscard]] std::vector<node>& nodes() { return nodes_; }

private:
    program& program_;
    std::vector<node> nodes_;
    std::size_t max_nodes_ = 0;
    std::unordered_map<std::string, std::size_t> names_; ///< the last suffix that made a name unique
};

} // namespace ATON_NAMESPACE::program
