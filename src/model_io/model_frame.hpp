// SPDX-License-Identifier: MIT
// A model as strings with gaps for its weights, whose bytes do not pass through protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/model_io/model_io.hpp>
#include <aton/model_io/weights.hpp>

#include "proto.hpp"

namespace ATON_NAMESPACE::detail {

/// The location of an initializer's bytes.
struct weight_place {
    bool is_external = false;
    std::string_view location; ///< external: the file's name, in the model's folder
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
};

/// The field of one initializer: `head`, then its bytes, from memory or a file, unless they are external.
struct initializer_field {
    std::string head;
    std::string_view data;
    stored_tensor const* stored = nullptr;
    std::uint64_t payload = 0; ///< bytes after `head`
};

/// The bytes of a ModelProto, in the order in which protobuf writes its fields.
struct model_frame {
    std::string before;
    std::vector<initializer_field> initializers;
    std::string after;
    std::uint64_t size = 0; ///< total
};

/// Completes the messages of a model that was read with what the graph does not have.
class frame_editor {
public:
    virtual ~frame_editor() = default;
    /// Changes the messages of a model, whose main graph has no initializers yet. `names`: of its values, by id.
    virtual void complete(graph_data const& graph, std::vector<std::string> const& names,
                          ::onnx::ModelProto& model) const = 0;
    /// The fields of an initializer but its name and its elements; empty: those of its tensor.
    [[nodiscard]] virtual std::string fields_of(graph_initializer const& i, std::string const& name) const = 0;
};

/// How a model is written.
struct frame_options : model_options {
    frame_editor const* editor = nullptr; ///< null: none
};

/// write_model() of weights.hpp.
weight_report write_model(graph_data const& graph, std::string const& path, weight_options const& weights,
                          frame_options const& options);

/// `places`: one per initializer; those without a place are embedded. Throws aton::error for what ONNX cannot represent, except for the
/// total size.
[[nodiscard]] model_frame make_frame(graph_data const& graph, frame_options const& options,
                                     std::vector<weight_place> const& places);

inline constexpr std::uint64_t max_model_bytes = 0x7fffffff; ///< protobuf's limit

} // namespace ATON_NAMESPACE::detail
