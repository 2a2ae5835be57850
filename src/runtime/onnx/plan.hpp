// SPDX-License-Identifier: MIT
// The plan of a graph: the kernel of each node, constants, and the last use of each value.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

#include "call.hpp"

namespace ATON_NAMESPACE::runtime {

/// Nesting of functions, and of graphs.
inline constexpr int max_nesting = 64;

struct graph_plan;

struct node_plan {
    onnx_kernels::kernel run = nullptr;       ///< nullptr: runs by a body
    graph_function const* function = nullptr; ///< function of the model; nullptr: ONNX's body
    graph_plan const* body = nullptr;         ///< plan of `function`
    int opset = 0;
    bool is_done = false;                            ///< the results are constants of the plan
    std::vector<value_id> last_uses;                 ///< values that no node needs after this one
    std::vector<std::unique_ptr<graph_plan>> graphs; ///< subgraphs of the node
};

struct graph_plan {
    graph_data const* graph = nullptr;
    std::vector<node_plan> nodes;
    std::vector<std::pair<value_id, value>> constants;
};

/// "Relu 'y'", for error messages.
[[nodiscard]] std::string describe(graph_data const& g, graph_node const& n);

/// Plans graphs and the functions that they call; owns the plans of the functions.
class planner {
public:
    planner(std::span<graph_function const> functions, device where) : functions_(functions), where_(where) {}

    /// Throws aton::error (one line that names the node) for values that no earlier node computes and for operators
    /// that cannot run. `is_body`: whether it is the body of a function, in which outputs that are not requested may be
    /// undefined.
    [[nodiscard]] graph_plan plan(graph_data const& g, bool is_body);
    /// The opsets at which the plans so far have the same constants.
    [[nodiscard]] opset_range same_opsets() const { return same_opsets_; }

private:
    void plan(graph_data const& g, graph_data const* around, bool is_body, int depth, graph_plan& to);
    void resolve(graph_data const& g, graph_node const& n, int depth, node_plan& to);
    [[nodiscard]] graph_plan const& body_of(graph_function const& f, int depth);

    std::span<graph_function const> functions_;
    device where_;
    opset_range same_opsets_;
    std::map<graph_function const*, std::unique_ptr<graph_plan>> bodies_;
    std::set<graph_function const*> open_; ///< functions being planned
};

} // namespace ATON_NAMESPACE::runtime
