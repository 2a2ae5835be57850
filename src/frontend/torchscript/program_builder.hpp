// SPDX-License-Identifier: MIT
// The program that the code becomes: its values and their names, nodes, nested graphs, and the expressions of sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <aton/frontend/torchscript/read_program.hpp>
#include <aton/program/program.hpp>

#include "bounds.hpp"
#include "code_position.hpp"
#include "values.hpp"

namespace ATON_NAMESPACE::torchscript {

class program_builder {
public:
    program_builder(program::program& made, code_position const& at) : out_(made), at_(at) {}

    [[nodiscard]] program::program const& made() const { return out_; }
    [[nodiscard]] program::value& value_at(program::value_index v) { return out_.values[v]; }
    [[nodiscard]] program::value const& value_at(program::value_index v) const { return out_.values[v]; }
    /// Of a number that the program computes.
    [[nodiscard]] program::value_kind kind_of(value const& symbol) const { return out_.values[symbol.computed()].kind; }

    // Values and their names: "relu", "relu_1", "relu_2".
    [[nodiscard]] program::value_index add_value(std::string_view name, program::value_kind k);
    [[nodiscard]] program::value_index add_tensor(std::string_view name, inferred_type const& type);
    /// A copy of a value as the input of a nested graph.
    [[nodiscard]] program::value_index copy_value(program::value_index v);
    [[nodiscard]] std::string unique_name(std::string_view wanted);
    [[nodiscard]] std::uint32_t origin_here();

    /// The nodes of the graph or the part that is being made.
    [[nodiscard]] std::vector<program::node>& nodes() { return out_.main.nodes; }
    /// Adds a node with one result.
    void add_node(program::node n, program::value_index result);
    /// Appends a nested graph, whose inputs are `inputs` and copies of `captured`.
    [[nodiscard]] program::argument make_graph(std::string const& name, std::vector<program::value_index> inputs,
                                               std::vector<program::value_index> const& captured,
                                               std::vector<program::node> nodes,
                                               std::vector<program::argument> outputs);
    void add_input(program::input in);
    void add_output(program::argument a, program::output about);
    /// Notes that the program leaves out what the code does here.
    void drop(std::string what);

    [[nodiscard]] program::expression expression_of(program::extent const& e) const;
    [[nodiscard]] program::extent extent_of(program::expression e);
    [[nodiscard]] program::extent extent_of(value const& v);
    /// A size that is not known before the model runs. Its name tells that it depends on data.
    [[nodiscard]] program::extent fresh_extent();
    /// A dimension that the user has named.
    [[nodiscard]] program::extent named_extent(std::string const& name);
    /// The bounds of a - b, for all values of the symbols.
    [[nodiscard]] bounds bounds_of_difference(program::extent const& a, program::extent const& b) const;

private:
    program::program& out_;
    code_position const& at_;
    std::unordered_map<std::string, std::uint32_t> expressions_; ///< by to_string()
    std::unordered_map<std::string, std::uint32_t> origins_;
    std::unordered_map<std::string, std::size_t> names_;
    std::size_t next_symbol_ = 0;
};

} // namespace ATON_NAMESPACE::torchscript
