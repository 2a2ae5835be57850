// SPDX-License-Identifier: MIT
// Operators of other domains than ONNX's: whether their bodies give what their declarations promise.
#pragma once

#include <span>
#include <string>

#include <aton/ir/graph.hpp>
#include <aton/runtime/value.hpp>

namespace ATON_NAMESPACE::verify {

/// How the results of a node that calls a function differ from the types in the graph, which follow from the operator's declaration; empty
/// if they do not. "custom_domain::Foo: the output Z is declared as float32[2, 3], but its body computes float32[3]"
[[nodiscard]] std::string declared_difference(graph_data const& g, graph_node const& n,
                                              std::span<runtime::value const> results);

/// The operator of a node that has neither a body, nor a definition in ONNX, nor a kernel of the runtime, "custom_domain::Foo"; empty if there is none.
[[nodiscard]] std::string operator_without_body(graph_data const& g);

} // namespace ATON_NAMESPACE::verify
