// SPDX-License-Identifier: MIT
// Operators that ONNX defines by a function of other operators.
// Public header.
#pragma once

#include <span>
#include <string_view>

#include <aton/ir/graph.hpp>

namespace ATON_NAMESPACE {

/// Whether ONNX has a body for the operator at this opset of its domain.
[[nodiscard]] bool has_operator_body(std::string_view domain, std::string_view op, int opset);

/// That body for a call with operands of these types, attributes filled in: the inputs are those of the operator, also where the call
/// skips some. Throws aton::error where ONNX has none for such operands.
[[nodiscard]] graph_data operator_body(graph_node const& call, int opset, std::span<value_type const> inputs);

} // namespace ATON_NAMESPACE
