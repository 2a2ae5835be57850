// SPDX-License-Identifier: MIT
// Bodies of operators that ONNX defines as functions of other operators.
// Public header.
#pragma once

#include <span>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Whether ONNX has a body for the operator at this version of its domain.
[[nodiscard]] bool has_operator_body(std::string_view domain, std::string_view op, int opset);

/// The body for a call with operands of these types, with attributes substituted. It has all inputs of the operator, including those
/// that the call omits. Throws aton::error if ONNX has no body for such operands.
[[nodiscard]] graph_data operator_body(graph_node const& call, int opset, std::span<value_type const> inputs);

} // namespace ATON_NAMESPACE
