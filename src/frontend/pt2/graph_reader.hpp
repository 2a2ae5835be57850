// SPDX-License-Identifier: MIT
// Graph objects of torch/_export/serde/schema.py: names become indices, nodes are bound to their schemas.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/program/program.hpp>

#include "expression_table.hpp"
#include "json_reader.hpp"
#include "operator_table.hpp"
#include "origin_table.hpp"

namespace ATON_NAMESPACE::pt2 {

/// The dtype of a ScalarType number. Fails for unknown numbers.
[[nodiscard]] dtype read_scalar_type(json_value const& code);
/// "strided", "sparse_coo", ...
[[nodiscard]] std::string_view read_layout(json_value const& code);

/// The values of one graph by name, and their entries in the graph's tables.
struct graph_scope {
    std::unordered_map<std::string_view, program::value_index> values;
    std::unordered_map<std::string_view, json_value> tensors;
    std::unordered_map<std::string_view, json_value> sym_ints;
    std::unordered_map<std::string_view, json_value> sym_floats;
    std::unordered_map<std::string_view, json_value> sym_bools;
};

/// Reads graphs into a program. Each subgraph has its own scope.
class graph_reader {
public:
    graph_reader(program::program& out, json_place& place)
        : out_(out),
          place_(place),
          expressions_(out.expressions),
          origins_(out.origins) {}

    /// Adds values, nodes and subgraphs to the program, and returns the main graph.
    [[nodiscard]] program::graph read(json_value const& graph) { return read_graph(graph, 0); }

private:
    /// Maximum nesting depth of graphs.
    static constexpr int max_graph_depth = 16;

    program::graph read_graph(json_value const& graph, int depth);
    void read_tables(json_value const& graph, graph_scope& scope) const;

    // Definitions.
    program::value_index define(json_value const& name, program::value_kind kind, graph_scope& scope);
    program::value_index define_graph_input(json_value const& argument, graph_scope& scope);
    program::result define_result(json_value const& argument, graph_scope& scope);
    void describe_tensor(json_value const& meta, program::value& out);
    std::vector<program::extent> read_extents(json_value const& list);

    // Nodes.
    program::node read_node(json_value const& node, std::size_t index, graph_scope& scope, int depth);
    [[nodiscard]] static std::string_view ordered_operator(json_value const& inputs);
    static void drop_token(json_value const& outputs, operator_info const& info, program::node& out);
    /// `skipped`: the number of inputs that are not the operator's.
    void bind_arguments(json_value const& inputs, std::size_t skipped, operator_info const& info, program::node& out,
                        graph_scope& scope, int depth);
    std::size_t bind_name(json_value const& input, std::size_t position, operator_info const& info,
                          std::string& name) const;
    void check_results(json_value const& outputs, operator_info const& info, program::node const& node) const;
    [[nodiscard]] std::uint32_t read_origin(json_value const& node);

    // Arguments: read_argument.cpp. `depth`: of the graph that contains the argument. `is_operand`: of a higher-order operator.
    [[nodiscard]] program::argument read_argument(json_value const& argument, graph_scope& scope, int depth,
                                                  bool is_operand = false);
    [[nodiscard]] std::optional<program::argument> read_plain_argument(json_value const& held) const;
    [[nodiscard]] std::optional<program::argument> read_symbolic_argument(json_value const& held,
                                                                          graph_scope const& scope) const;
    [[nodiscard]] std::optional<program::argument> read_other_argument(json_value const& held);
    [[nodiscard]] program::argument read_subgraph(json_value const& held, int depth);
    [[nodiscard]] program::value_index find_value(json_value const& name, program::value_kind kind,
                                                  graph_scope const& scope) const;
    [[nodiscard]] program::value_index find_tensor(json_value const& tensor, graph_scope const& scope) const;
    [[nodiscard]] program::value_index find_operand(json_value const& operand, graph_scope const& scope) const;
    [[nodiscard]] program::value_index find_optional_tensor(json_value const& either, graph_scope const& scope) const;

    program::program& out_;
    json_place& place_;
    expression_table expressions_;
    operator_table operators_;
    origin_table origins_;
};

} // namespace ATON_NAMESPACE::pt2
