// SPDX-License-Identifier: MIT
// Walks over a program and calls the mapping of each node. Each kind of node has its own source file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <aton/aten/function_schema.hpp>
#include <aton/dsl/graph.hpp>
#include <aton/dsl/table.hpp>
#include <aton/dsl/tables.hpp>
#include <aton/exporter/exporter.hpp>
#include <aton/mappings/lower_quantized.hpp>
#include <aton/program/program.hpp>

#include "call_rewrites.hpp"
#include "summary.hpp"

namespace ATON_NAMESPACE::exporter {

/// The types of symbolic sizes in the graph: SymInt, SymFloat and SymBool are 0-d.
dtype dtype_of(program::value_kind kind);

/// What a value of the program is in the graph: a computed value, or a number that is known at export.
struct binding {
    dsl::optional_value computed;
    std::optional<scalar> number;
    std::string missing; ///< the reason if there is neither
};

/// A constant argument that is not a tensor, as an attribute of the same name. Throws unsupported_error.
node_attribute attribute_of(program::argument const& a);

/// Names of symbols, and dimensions with these names.
class dimension_names {
public:
    dimension_names(program::program const& p, std::vector<dim_name> const& names);

    [[nodiscard]] dim operator()(program::extent const& e) const;
    [[nodiscard]] shape operator()(std::vector<program::extent> const& sizes) const;

private:
    void name(program::value const& input, dim_name const& given);

    program::program const& program_;
    std::map<std::string, std::string, std::less<>> renamed_;
    std::vector<std::string> texts_; ///< by index of the expression
};

/// The type that the program recorded for a value; SymInt, SymFloat and SymBool are 0-d.
value_type recorded_type(program::value const& v, dimension_names const& dims);

/// A lower bound of an integer, from the ranges of its symbols; nothing if there is none.
std::optional<std::int64_t> min_value(program::program const& p, program::extent const& e);

/// Which part of the recorded type of a value is not trusted (known_wrong_types.hpp).
enum class untrusted : std::uint8_t { none, shape, everything };

class converter {
public:
    converter(program::program const& p, export_options const& options);
    converter(converter const&) = delete;
    converter& operator=(converter const&) = delete;

    /// Converts everything that can be converted, or stops after the first node that cannot be.
    void run(bool to_the_end = true);

    [[nodiscard]] std::vector<unconvertible> const& refused() const { return refused_.all(); }
    /// The results of a node whose arguments are the inputs of the program. Throws aton::error if it cannot be converted.
    [[nodiscard]] std::vector<dsl::result> results_alone(program::node const& n); // infer_types.cpp
    [[nodiscard]] graph_data take_graph() { return std::move(main_); }
    [[nodiscard]] std::vector<std::string> const& output_names() const { return output_names_; }

private:
    using ops = dsl::graph<oldest_export_opset>;

    // inputs_and_outputs.cpp
    void add_inputs();
    void add_weight(program::input const& in);
    void add_outputs();
    void check_mutation(program::output const& out, program::argument const& a) const;
    void add_output(program::argument const& a, std::string name);

    // convert_program.cpp
    void convert(program::node const& n);
    [[nodiscard]] std::uint32_t origin_index(program::node const& n) const;
    [[nodiscard]] program::origin const& origin_of(program::node const& n) const;
    void convert_with_mapping(program::node const& n);
    void convert_with_row(program::node const& n, dsl::entry const* row);
    void refuse(program::node const& n, std::string reason);
    [[nodiscard]] dsl::entry const* find_row(std::string_view op);
    [[nodiscard]] dsl::entry const* row_below(dsl::entry const& row) const;
    [[nodiscard]] std::string nearest_row(std::string_view op) const;
    [[nodiscard]] std::string describe_missing_row(std::string_view op) const;
    void bind(program::value_index index, binding b) { bound_[index] = std::move(b); }

    // bind_results.cpp
    class row_results;
    [[nodiscard]] std::vector<value_type> expected_types(program::node const& n) const;
    [[nodiscard]] value_type type_of(program::value_index index) const;
    void bind_results(program::node const& n, dsl::entry const& row, std::vector<dsl::result> const& results,
                      std::size_t first_new);
    [[nodiscard]] dsl::value conform(dsl::value const& v, value_type const& recorded, std::string_view subject);
    void propagate_untrusted(program::node const& n);
    [[nodiscard]] bool may_be_empty(program::node const& n) const;
    void check_squeeze(program::node const& n) const;
    void check_strides(program::node const& n) const;

