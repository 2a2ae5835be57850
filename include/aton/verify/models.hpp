// SPDX-License-Identifier: MIT
// Checks whether an ONNX graph gives the numbers of the program it was exported from, and finds the first divergence.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/program/program.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// Which inputs a model is run with, and where.
struct model_options {
    int samples = 3; ///< sets of inputs to draw, with small sizes within the program's ranges
    std::uint64_t seed = 0;
    std::vector<runtime::value> inputs = {}; ///< in the program's order; used instead of drawn ones unless empty
    /// What the program gave for `inputs`, in its order, if only another library can run its operators; it is not run.
    std::vector<runtime::value> outputs = {};
    runtime::device where = {};
    bool nodes = false; ///< also report every node of the program, for the first sample or the one that differs
    /// Counts nodes that have run, of the program and of the graph, in all samples; called from the calling thread.
    std::function<void(std::size_t done, std::size_t all)> progress = {};
};

/// The comparison of one output.
struct output_report {
    std::string name;
    std::int64_t elements = 0; ///< in all samples
    double worst_error = 0;    ///< as a fraction of the tolerance
};

/// The first node of the program whose result the graph does not reproduce.
struct divergence {
    std::string node; ///< "model.pt2: aten::relu (node relu_1, at model.py:12 in forward)"; empty if none was found
    std::string graph_node; ///< "Relu (value relu_1)"; empty if no value of the graph corresponds to the node's
    std::string why;        ///< how the results differ, or that the graph stops before; empty if unknown
    std::vector<std::string> same_before; ///< the nearest preceding nodes whose results are equal
    bool reads_nan = false; ///< an operand of the node contains NaN, which `aton export --nan fast` may treat otherwise
};

/// Whether a graph reproduces the results of a node. `unknown`: no value of the graph has their name or, if they are distinctive, their
/// numbers; such nodes were fused with others or folded.
enum class node_verdict : std::uint8_t { unknown, same, different };

/// The comparison of one node of the program.
struct node_report {
    std::string name; ///< in the program's main graph
    node_verdict verdict = node_verdict::unknown;
    double worst_error = 0; ///< of results that are not unknown, as a fraction of the tolerance
    std::string why;        ///< how a result differs; empty unless `different`
    bool is_first_divergence = false;
};

/// The result of the comparison of a program and its graph.
struct model_report {
    int samples = 0;
    std::vector<output_report> outputs;
    std::string difference; ///< of the first output that differs, or why the graph does not run; empty if none differs
    divergence first_divergence;         ///< set if `difference` is not empty
    std::vector<node_report> nodes = {}; ///< in program order, if model_options::nodes is set

    /// Whether all outputs agree.
    [[nodiscard]] bool passed() const { return difference.empty(); }
    /// One line per output, then the result; if the models differ, also the first divergence.
    [[nodiscard]] std::string to_text() const;
    /// Everything that the report holds, as JSON.
    [[nodiscard]] std::string to_json() const;
};

/// Runs both on the same inputs, up to the first difference. Inputs and outputs are matched by name if all names agree, otherwise by
/// position; a graph may omit mutated buffers. Errors accumulate in a whole model: the tolerance is that of sums of 1000 terms plus 100
/// per node, in the narrowest floating dtype of any node on the way to the value. Throws aton::error if the program does not run, or if
/// inputs or outputs cannot be matched.
/// ```cpp
/// #include <aton/frontend/pt2/read_program.hpp>
/// #include <aton/model_io/model_io.hpp>
/// #include <aton/verify/models.hpp>
///
/// inline bool same_numbers(std::string const& pt2, std::string const& onnx) {
///     aton::verify::model_report const report =
///         aton::verify::compare_models(aton::pt2::read_program(pt2), aton::read_model(onnx).graph);
///     std::puts(report.to_text().c_str());
///     return report.passed();
/// }
/// ```
[[nodiscard]] model_report compare_models(program::program const& p, graph_data const& g,
                                          model_options const& options = {});

} // namespace ATON_NAMESPACE::verify
