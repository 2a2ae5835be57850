// SPDX-License-Identifier: MIT
// What a model must be so that a graph can be made of it, and what of it only its producer understands.
#pragma once

#include <string>

#include "proto.hpp"

namespace ATON_NAMESPACE::detail {

/// Throws aton::error, one clause: unless every value is defined once in its graph, and before it is read.
void require_sound(::onnx::ModelProto const& model);

/// Why the graph of a model cannot be changed: it has something that refers to parts of the graph, or whose meaning is not known. Empty: it
/// can be.
[[nodiscard]] std::string why_fixed(::onnx::ModelProto const& model);

} // namespace ATON_NAMESPACE::detail
