// SPDX-License-Identifier: MIT
// Whether an ONNX graph gives the numbers of the program it was made from, and where the two part.
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/program/program.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// Which inputs a model is run with, and where.
struct model_options {
    int samples = 3; ///< sets of inputs that are drawn: sizes within the program's ranges, small ones
    std::uint64_t seed = 0;
    std::vector<runtime::value> inputs = {}; ///< of the user, in the program's order, instead of drawn ones
    runtime::device where = {};
};

/// The comparison of one output.
struct output_report {
    std::string name;
    std::int64_t elements = 0; ///< of all samples
    double worst_error = 0;    ///< in parts of the tolerance
};

/// The first node of the program whose result the graph does not have, and what is known of the graph there.
struct parting {
    std::string node;       ///< "model.pt2: aten::relu (node relu_1, at model.py:12 in forward)"; empty: none was found
    std::string graph_node; ///< "Relu (value relu_1)"; empty: the graph has no value that stands for the node's
    std::string why;        ///< how the two differ, or that the graph stops; empty where nothing is known
    std::vector<std::string> same_before; ///< the nearest nodes before it whose results are the same
};

/// The result of the comparison of a program and its graph.
struct model_report {
    int samples = 0;
    std::vector<output_report> outputs;
    std::string difference; ///< of the first output that is not the same, or why the graph does not run; empty: nothing
    parting where;          ///< with `difference`

    /// Whether all outputs agree.
    [[nodiscard]] bool passed() const { return difference.empty(); }
    /// A line for each output; of models that differ two more, which say where.
    [[nodiscard]] std::string to_text() const;
    /// Everything that the report holds, as JSON.
    [[nodiscard]] std::string to_json() const;
};

/// Runs both on the same inputs, up to the first difference. Inputs and outputs meet by their names where all agree, by their order
/// otherwise; a graph may leave out what the program only changes (buffers). Errors of a whole model grow: the tolerance is that of sums of
/// 1000 terms and 100 more for each node, in the narrowest dtype of floats that a node of the program gave on the way to the value. Throws
/// aton::error where the program does not run or where the two do not fit together.
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
