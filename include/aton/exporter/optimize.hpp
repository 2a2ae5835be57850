// SPDX-License-Identifier: MIT
// Optimizes ONNX files of any producer with the passes and rewrites of an export.
// Public header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <aton/model_io/weights.hpp>
#include <aton/passes/pass_trace.hpp>
#include <aton/targets/target.hpp>

namespace ATON_NAMESPACE {

/// How to optimize a model.
struct optimize_options {
    targets::target const* target = nullptr; ///< null: any runtime that implements ONNX
    std::vector<std::string> keep = {};      ///< names of values that stay, as outputs do
    /// Names of rewrites, or of groups ("attention"), that are not applied.
    std::vector<std::string> without_rewrites = {};
    /// Where to write the weights; nothing: in the file, or in a file beside it if some of them were not in the model.
    std::optional<weight_mode> weights = {};
};

/// What became of a model.
struct optimize_report {
    std::string unchanged;        ///< why the model was copied as it is; empty: it was optimized
    std::size_t nodes_before = 0; ///< of the main graph and its nested graphs
    std::size_t nodes_after = 0;
    std::uint64_t bytes_before = 0; ///< of the file and its external tensors
    std::uint64_t bytes_after = 0;
    std::vector<pass_step> steps; ///< each change, in order; empty for passes over the whole graph
};

/// Writes to `to` the model in `from`, optimized: the same inputs, outputs, functions and metadata, and the same results. Its opset does
/// not change. The result depends on the model and the options only, and optimizing it again changes nothing. Throws aton::error, one line,
/// for what is not a readable model (a file that is truncated, values that nothing computes, external tensors that are not whole), for a
/// name in `keep` that the graph does not have, and for what the target does not run.
/// ```cpp
/// #include <aton/exporter/optimize.hpp>
///
/// inline std::size_t saved_nodes(std::string const& from, std::string const& to) {
///     aton::optimize_report const report = aton::optimize_file(from, to, {.keep = {"features"}});
///     return report.nodes_before - report.nodes_after;
/// }
/// ```
optimize_report optimize_file(std::string const& from, std::string const& to, optimize_options const& options = {});

} // namespace ATON_NAMESPACE
