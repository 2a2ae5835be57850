// SPDX-License-Identifier: MIT
// What a page says about a program or a graph: values, and nodes in nested graphs, for the script of the page (page/model.js).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/core/json_writer.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/ir/graph.hpp>
#include <aton/program/program.hpp>

#include "page.hpp"

namespace ATON_NAMESPACE::view {

/// An index into a list of the pane; -1: none.
using index = std::int64_t;

enum class value_role : std::uint8_t { computed, input, weight };

struct pane_value {
    std::string name;
    std::string type; ///< "Float(1, 3, 224, 224)"; may be empty
    value_role role = value_role::computed;
};

struct pane_node {
    index graph = 0;
    std::string op; ///< "aten::conv2d.default", "Conv"
    std::string name;
    std::string overload; ///< of a node of a graph: the ATen overload that it was made from
    std::string module;   ///< "layer1.0.conv1", or "/layer1/conv1"
    std::string module_type;
    std::string source; ///< "model.py:12 in forward"
    std::string code;   ///< the source line
    std::vector<index> inputs;
    std::vector<index> results;
    std::vector<std::pair<std::string, std::string>> attributes; ///< name and text
    std::string refusal;                                         ///< why it cannot be converted
    compared_node const* compared = nullptr;
    index origin = -1; ///< the node of the program that a node of the graph was made from
};

/// The main graph is the first one. A graph without owner, other than the main graph, is the body of a function.
struct pane_graph {
    std::string label;
    index owner = -1; ///< the node with the graph as an attribute
    std::vector<index> inputs;
    std::vector<std::pair<std::string, index>> outputs; ///< name and value
};

struct pane {
    std::string_view kind; ///< "program" or "graph"
    std::vector<pane_value> values;
    std::vector<pane_node> nodes; ///< of all graphs, in topological order within each
    std::vector<pane_graph> graphs;
};

[[nodiscard]] pane pane_of(program::program const& p, std::vector<unconvertible> const& refused);
[[nodiscard]] pane pane_of(graph_data const& g);

/// Sets pane_node::origin for the nodes of a graph: by the name of the node that was converted, in the graph of the same owner, by the name
/// of a result, or by a name that only one node of the program has; or else it is that of the owner.
void find_origins(pane& graph, pane const& program);

/// Strings that occur many times, as numbers.
class string_pool {
public:
    [[nodiscard]] std::size_t number_of(std::string const& text);
    [[nodiscard]] std::vector<std::string> const& all() const { return all_; }

private:
    std::vector<std::string> all_;
    std::unordered_map<std::string, std::size_t> numbers_;
};

/// Sets pane_node::compared for the nodes of the main graph of a program.
void add_comparison(pane& program, std::vector<compared_node> const& nodes);

void write_pane(json_writer& out, string_pool& strings, pane const& p);

} // namespace ATON_NAMESPACE::view
