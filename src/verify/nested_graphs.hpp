// SPDX-License-Identifier: MIT
// The graphs in attributes of nodes, such as the branches of If, and which of them ran.
#pragma once

#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/onnx_model.hpp>

namespace ATON_NAMESPACE::verify {

/// Nested graphs are told apart by their node, their attribute and their operators: those of different calls have different constants.
class nested_graphs {
public:
    /// Adds all graphs in attributes of the graph's nodes, also in functions and in such graphs. A run with the options notes those
    /// that run.
    void watch(graph_data const& g, runtime::onnx_options& options);
    /// The first one that did not run: "the else_branch (Neg, Add) of If"; empty if all ran.
    [[nodiscard]] std::string not_run() const;

private:
    struct counted {
        std::string what;
        bool ran = false;
    };
    counted& find(std::string what);
    void add(graph_data const& g);
    void note(graph_node const& node, graph_data const& body);

    std::vector<counted> all_; ///< those around a graph before it
};

} // namespace ATON_NAMESPACE::verify
