// SPDX-License-Identifier: MIT
// What a reader of graphs does in another way for a model that is written again.
#pragma once

#include <cstddef>
#include <functional>

#include "proto.hpp"

namespace ATON_NAMESPACE::detail {

struct read_hooks {
    /// Takes over an initializer, whose value has its type; false: it is read as usual.
    std::function<bool(::onnx::TensorProto const&, graph_data&, value_id, bool is_main)> take;
    /// A tensor whose elements are not in the message.
    std::function<tensor(::onnx::TensorProto const&)> load;
    /// Nodes that were read. Each has an origin with its name, and as the module its number, in the order in which they are finished.
    std::size_t nodes = 0;
};

/// The main graph of a model, without functions. Throws aton::error.
graph_data read_graph(::onnx::ModelProto const& proto, std::string_view name, read_hooks& hooks);

} // namespace ATON_NAMESPACE::detail
