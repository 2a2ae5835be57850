// SPDX-License-Identifier: MIT
// Keeps the values of all nodes of a graph, so that a mutant only runs the nodes that its change reaches.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/mutation.hpp>
#include <aton/verify/translation.hpp>

namespace ATON_NAMESPACE::verify {

class traced_graph {
public:
    /// Throws aton::error if the graph does not run, or takes more steps than the mutants of a call may be worth.
    traced_graph(translation const& t, runtime::device where);

    /// The effect of a mutation on this call.
    enum class effect : std::uint8_t {
        illegal, ///< not a legal ONNX graph: an operator does not support these dtypes
        endless, ///< takes more steps than any graph of a row
        fails,   ///< the runtime refuses the graph, usually for its sizes
        same,    ///< the results are identical bit by bit
        other,   ///< the results differ; `results` holds them
    };
    struct outcome {
        effect is = effect::same;
        std::vector<runtime::value> results{};
    };
    [[nodiscard]] outcome run(mutation const& m);
    /// Whether a result of the graph depends on the node.
    [[nodiscard]] bool is_used(std::size_t node) const { return used_[node]; }

private:
    /// The nodes that depend on a node, as a graph.
    struct downstream {
        graph_data graph; ///< its inputs are `takes`
        std::vector<value_id> takes;
        std::unique_ptr<runtime::onnx_model> model;
    };

    [[nodiscard]] std::vector<runtime::value> changed(mutation const& m, bool& legal) const;
    [[nodiscard]] bool is_legal(graph_node const& n, std::vector<runtime::value> const& values) const;
    [[nodiscard]] bool is_legal_inside(graph_node const& n, mutation const& m) const;
    [[nodiscard]] downstream& downstream_of(std::size_t node);

    translation const* of_;
    runtime::device where_;
    graph_data shell_;                   ///< the values of the graph without types, and no nodes
    std::vector<runtime::value> values_; ///< by id
    std::vector<bool> used_;             ///< by node
    std::map<std::size_t, downstream> downstream_;
};

} // namespace ATON_NAMESPACE::verify
