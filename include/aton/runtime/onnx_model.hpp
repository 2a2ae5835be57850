// SPDX-License-Identifier: MIT
// Runs ONNX graphs with ONNX semantics (the operator documentation of ONNX 1.23, opsets 1 to 28).
// Public header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <aton/core/error.hpp>
#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::runtime {

/// How a graph is run.
struct onnx_options {
    device where;           ///< device of all tensors
    std::uint64_t seed = 0; ///< for random operators without the attribute 'seed'
    /// Maximum number of nodes and graphs that a run may execute, counting each loop iteration, plus tensors in the
    /// sequences that nodes take; beyond it, step_limit_error is thrown.
    std::uint64_t max_steps = std::uint64_t{1} << 30;
    /// Called when a graph of an attribute starts to run, such as a branch of If or the body of a Loop, with the node
    /// that has the attribute.
    std::function<void(graph_node const&, graph_data const&)> on_nested_graph = {};
};

/// A run that takes more steps than onnx_options::max_steps: a loop that does not end, or nearly so.
class step_limit_error : public error {
public:
    using error::error;
};

/// The inputs of a node, including values that its subgraphs capture.
[[nodiscard]] std::set<value_id> uses_of(graph_node const& n);

/// Versions of ai.onnx, from the first to the last.
struct opset_range {
    int first = 1;
    int last = std::numeric_limits<int>::max();

    /// Whether `opset` is one of them.
    [[nodiscard]] bool contains(int opset) const { return first <= opset && opset <= last; }
    /// Keeps those that are in `other`, too.
    void intersect(opset_range other) {
        first = std::max(first, other.first);
        last = std::min(last, other.last);
    }
};

/// Called with each node of the main graph, in order, and its results.
using onnx_observer = std::function<void(graph_node const&, std::span<value const>)>;

/// A graph that is ready to run: operators looked up, constants on the device. Operators without a kernel run by their
/// function body, from the model or from ONNX.
/// ```cpp
/// #include <aton/model_io/model_io.hpp>
/// #include <aton/runtime/onnx_model.hpp>
///
/// inline aton::runtime::value first_output(std::string const& path, aton::runtime::tensor const& input) {
///     aton::runtime::onnx_model const model(aton::read_model(path).graph);
///     aton::runtime::value const inputs[] = {input};
///     return model.run(inputs)[0];
/// }
/// ```
class onnx_model {
public:
    /// Throws aton::error (one line that names the node) for a cycle, a value that no node computes, and operators that
    /// cannot run.
    explicit onnx_model(graph_data graph, onnx_options options = {});
    onnx_model(onnx_model&&) noexcept;
    onnx_model& operator=(onnx_model&&) noexcept;
    ~onnx_model();

    /// The graph that is run.
    [[nodiscard]] graph_data const& graph() const;
    /// Returns the outputs for inputs in the graph's order. Inputs that have an initializer may be omitted at the end,
    /// or be empty. Throws aton::error, which names the node, if inputs do not fit an operator. Thread-safe.
    /// `same`, if given, becomes the opsets at which the same nodes would have computed the same, step by step.
    [[nodiscard]] std::vector<value> run(std::span<value const> inputs, onnx_observer const& observer = {},
                                         opset_range* same = nullptr) const;

private:
    struct state;
    struct run_state;
    class frame;

    [[nodiscard]] std::vector<value> run_once(std::span<value const> inputs, onnx_observer const& observer,
                                              opset_range& same) const;

    std::unique_ptr<state> state_;
};

/// Whether the runtime computes the operator itself, at some version, without a body. Throws only if memory runs out.
[[nodiscard]] bool has_kernel(std::string_view domain, std::string_view op);

} // namespace ATON_NAMESPACE::runtime
