// SPDX-License-Identifier: MIT
// ONNX's backend tests as make_node_tests.py writes them: a folder for each, and an index.
#pragma once

#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

namespace aton::tests {

/// A line of the index.
struct node_case {
    std::string name;
    std::string kind;  ///< node, simple, ...
    std::string about; ///< the operator
    double relative = 0;
    double absolute = 0;
    std::string check; ///< how its outputs are compared
};

/// What a graph is given in one data set, and what it is to make of it.
struct data_set {
    std::vector<runtime::value> inputs; ///< of those that have no initializer, in the graph's order
    std::vector<runtime::value> outputs;
};

/// Throws aton::error for a folder without a readable index.
[[nodiscard]] std::vector<node_case> read_index(std::string const& folder);
/// The names of a case's data sets: test_data_set_0, ...
[[nodiscard]] std::vector<std::string> data_sets_of(std::string const& case_folder);
/// The inputs of a graph that have no initializer.
[[nodiscard]] std::vector<value_id> open_inputs(graph_data const& graph);
/// One file per value: "input_0.pb" and so on, or "output".
[[nodiscard]] std::vector<runtime::value> read_values(std::string const& folder, std::string const& what,
                                                      graph_data const& graph, std::vector<value_id> const& of);
[[nodiscard]] data_set read_data_set(std::string const& folder, graph_data const& graph);

} // namespace aton::tests
