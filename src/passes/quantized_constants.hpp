// SPDX-License-Identifier: MIT
// Constants of a graph as numbers of a quantized weight.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <aton/core/tensor.hpp>
#include <aton/ir/graph.hpp>
#include <aton/ir/quantized.hpp>

#include "quantized_weights.hpp"

namespace ATON_NAMESPACE::passes {

/// The longest line of nodes that is followed.
inline constexpr int max_constant_depth = 64;

/// The constants of a graph, computed when they are asked for.
class constants_of {
public:
    explicit constants_of(graph_data const& graph);

    [[nodiscard]] bool contain(value_id id) const { return id != no_value && is_constant_[id] != 0; }
    [[nodiscard]] graph_node const* producer(value_id id) const {
        std::int64_t const at = graph_.values[id].producer;
        return at < 0 ? nullptr : &graph_.nodes[static_cast<std::size_t>(at)];
    }
    /// The elements; nothing if they cannot be computed.
    [[nodiscard]] std::optional<tensor> elements(value_id id, int depth = 0) const;
    [[nodiscard]] std::optional<affine_weight> affine(value_id id, int depth = 0) const;

private:
    /// Whether a node with constant operands is computed.
    [[nodiscard]] bool computes(graph_node const& n) const;
    /// Runs an evaluator on operands.
    [[nodiscard]] std::optional<tensor> run(graph_node const& n, std::vector<tensor const*> const& inputs) const;
    [[nodiscard]] std::optional<affine_weight> moved(graph_node const& n, int depth) const;
    [[nodiscard]] std::optional<affine_weight> shifted(graph_node const& n, float sign, int depth) const;
    [[nodiscard]] std::optional<affine_weight> scaled(graph_node const& n, int depth) const;
    [[nodiscard]] std::optional<affine_weight> dequantized(graph_node const& n) const;
    [[nodiscard]] std::optional<tensor> quantized(graph_node const& n, int depth) const;
    [[nodiscard]] static std::optional<std::vector<float>> spread(graph_node const& n, tensor t,
                                                                  std::vector<std::int64_t> const& sizes);
    [[nodiscard]] std::optional<affine_weight> numbers(value_id id, int depth) const;
    [[nodiscard]] std::optional<affine_weight> whole_numbers(value_id id, int depth) const;

    graph_data const& graph_;
    std::vector<char> is_constant_; ///< by value
};

} // namespace ATON_NAMESPACE::passes
