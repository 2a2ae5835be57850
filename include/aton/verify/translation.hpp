// SPDX-License-Identifier: MIT
// Converts a call to an ONNX graph with a mapping, and runs that graph.
// Internal header.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <aton/dsl/table.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/runtime/value.hpp>
#include <aton/verify/sample.hpp>

namespace ATON_NAMESPACE::verify {

/// The graph of one call; its inputs are the tensors of the call, then the random numbers that the kernel draws with seed 0.
struct translation {
    struct slot {
        bool is_list = false;
        bool produced = true;             ///< false: the mapping omits this result
        std::vector<std::size_t> outputs; ///< indices of the graph's outputs: one, or those of a list
    };

    graph_data graph;
    std::vector<runtime::value> inputs; ///< complex tensors as pairs of reals
    std::vector<slot> results;
    std::vector<bool> complex_outputs; ///< for each output: whether its pairs of reals are complex numbers
};

/// What a program says of a call besides its arguments.
struct call_types {
    static constexpr int no_axis = -2;
    static constexpr int every_axis = -1;

    /// The axis of every tensor whose size is a symbol, as in an export with dynamic sizes. 0 and 1 stay numbers, as in torch.export.
    int dynamic_axis = no_axis;
    std::span<runtime::value const> results = {}; ///< whose types are those that the program records; empty: unknown
};

/// Throws aton::unsupported_error if the mapping refuses the call. `exact_nan`: dsl::graph::exact_nan(). `where`: the device
/// whose random numbers, in place of those that the graph draws, are among the inputs.
[[nodiscard]] translation translate(dsl::entry const& row, std::string_view schema, int opset, sample const& s,
                                    bool exact_nan = true, runtime::device where = {}, call_types const& types = {});

/// Runs a graph with the inputs and outputs of the translation and returns the results in ATen's order. Results that the mapping does
/// not produce are empty values. Throws aton::error if the graph does not run. `same`, if given, becomes the opsets at which the same
/// nodes would have computed the same, step by step.
[[nodiscard]] std::vector<runtime::value> run(translation const& t, graph_data graph, runtime::onnx_options options,
                                              runtime::onnx_observer const& observer = {},
                                              runtime::opset_range* same = nullptr);
[[nodiscard]] inline std::vector<runtime::value> run(translation const& t, graph_data graph, runtime::device where) {
    return run(t, std::move(graph), runtime::onnx_options{where});
}
[[nodiscard]] inline std::vector<runtime::value> run(translation const& t, runtime::device where = {}) {
    return run(t, t.graph, where);
}

/// Regroups the outputs of a graph into ATen's results.
[[nodiscard]] std::vector<runtime::value> results_of(translation const& t, std::vector<runtime::value> const& outputs);

/// A complex tensor as a graph holds it: pairs of reals along a trailing axis of 2. Other tensors are returned unchanged.
[[nodiscard]] inline runtime::tensor in_reals(runtime::tensor const& x) {
    return is_complex(x.dtype()) ? x.as_pairs() : x;
}

/// The structure of a graph as text, for comparison across opsets: operators with their schema versions, attributes and edges, also in
/// nested graphs and functions.
[[nodiscard]] std::string structure_of(graph_data const& g);

} // namespace ATON_NAMESPACE::verify
