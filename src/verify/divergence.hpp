// SPDX-License-Identifier: MIT
// Finds the first divergence of a program and a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <aton/runtime/aten_program.hpp>
#include <aton/runtime/onnx_model.hpp>
#include <aton/verify/models.hpp>

namespace ATON_NAMESPACE::verify {

/// What compare_nodes() finds.
struct compared_nodes {
    divergence first; ///< empty without a differing output
    std::vector<node_report> nodes;
};

/// Runs both once more, records the results of the graph's nodes, and looks up the result of each node of the program among them: by
/// name, otherwise by its numbers. Fused nodes have no counterpart, so a node counts as the first divergence if its namesake differs, or if
/// neither it nor anything computed from it is found. `output` is the index of the program's output that differs, `narrowest` the result
/// of narrowest_dtypes().
[[nodiscard]] compared_nodes compare_nodes(runtime::aten_program const& p, std::span<runtime::value const> inputs,
                                           runtime::onnx_model const& g, std::span<runtime::value const> graph_inputs,
                                           std::optional<std::size_t> output, std::span<dtype const> narrowest,
                                           std::int64_t terms);

} // namespace ATON_NAMESPACE::verify
