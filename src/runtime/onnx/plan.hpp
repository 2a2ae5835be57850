// SPDX-License-Identifier: MIT
// What is known of a graph before it runs: the kernel of each node, its constants, and which values are not needed any more.
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

/// Of functions in functions, and of graphs in graphs.
inline constexpr int most_nesting = 64;

struct graph_plan;

struct node_plan {
    onnx_kernels::kernel run = nullptr;       ///< nullptr: by a body
    graph_function const* function = nullptr; ///< of the model; nullptr: ONNX's
    graph_plan const* body = nullptr;         ///< of `function`
    int opset = 0;
    bool is_done = false;                            ///< its results are constants of the plan
    std::vector<value_id> last_uses;                 ///< values that no node needs after this one
    std::vector<std::unique_ptr<graph_plan>> graphs; ///< those that the node holds
};

struct graph_plan {
    graph_data const* graph = nullptr;
    std::vector<node_plan> nodes;
    std::vector<std::pair<value_id, value>> constants;
};

/// "Relu 'y'", for messages.
[[nodiscard]] std::string describe(graph_data const& g, graph_node const& n);

/// Plans graphs that call these functions, and the functions that they call; keeps the plans of those.
class planner {
public:
    planner(std::span<graph_function const> functions, device where) : functions_(functions), where_(where) {}

    /// Throws aton::error, one line with the node, for values that no node before makes, and operators that cannot run. `is_body`: of a
    /// function; then outputs that nobody asks for need not be made.
    [[nodiscard]] graph_plan plan(graph_data const& g, bool is_body);

private:
    void plan(graph_data const& g, graph_data const* around, bool is_body, int depth, graph_plan& to);
    void resolve(graph_data const& g, graph_node const& n, int depth, node_plan& to);
    [[nodiscard]] graph_plan const& body_of(graph_function const& f, int depth);

    std::span<graph_function const> functions_;
    device where_;
    std::map<graph_function const*, std::unique_ptr<graph_plan>> bodies_;
    std::set<graph_function const*> open_; ///< being planned
};

} // namespace ATON_NAMESPACE::runtime
