// SPDX-License-Identifier: MIT
// Chooses the operators of quantized tensors for a target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/exporter/exporter.hpp>
#include <aton/ir/quantized.hpp>

namespace ATON_NAMESPACE::exporter {

/// How a runtime wants quantized tensors.
struct quantized_style {
    bool fuses = true;            ///< products are written so that it computes them with integers
    bool unsigned_bytes = true;   ///< activations are uint8: int8 with every number 128 greater
    bool clips_integers = true;   ///< a range narrower than that of the dtype is a Clip of integers
    bool integer_products = true; ///< it has MatMulInteger and DynamicQuantizeLinear
    bool symmetric_only = false;  ///< all zero points are 0
    bool has_n_bits = false;      ///< it has MatMulNBits
    int accuracy_level = 0;       ///< of MatMulNBits
};
[[nodiscard]] quantized_style style_of(export_options const& options);

/// Whether a program has quantized tensors or integer weights.
[[nodiscard]] bool is_quantized(graph_data const& graph);

/// Turns the nodes of ir/quantized.hpp in the main graph into the form of the target as far as that has one, and lists the products with
/// quantized operands in `made.products`. The other nodes remain for mappings::lower_quantized(). Throws export_error for what the target
/// does not run.
void choose_quantized_forms(exported_graph& made, std::string const& file, export_options const& options);

/// A graph whose nodes are replaced one by one.
class quantized_graph {
public:
    explicit quantized_graph(exported_graph& made);

    [[nodiscard]] graph_data& graph() { return graph_; }
    [[nodiscard]] std::size_t size() const { return count_; }
    [[nodiscard]] graph_node& node(std::size_t i) { return graph_.nodes[i]; }
    /// The node that computes a value, or null. Of nodes that were added, none.
    [[nodiscard]] graph_node* producer(value_id id);
    /// The indices of the nodes that read a value; nothing if something else does too: an output or a nested graph.
    [[nodiscard]] std::optional<std::vector<std::size_t>> readers(value_id id) const;
    [[nodiscard]] value_type const& type(value_id id) const { return graph_.values[id].type; }

    /// The elements of a constant, in memory or in a file; nothing for other values and more than `at_most` bytes.
    [[nodiscard]] std::optional<tensor> constant(value_id id, std::uint64_t at_most = std::uint64_t{1} << 30) const;
    value_id add_constant(tensor t, std::string const& name = {});
    /// Appends a node before node `at`, for which `like` stands, with one result of this type.
    value_id add(std::size_t at, graph_node const& like, std::string_view op, std::vector<value_id> inputs,
                 value_type result, std::vector<node_attribute> attributes = {}, std::string_view domain = {});
    /// The same with the result of node `at`, which is removed.
    void replace(std::size_t at, std::string_view op, std::vector<value_id> inputs,
                 std::vector<node_attribute> attributes = {});
    void insert(std::size_t at, graph_node n) { before_[at].push_back(std::move(n)); }
    void remove(std::size_t at) { removed_[at] = 1; }
    /// Removes the node that computes a value, of which it is the only result.
    void remove_producer(value_id id) { removed_[static_cast<std::size_t>(graph_.values[id].producer)] = 1; }
    void set_input(std::size_t at, std::size_t i, value_id id);
    /// Puts all nodes into the graph.
    void finish();

private:
    graph_data& graph_;
    std::size_t count_;
    std::vector<std::vector<std::size_t>> readers_; ///< by value
    std::vector<char> escapes_;                     ///< by value: an output, or captured
    std::vector<std::vector<graph_node>> before_;
    std::vector<char> removed_;
};

/// Products with weights and activations; adds those that stay in floating point to the list, with the reason.
void write_products(quantized_graph& g, quantized_style const& style, std::vector<quantized_product>& report);
/// Ranges that include Relu and Clip, unsigned numbers, parameters that are chosen at run time, and rows of embeddings.
void write_activations(quantized_graph& g, quantized_style const& style);
/// Weights of four bits, in the smallest form that the opset has.
void pack_weights(quantized_graph& g);

} // namespace ATON_NAMESPACE::exporter
