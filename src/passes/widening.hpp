// SPDX-License-Identifier: MIT
// Computes nodes in a wider dtype, between casts, where runtimes have no kernel for their own.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <aton/core/dtype.hpp>
#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE::passes {

/// The dtype in which a node is computed instead of another one.
struct wider_dtype {
    dtype narrow = dtype::undefined;
    dtype wide = dtype::undefined;
    std::size_t first_operand = 0; ///< operands before it keep their dtype
};

/// Casts operands and results of the nodes of one graph.
class widening {
public:
    /// Nothing for a node that stays.
    using choice = std::function<std::optional<wider_dtype>(graph_node const&)>;

    explicit widening(graph_data& graph) : graph_(graph) {}

    void run(choice const& choose);

private:
    [[nodiscard]] bool has_dtype(value_id id, dtype type) const {
        return id != no_value && graph_.values[id].type.dtype == type;
    }
    [[nodiscard]] value_id with_dtype(value_id id, dtype type);
    void append(graph_node n);
    void cast(value_id from, value_id to, dtype type, graph_node const& like);
    void widen(graph_node n, wider_dtype const& how);

    graph_data& graph_;
};

/// Computes choices, extrema, padding and the like of bools and small integers in a dtype for which ONNX Runtime has kernels; also in
/// nested graphs. The numbers are the same.
void widen_integers(graph_data& graph);

/// In a graph without bfloat16 inputs, outputs and weights, replaces bfloat16 arithmetic by float32 arithmetic whose results are rounded to
/// bfloat16. This gives ATen's numbers, which are computed in the same way, and every runtime has the kernels. Does not change other graphs.
void widen_bfloat16(graph_data& graph);

} // namespace ATON_NAMESPACE::passes
