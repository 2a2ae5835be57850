// SPDX-License-Identifier: MIT
// A convolution or product whose operands are quantized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "make_attribute.hpp"
#include "quantized_graph.hpp"

namespace ATON_NAMESPACE::exporter {

/// A convolution or product, and what its operands and its result are.
class product {
public:
    product(quantized_graph& g, quantized_style const& style, std::size_t at)
        : g_(g),
          style_(style),
          at_(at),
          n_(g.node(at)),
          left_(dequantize_of(0)),
          right_(dequantize_of(1)) {}

    [[nodiscard]] bool is_quantized() const { return left_ != nullptr || right_ != nullptr; }
    /// Rewrites the product. Returns why it is computed in floating point; empty: with integers.
    [[nodiscard]] std::string write() {
        std::string reason = operand_reason();
        bool const is_convolution = n_.op == "Conv" || n_.op == "ConvTranspose";
        if (!reason.empty()) {
            if (!is_convolution && style_.integer_products) write_weight_only();
            return reason;
        }
        if (!style_.fuses) return "--quantization exact computes in floating point";
        if (!style_.integer_products) return {}; // the runtime has its own way
        return is_convolution ? write_convolution() : write_matrices();
    }

private:
    [[nodiscard]] graph_node* dequantize_of(std::size_t i) {
        graph_node* const n = i < n_.inputs.size() ? g_.producer(n_.inputs[i]) : nullptr;
        return n != nullptr && quantized_ir::is(*n, quantized_ir::dequantize) ? n : nullptr;
    }
    [[nodiscard]] bool has_constant_scale() const {
        return g_.constant(left_->inputs[quantized_ir::scale]).has_value();
    }
    [[nodiscard]] bool is_weight() const {
        return right_ != nullptr && g_.graph().values[right_->inputs[quantized_ir::data]].initializer >= 0;
    }
    [[nodiscard]] std::string operand_reason() const;
    [[nodiscard]] std::string weight_reason(std::int64_t axis) const;
    [[nodiscard]] std::string write_convolution();
    [[nodiscard]] std::string write_matrices();
    void write_weight_only();
    [[nodiscard]] bool write_n_bits();
    [[nodiscard]] bool is_input_rounded();
    [[nodiscard]] bool feeds_quantize(value_id id) const;
    [[nodiscard]] bool has_zero_points(graph_node const& d) const;
    [[nodiscard]] value_id zero_points_of(graph_node const& d);
    [[nodiscard]] bool has_integer_zero_points() const;
    [[nodiscard]] std::vector<value_id> integer_operands();
    [[nodiscard]] std::optional<std::vector<float>> scales() const;
    void make_bias_integer(std::size_t node, std::size_t slot);
    void write_integer_matrices(std::size_t last, value_id bias);
    [[nodiscard]] bool use_columns();
    void separate_bias(std::size_t last, value_id bias);
    [[nodiscard]] std::size_t sum_after(value_id& bias) const;
    [[nodiscard]] bool is_plain_gemm() const {
        return n_.op == "MatMul" ||
               (float_of(n_, "alpha", 1) == 1.0F && float_of(n_, "beta", 1) == 1.0F && int_of(n_, "transA") == 0);
    }

    quantized_graph& g_;
    quantized_style const& style_;
    std::size_t at_;
    graph_node& n_;
    graph_node* left_;
    graph_node* right_;
    graph_node columns_; ///< `right_` of a weight that was turned
};

} // namespace ATON_NAMESPACE::exporter
