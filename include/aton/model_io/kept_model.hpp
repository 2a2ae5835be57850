// SPDX-License-Identifier: MIT
// An ONNX file of any producer as a graph that passes may change, with everything that the graph does not have, to write it again.
// Internal header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/model_io/weights.hpp>

namespace ATON_NAMESPACE {

/// A model that was read to be changed and written. The elements of its weights stay in its files, which are mapped.
class kept_model {
public:
    /// Throws aton::error, one line that names the file, for what is not a readable model: also values that are defined twice, that are
    /// read before they are computed, and external tensors that are not whole or outside the model's folder.
    explicit kept_model(std::string const& path);
    ~kept_model();
    kept_model(kept_model const&) = delete;
    kept_model& operator=(kept_model const&) = delete;

    /// The main graph. Types are facts: those of the inputs, and what ONNX's inference knows then. Its functions stay with the model;
    /// calls of them are nodes of other domains. Tensors that passes cannot represent are additional inputs, at the end.
    graph_data graph;
    /// Why the graph must stay as it is, in a clause; empty: it may change.
    std::string why_fixed;

    /// The nodes of the main graph and its nested graphs in the file.
    [[nodiscard]] std::size_t node_count() const;
    /// The bytes of the file, and of the external tensors.
    [[nodiscard]] std::uint64_t byte_count() const;
    /// The files with external tensors.
    [[nodiscard]] std::vector<std::string> data_files() const;

    /// Writes `changed`, which passes made of `graph`, with what the model has besides. The first of its outputs are those of the model.
    /// Throws aton::error.
    weight_report write(graph_data changed, std::string const& path, weight_options const& weights) const;
    /// Copies the file unchanged. Throws aton::error, also if it refers to files that the copy does not find.
    void copy(std::string const& path) const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

/// The nodes of a graph and its nested graphs.
[[nodiscard]] std::size_t count_nodes(graph_data const& graph);

} // namespace ATON_NAMESPACE
