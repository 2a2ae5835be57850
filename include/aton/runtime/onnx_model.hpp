// SPDX-License-Identifier: MIT
// Runs ONNX graphs with ONNX semantics (the operators' documents of ONNX 1.23, opsets 1 to 28).
// Public header.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::runtime {

/// How a graph is run.
struct onnx_options {
    device where;           ///< where tensors are computed
    std::uint64_t seed = 0; ///< of random operators that state none
    /// Nodes and graphs that a run may compute, those of loops at each trip, and tensors in the sequences that they take; what needs more
    /// throws aton::error.
    std::uint64_t most_steps = std::uint64_t{1} << 30;
};

/// The inputs of a node, and what graphs inside take from its own.
[[nodiscard]] std::set<value_id> uses_of(graph_node const& n);

/// Sees each node of the outermost graph with what it gives, in order.
using onnx_observer = std::function<void(graph_node const&, std::span<value const>)>;

/// A graph that is ready to run: operators looked up, constants on the device. Operators without a kernel run by the function body that
/// the model or ONNX has for them.
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
    /// Throws aton::error, one line with the node, for a cycle, a value that no node makes, and operators that cannot run.
    explicit onnx_model(graph_data graph, onnx_options options = {});
    onnx_model(onnx_model&&) noexcept;
    onnx_model& operator=(onnx_model&&) noexcept;
    ~onnx_model();

    /// The graph that is run.
    [[nodiscard]] graph_data const& graph() const;
    /// The outputs for inputs in the graph's order; those that have an initializer may be missing at the end, or none. Throws aton::error
    /// with the node for inputs that do not fit its operator. Thread-safe.
    [[nodiscard]] std::vector<value> run(std::span<value const> inputs, onnx_observer const& see = {}) const;

private:
    struct state;
    struct run_state;
    class frame;

    [[nodiscard]] std::vector<value> run_once(std::span<value const> inputs, onnx_observer const& see) const;

    std::unique_ptr<state> state_;
};

} // namespace ATON_NAMESPACE::runtime
