// SPDX-License-Identifier: MIT
// Gives the messages of a written graph what the model that it was read from has besides: names of nodes, documentation, metadata, types.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "model_frame.hpp"
#include "proto.hpp"

#include <aton/core/stored_tensor.hpp>

namespace ATON_NAMESPACE::detail {

/// What a graph was made of.
struct kept_messages {
    ::onnx::ModelProto const* model = nullptr;
    std::vector<::onnx::NodeProto const*> nodes; ///< the module of a node's origin is its index here
    std::unordered_map<stored_tensor const*, ::onnx::TensorProto const*> tensors; ///< as they are in the model's files
};

class kept_frame final : public frame_editor {
public:
    explicit kept_frame(kept_messages const& from);

    void complete(graph_data const& graph, std::vector<std::string> const& names,
                  ::onnx::ModelProto& model) const override;
    [[nodiscard]] std::string fields_of(graph_initializer const& i, std::string const& name) const override;

private:
    void complete(graph_data const& g, ::onnx::GraphProto& to, ::onnx::GraphProto const& from) const;
    void complete(graph_data const& g, graph_node const& n, ::onnx::NodeProto& to) const;

    kept_messages const& from_;
    std::unordered_map<std::string, ::onnx::TensorProto const*> by_name_;
};

} // namespace ATON_NAMESPACE::detail
