// SPDX-License-Identifier: MIT
// Nodes that multiply by matrices of integers, or look up their rows.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <aton/exporter/exporter.hpp>

namespace ATON_NAMESPACE::exporter {

/// The domain of MatMulNBits and GatherBlockQuantized.
inline constexpr std::string_view microsoft = "com.microsoft";

/// Whether ONNX Runtime has a kernel of MatMulNBits or GatherBlockQuantized for numbers of this dtype.
[[nodiscard]] bool has_bits_kernel(std::string_view op, dtype type, int opset);

/// A matrix of integers, and the values that are made of it when a node needs them.
struct integer_matrix {
    quantized_matrix matrix;
    std::string name;       ///< of the weight
    bool is_stored = false; ///< as weight_use
    bool has_products = false;
    value_id blocks = no_value;
    value_id rows = no_value;
    value_id elements = no_value; ///< for DequantizeLinear
    value_id scales = no_value;
    value_id zero_points = no_value;
    value_id dequantized = no_value;
    value_id transposed = no_value; ///< `dequantized`

    [[nodiscard]] std::int64_t block() const { return matrix.how().block; }
};

/// Appends nodes to a graph, and the initializers that they need.
class quantized_nodes {
public:
    /// `for_onnxruntime`: with MatMulNBits and GatherBlockQuantized instead of DequantizeLinear. `shares_bytes`: the file has the bytes of
    /// initializers with the same elements once.
    quantized_nodes(exported_graph& made, quantize_options const& options, bool for_onnxruntime, bool shares_bytes);

    void append(graph_node n);
    /// In place of MatMul, Gemm or FusedMatMul.
    void append_product(graph_node const& n, integer_matrix& m);
    /// In place of Gather.
    void append_lookup(graph_node const& n, integer_matrix& m);

private:
    /// Appends a node in place of `like`, with one result, which it returns.
    value_id append(graph_node const& like, std::string_view domain, std::string_view op, std::vector<value_id> inputs,
                    value_id result, std::vector<node_attribute> attributes = {});
    /// Appends an initializer.
    value_id add(stored_tensor tensor, std::string const& name);
    void add_scales(integer_matrix& m);
    void add_blocks(integer_matrix& m);
    /// The rows for a lookup. In a data file they are the bytes of the blocks; in one file, a Reshape saves another copy.
    void add_rows(integer_matrix& m, graph_node const& n);
    void add_elements(integer_matrix& m);
    void append_n_bits(graph_node const& n, integer_matrix& m);

    std::deque<stored_tensor>& stored_;
    graph_data& graph_;
    quantize_options const& options_;
    bool for_onnxruntime_;
    bool shares_bytes_;
    std::set<std::string, std::less<>> names_; ///< of all values
};

} // namespace ATON_NAMESPACE::exporter
