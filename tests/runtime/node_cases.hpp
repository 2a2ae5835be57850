// SPDX-License-Identifier: MIT
// ONNX's backend tests as written by make_node_tests.py: one folder per test, and an index.
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
    std::string check; ///< how outputs are compared
};

/// The inputs and expected outputs of a graph in one data set.
struct data_set {
    std::vector<runtime::value> inputs; ///< for inputs without an initializer, in the graph's order
    std::vector<runtime::value> outputs;
};

/// Throws aton::error if the folder does not have a readable index.
[[nodiscard]] std::vector<node_case> read_index(std::string const& folder);
/// The names of a case's data sets: test_data_set_0, ...
[[nodiscard]] std::vector<std::string> data_sets_of(std::string const& case_folder);
/// The inputs of a graph without an initializer.
[[nodiscard]] std::vector<value_id> open_inputs(graph_data const& graph);
/// Reads one file per value: "input_0.pb" and so on, or "output".
[[nodiscard]] std::vector<runtime::value> read_values(std::string const& folder, std::string const& what,
                                                      graph_data const& graph, std::vector<value_id> const& of);
[[nodiscard]] data_set read_data_set(std::string const& folder, graph_data const& graph);

} // namespace aton::tests
