// SPDX-License-Identifier: MIT
// Takes the bytes of large tensors out of a serialized ModelProto, so that protobuf parses only what is small.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto.hpp"

namespace ATON_NAMESPACE::detail {

/// A serialized model without the bytes of its large tensors.
struct cut_model {
    std::string rest;                    ///< a ModelProto, in which each cut tensor refers to its number
    std::vector<std::string_view> bytes; ///< of the cut tensors, within the bytes that were given
};

/// Cuts initializers and tensors of attributes in the main graph whose bytes are stored as they are in memory, if they have at least
/// `min_bytes`. What is not well-formed stays, for protobuf to refuse.
[[nodiscard]] cut_model cut_tensors(std::string_view bytes, std::size_t min_bytes);

/// The number of a cut tensor; nothing for others.
[[nodiscard]] std::optional<std::size_t> cut_number(::onnx::TensorProto const& t);

} // namespace ATON_NAMESPACE::detail
