// SPDX-License-Identifier: MIT
// A model as strings with gaps for its weights, whose bytes do not pass through protobuf.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <aton/ir/graph.hpp>
#include <aton/model_io/model_io.hpp>

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

/// `places`: one per initializer; those without a place are embedded. Throws aton::error for what ONNX cannot represent, except for the
/// total size.
[[nodiscard]] model_frame make_frame(graph_data const& graph, model_options const& options,
                                     std::vector<weight_place> const& places);

inline constexpr std::uint64_t max_model_bytes = 0x7fffffff; ///< protobuf's limit

} // namespace ATON_NAMESPACE::detail
