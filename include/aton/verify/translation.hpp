// SPDX-License-Identifier: MIT
// A call as the ONNX graph that a mapping makes of it, and what that graph gives.
// Internal header.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <aton/dsl/table.hpp>
#include <aton/runtime/value.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// The graph of one call: its inputs are the tensors of the call.
struct translation {
    struct slot {
        bool is_list = false;
        bool produced = true;             ///< false: the mapping leaves this result out
        std::vector<std::size_t> outputs; ///< of the graph: one, or those of a list
    };

    graph_data graph;
    std::vector<runtime::value> inputs;
    std::vector<slot> results;
};

/// Throws aton::unsupported_error where the mapping refuses the call.
[[nodiscard]] translation translate(dsl::entry const& row, std::string_view schema, int opset, sample const& s);

/// The results in the order of ATen's, by a graph that has the inputs and outputs of the translation. Those that the mapping does not
/// produce are no value. Throws aton::error where the graph does not run.
[[nodiscard]] std::vector<runtime::value> run(translation const& t, graph_data graph, runtime::device where = {});
[[nodiscard]] inline std::vector<runtime::value> run(translation const& t, runtime::device where = {}) {
    return run(t, t.graph, where);
}

/// The results of ATen's order of what the graph gives.
[[nodiscard]] std::vector<runtime::value> gathered(translation const& t, std::vector<runtime::value> const& outputs);

/// What tells the graphs of two opsets apart: operators with the versions that hold, attributes and wiring.
[[nodiscard]] std::string structure_of(graph_data const& g);

} // namespace ATON_NAMESPACE::verify
