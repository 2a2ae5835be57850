// SPDX-License-Identifier: MIT
// The page of `aton view`: a program and its graph, as one HTML file that needs neither the network nor another file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <aton/exporter/exporter.hpp>
#include <aton/ir/graph.hpp>
#include <aton/program/program.hpp>

namespace ATON_NAMESPACE::view {

/// How the results of a node of a program compare with the graph's. `unknown`: the graph has no result that must be equal.
enum class verdict : std::uint8_t { unknown, same, different };

struct compared_node {
    std::string name; ///< in the program's main graph
    view::verdict verdict = verdict::unknown;
    double error = 0; ///< as a fraction of the tolerance
    std::string why;  ///< how it differs
    bool is_first_divergence = false;
};

/// A run of the program and the graph on the same inputs.
struct comparison {
    std::string summary; ///< one sentence; empty: nothing was run
    std::vector<compared_node> nodes;
};

/// What a page shows: a program, a graph, or both. Weights are not in the page, only their names and types.
struct page {
    std::string title;                         ///< the name of the file
    std::vector<std::string> facts;            ///< "opset 20"
    program::program const* program = nullptr; ///< as it was converted
    graph_data const* graph = nullptr;
    std::string failure;                ///< why there is no graph
    std::vector<unconvertible> refused; ///< of the program
    std::vector<std::string> warnings;
    view::comparison comparison;
};

/// The page. Text of the model cannot leave the string that holds it, and the page's policy forbids every request.
[[nodiscard]] std::string to_html(page const& p);

} // namespace ATON_NAMESPACE::view