    // bind_arguments.cpp
    [[nodiscard]] binding const& bound(program::value_index index) const;
    [[nodiscard]] binding bound(program::number const& n) const;
    [[nodiscard]] binding bound(program::argument const& a) const;
    [[nodiscard]] std::vector<binding> bound_list(program::argument const& a) const;
    [[nodiscard]] dsl::value as_value(binding const& b, dtype type);
    [[nodiscard]] value_id captured(dsl::value const& v) { return graph_->capture(v.owner(), v.id()); }
    [[nodiscard]] std::vector<dsl::argument> bind_arguments(program::node const& n, std::string_view schema) const;
    [[nodiscard]] bool fold_arguments(std::vector<dsl::argument>& arguments, dsl::graph_mark<graph_data> const& before);
    [[nodiscard]] dsl::argument to_argument(program::argument const& a) const;
    [[nodiscard]] dsl::number to_number(program::number const& n) const;

    // python_operators.cpp
    [[nodiscard]] bool convert_with_user_row(program::node const& n);
    [[nodiscard]] binding python_operand(program::argument const& a) const;
    void convert_python(program::node const& n);

    // kept_operators.cpp
    void check_kept(program::node const& n) const;
    void keep(program::node const& n);

    // aten_nodes.cpp
    class aten_node;
    void add_aten_node(program::node const& n);

    // control_flow.cpp
    class inner_graph;
    void convert_higher_order(program::node const& n);
    void convert_cond(program::node const& n);
    [[nodiscard]] program::graph const& graph_argument(program::node const& n, std::size_t position) const;
    [[nodiscard]] static std::string graph_name(program::node const& n, std::size_t position);
    [[nodiscard]] std::vector<binding> list_of(program::node const& n, std::size_t position) const;
    [[nodiscard]] std::vector<binding> results_of(program::graph const& g, std::vector<binding> given);
    [[nodiscard]] dsl::value typed(binding const& b, value_type const& wanted, std::string_view subject);
    [[nodiscard]] dsl::value condition_of(binding const& b);
    void append_node(program::node const& n, graph_node made, std::vector<program::value_index> const& results);

    // loops.cpp
    void convert_while_loop(program::node const& n, bool stacks);
    void convert_scan(program::node const& n);
    void convert_map(program::node const& n);
    void convert_associative_scan(program::node const& n);
    void append_scan(program::node const& n, std::vector<binding> const& states, std::vector<binding> const& xs,
                     std::vector<binding> const& additional);
    [[nodiscard]] value_type input_type(program::graph const& g, std::size_t i, value_type const& otherwise) const;
    [[nodiscard]] std::vector<dsl::value> initial_state(std::vector<binding> const& given, program::graph const& body,
                                                        std::size_t first);
    [[nodiscard]] std::vector<dsl::value> add_body_inputs(inner_graph& inner, program::graph const& g,
                                                          std::size_t first, std::vector<value_type> const& types);
    [[nodiscard]] dsl::value condition(program::graph const& g, std::vector<binding> given);

    program::program const& original_; ///< whose weights the graph refers to
    bool exact_nan_;
    dimension_names dims_;
    rewritten_calls calls_;
    program::program const& program_;
    export_options const& options_;
    graph_data main_;
    graph_data* graph_ = &main_;       ///< the graph that nodes are added to: the main graph or a nested one
    std::uint32_t caller_ = 0;         ///< the origin of the node that owns the nested graph
    std::vector<binding> bound_;       ///< one per value of the program
    std::vector<untrusted> untrusted_; ///< one per value of the program
    std::unordered_map<std::string_view, dsl::entry const*> rows_;
    std::unordered_map<std::string, value_id> weights_; ///< equal views of the same bytes share an initializer
    std::vector<std::string> output_names_;
    unconvertible_list refused_;
};

/// Complex elements as reals with a trailing axis of 2, in the same bytes.
[[nodiscard]] stored_tensor as_real(stored_tensor const& complex);

/// A value in another dtype of the same kind, which may be complex.
[[nodiscard]] dsl::value cast_value(dsl::graph<oldest_export_opset> g, dsl::value const& v, dtype type);

/// convert_program(), with quantized tensors as the nodes of ir/quantized.hpp.
[[nodiscard]] graph_data convert_quantized(program::program const& p, export_options const& options);
[[nodiscard]] mappings::quantize_form form_of(export_options const& options);

/// What export_graph() does after the conversion, of convert_quantized().
[[nodiscard]] exported_graph finish_export(graph_data converted, program::program const& p,
                                           export_options const& options);

/// Applies the options for random numbers: seeds the operators that draw them and adds a warning, or replaces them by inputs, which it returns.
[[nodiscard]] std::vector<drawn_input> apply_random_options(graph_data& graph, export_options const& options,
                                                            std::vector<warning>& warnings);

/// Warnings about a prepared program, one for each input, dimension and operator.
[[nodiscard]] std::vector<warning> warnings_about(program::program const& p, export_options const& options);
/// Makes one warning of those of the same kind that have a subject, and of those with the same text; at most `max_warnings`, and a count.
[[nodiscard]] std::vector<warning> merge_warnings(std::vector<warning> const& all);

/// Names the outputs. Adds an Identity for an output that is an input, an initializer or another output.
void name_outputs(graph_data& graph, std::vector<std::string> const& names);

} // namespace ATON_NAMESPACE::exporter
